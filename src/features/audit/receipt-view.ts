import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import type { ReceiptItem, FeedItem } from './audit.dto.js';
import type { LoggedReceipt } from './receipt-log.repository.js';

type Cell = string | number | null | undefined;

const COLUMNS: readonly [name: string, value: (receipt: ReceiptItem) => Cell][] = [
  ['seq', (receipt) => receipt.seq],
  ['receiptId', (receipt) => receipt.receiptId],
  ['at', (receipt) => new Date(receipt.at).toISOString()],
  ['actorType', ({ actor }) => actor.type],
  ['actorId', ({ actor }) => actor.id],
  ['actorName', ({ actor }) => actor.name],
  ['actorVia', ({ actor }) => actor.via],
  ['action', (receipt) => receipt.action],
  ['entityType', ({ entity }) => entity.type],
  ['entityId', ({ entity }) => entity.id],
  ['directiveId', (receipt) => receipt.directiveId],
  ['teamId', (receipt) => receipt.teamId],
  ['capo', (receipt) => receipt.capo],
  ['outcome', (receipt) => receipt.outcome],
  ['summary', (receipt) => receipt.summary],
  ['details', ({ details }) => JSON.stringify(details)],
  ['guardianEpoch', (receipt) => receipt.guardianEpoch],
  ['requestId', (receipt) => receipt.requestId],
  ['prevHash', (receipt) => receipt.prevHash],
  ['hash', (receipt) => receipt.hash],
];

/** RFC 4180: CR LF behind every line, the last one too. */
const LINE_END = '\r\n';

export const CSV_HEADER = COLUMNS.map(([name]) => name).join(',') + LINE_END;

/** One receipt as a line; the time is ISO 8601 in UTC, which spreadsheets read as a time, `details` is JSON. */
export function csvLine(receipt: ReceiptItem): string {
  return COLUMNS.map(([, value]) => csvCell(value(receipt))).join(',') + LINE_END;
}

/** A spreadsheet would compute a text that begins like a formula; the apostrophe makes it text again. */
export function csvCell(value: Cell): string {
  if (typeof value === 'number') return String(value);
  const text = value ?? '';
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** How large a receipt may be to stand in a page with its details. */
const LISTED_BYTES = 8_192;

/** The receipt of CONTRACT section 5: what was hashed, and its place in the chain. */
export function receiptItem(receipt: LoggedReceipt): ReceiptItem {
  const { workspaceId: _own, receiptId, ...content } = contentOf(receipt);
  return { receiptId, seq: receipt.seq, ...content, prevHash: receipt.prevHash, hash: receipt.hash };
}

/**
 * The receipt as a page shows it: long details, such as the plan of a revert, stand in the exports alone, so that no
 * page is above 2 MB (CONTRACT section 1).
 */
export function listedReceipt(receipt: LoggedReceipt): ReceiptItem {
  const item = receiptItem(receipt);
  const bytes = Buffer.byteLength(receipt.body);
  return bytes <= LISTED_BYTES ? item : { ...item, details: { omittedBytes: bytes } };
}

/** The same in a person's words. */
export function feedItem(receipt: LoggedReceipt): FeedItem {
  const { at, summary: text, actor, action, entity, directiveId, capo, outcome } = contentOf(receipt);
  return { seq: receipt.seq, at, text, actor, action, entity, directiveId, capo, outcome };
}

/** The number to page on with; null behind the last page. */
export function nextBefore(receipts: readonly LoggedReceipt[], limit: number): number | null {
  return receipts.length < limit ? null : receipts.at(-1)!.seq;
}

/** Someone may have tampered with the bytes. One unreadable receipt must not hide the others, nor pass for whole. */
function contentOf({ body }: LoggedReceipt): ReceiptContent {
  const content = parsed(body);
  return {
    ...UNREADABLE,
    ...content,
    actor: { ...UNREADABLE.actor, ...content?.actor },
    entity: { ...UNREADABLE.entity, ...content?.entity },
  };
}

function parsed(body: string): Partial<ReceiptContent> | null {
  try {
    const content: unknown = JSON.parse(body);
    return typeof content === 'object' ? content : null;
  } catch {
    return null;
  }
}

const UNREADABLE: ReceiptContent = {
  receiptId: '',
  workspaceId: '',
  at: 0,
  actor: { type: 'system', id: '', name: '', via: 'api' },
  action: 'receipt.unreadable',
  entity: { type: '', id: '' },
  directiveId: null,
  teamId: null,
  capo: null,
  outcome: 'failure',
  summary: 'The text of this receipt was changed and cannot be read; verify the chain.',
  details: {},
  guardianEpoch: null,
  requestId: null,
};
