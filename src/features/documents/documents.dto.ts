import { PageFacts } from '../../platform/kernel/pages.dto.js';

/** A filed document without its text. */
export class DocumentSummary {
  documentId!: string;
  teamId!: string | null;
  directiveId!: string;
  workPacketId!: string;
  title!: string;
  format!: 'markdown';
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds; set when the filing was undone. */
  withdrawnAt!: number | null;
}

/** A filed document. */
export class DocumentView extends DocumentSummary {
  /** Markdown. */
  body!: string;
}

export class DocumentPage extends PageFacts {
  items!: DocumentSummary[];
}
