import { PageFacts } from '../../platform/kernel/pages.dto.js';

/** The parameter of the paths, as it is documented. */
export const DOCUMENT_PARAM = {
  name: 'id',
  description: 'The id of the document.',
  example: 'doc_01khqw9gmrq2wae1nqn3xx0x6d',
};

/** A filed document without its text. */
export class DocumentSummary {
  /** The id of the document. @example 'doc_01khqw9gmrq2wae1nqn3xx0x6d' */
  documentId!: string;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The directive that it came from. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string;
  /** The work packet that filed it. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId!: string;
  /** The title of the document. @example 'Memo: Delivery delays in February' */
  title!: string;
  /** The format of the text. @example 'markdown' */
  format!: 'markdown';
  /** When it was filed, Unix milliseconds. @example 1771401691800 */
  createdAt!: number;
  /** When the filing was undone, Unix milliseconds; null: it was not. */
  withdrawnAt!: number | null;
}

/** A filed document. */
export class DocumentView extends DocumentSummary {
  /** The text, Markdown. @example '# Delivery delays in February' */
  body!: string;
}

export class DocumentPage extends PageFacts {
  /** The documents of this page, newest first. */
  items!: DocumentSummary[];
}
