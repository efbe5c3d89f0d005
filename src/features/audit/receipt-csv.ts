import type { ReceiptItem } from './audit-feed.dto.js';

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
