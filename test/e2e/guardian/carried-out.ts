import { newId } from '../../../src/platform/kernel/ids.js';
import type { DraftPacket } from '../../../src/features/capos/briefing.js';
import { draftPacket, MAIL_TO_JANE, type ScriptedRunner } from '../../support/scripted-runner.js';
import type { Desk } from '../directives/desk.js';

/** A packet of a draft for each action type whose undo is within the database, and a mail that nothing takes back. */
export const PACKETS = {
  document: draftPacket({ type: 'document.file', params: { title: 'Memo', body: 'As agreed.' } }),
  signal: draftPacket({
    type: 'signal.raise',
    params: { type: 'agent', severity: 'info', title: 'Done', body: 'As agreed.' },
  }),
  mail: MAIL_TO_JANE,
  revenue: (amount: number, currency: string) =>
    draftPacket({ type: 'revenue.record', params: { amount, currency, source: 'Acme' } }),
  delegation: (directive: string) =>
    draftPacket({ type: 'directive.create', params: { directive, capo: 'capo_ops' } }),
} as const;

/** Hands in a directive whose draft is these packets, approves it, and answers once they are carried out. */
export async function carryOut(
  desk: Desk,
  runner: ScriptedRunner,
  packets: DraftPacket[],
  { capo = 'capo_ops', until = 'executed' }: { capo?: string; until?: string } = {},
): Promise<string> {
  const text = `Do as agreed ${newId('req')}`;
  runner.answer(text, { packets });
  const { directiveId, approvalId } = await desk.handIn({ text, capo });
  await desk.ready(approvalId);
  await desk.approve(approvalId);
  await desk.until(directiveId, until);
  return directiveId;
}
