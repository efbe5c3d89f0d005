import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { verifyLog } from '../../../src/features/verifier/verifier.js';
import type { EscalationDesk } from '../escalations/escalation-desk.js';

/** Nothing that the receipts of the workspace show is accused by `verify-export`. */
export async function expectSoundLog({ client, workspaceId }: EscalationDesk): Promise<void> {
  const { text } = await client.get('/audit-feed?format=jsonl');
  const { proofs } = await verifyLog(Readable.from([Buffer.from(text)]), workspaceId);
  expect(proofs.inWords().join('\n'), proofs.inWords().join('\n')).not.toContain('something was sent');
  expect(proofs.areSound, proofs.inWords().join('\n')).toBe(true);
}
