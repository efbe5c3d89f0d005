import { CSV_HEADER, csvLine } from './receipt-csv.js';

const RECEIPT = {
  receiptId: 'rcp_01khqw9ewg14azqhp5x4vkpz0a',
  seq: 1204,
  at: 1_771_401_690_000,
  actor: { type: 'member', id: 'mem_01kerpxzm0g7k7xtwmhd8ah2pd', name: 'Mira Novak', via: 'api' },
  action: 'approval.approved',
  entity: { type: 'approval', id: 'apr_01khqw6q00tp9w1md2nw5hc13a' },
  directiveId: 'dir_01khqw6q006hs686p8sr7arg9t',
  teamId: null,
  capo: 'capo_ops',
  outcome: 'success',
  summary: 'Mira Novak approved the mail to jane@acme.example.',
  details: { contentHash: '9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f' },
  guardianEpoch: 0,
  requestId: 'req_01khqw6q00wy74pjf1avkzwmgz',
  prevHash: '84fd9bac333ad79154348296204fa7f8c537a96e08983e5f73b3f5aca8e8edf7',
  hash: 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa',
} as const;

/** A receipt as JSON lines and as CSV, and a message of the stream: the forms of the feeds that no DTO describes. */
export const LINES_EXAMPLE = `${JSON.stringify(RECEIPT)}\n`;
export const CSV_EXAMPLE = CSV_HEADER + csvLine(RECEIPT);
export const FEED_STREAM_EXAMPLE = `id: ${RECEIPT.seq}\nevent: ${RECEIPT.action}\ndata: ${JSON.stringify({
  seq: RECEIPT.seq,
  at: RECEIPT.at,
  text: RECEIPT.summary,
  actor: RECEIPT.actor,
  action: RECEIPT.action,
  entity: RECEIPT.entity,
  directiveId: RECEIPT.directiveId,
  capo: RECEIPT.capo,
  outcome: RECEIPT.outcome,
})}\n\n`;
