import type { Actor } from '../auth/caller.js';
import { canonicalJson, sha256 } from '../kernel/canonical-json.js';

/** What happened, as one receipt tells it (CONTRACT, Receipt). */
export interface ReceiptContent {
  receiptId: string;
  workspaceId: string;
  /** Unix milliseconds. */
  at: number;
  actor: Actor;
  /** `directive.created`, `approval.approved`, `packet.executed`, ... */
  action: string;
  entity: { type: string; id: string };
  directiveId: string | null;
  teamId: string | null;
  capo: string | null;
  outcome: 'success' | 'denied' | 'failure';
  /** One sentence for a person. */
  summary: string;
  details: Record<string, unknown>;
  guardianEpoch: number | null;
  requestId: string | null;
}

/** What comes before the first receipt of a chain. */
export const GENESIS_HASH = '0'.repeat(64);

/** The exact text that is hashed and stored: RFC 8785, so anyone can make it again from the fields. */
export function receiptBody(content: ReceiptContent): string {
  return canonicalJson(content);
}

/** `SHA-256(prevHash || body)`, both as UTF-8 text. */
export function receiptHash(prevHash: string, body: string): string {
  return sha256(prevHash + body);
}
