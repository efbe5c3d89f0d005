import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { ServiceProcess } from '../../support/processes.js';
import { type DelayedMail, delayMail } from './kill-elsewhere.js';
import type { MailStep } from './mail-receiver.js';
import type { MailingService } from './mailing-service.js';
import { queueWork } from './queued-work.js';

/**
 * Stops the process that sends (SIGSTOP) in the middle of it and kills at another; each of these ends with the process
 * continued, the kill reverted and at most one mail sent.
 */

/** The mail was transmitted before the process was stopped, and was answered meanwhile: it is recorded when it goes on. */
export async function answeredWhileStopped(mailing: MailingService): Promise<void> {
  const { receiver } = mailing;
  const { sender, workPacketId, letGo } = await stopInTheMiddle(mailing, 'answer');
  await killNaming(mailing, workPacketId);
  letGo();
  await sleep(200);
  expect(await mailing.packet(workPacketId)).toMatchObject({ status: 'sending' });
  sender.signal('SIGCONT');
  expect(await mailing.until(workPacketId, 'executed')).toMatchObject({ attempts: 1 });
  expect(await mailing.revert()).toEqual([]);
  await expectOnce(mailing, workPacketId);
  expect(receiver.times(workPacketId)).toBe(1);
}

/** The kill is reverted and the lease is over before the process goes on: unconfirmed, until its late result says that it was sent. */
export async function recoveredWhileStopped(mailing: MailingService): Promise<void> {
  const { service, receiver } = mailing;
  const { sender, workPacketId, letGo } = await stopInTheMiddle(mailing, 'answer');
  await killNaming(mailing, workPacketId);
  letGo();
  expect(await mailing.revert(mailing.anyProcess(sender))).toEqual([]);
  await service.rows('update work_items set due_at = now() where id = $1', [workPacketId]);
  const recovered = { status: 'failed', code: 'UNCONFIRMED', attempts: 1 };
  expect(await mailing.until(workPacketId, 'failed')).toMatchObject(recovered);
  sender.signal('SIGCONT');
  expect(await mailing.until(workPacketId, 'executed')).toMatchObject({ attempts: 1 });
  await expectOnce(mailing, workPacketId);
  expect(receiver.times(workPacketId)).toBe(1);
}

/** The mail had not begun: it is aborted when the process goes on, and goes with the revert. */
export async function abortedWhenContinued(mailing: MailingService): Promise<void> {
  const { receiver } = mailing;
  const { sender, workPacketId, letGo } = await stopInTheMiddle(mailing, 'recipient');
  await killNaming(mailing, workPacketId);
  const hungUp = receiver.nextHangUp();
  sender.signal('SIGCONT');
  await hungUp;
  letGo();
  await mailing.until(workPacketId, 'halted');
  expect(receiver.times(workPacketId)).toBe(0);
  expect(await mailing.revert()).toEqual([workPacketId]);
  expect(await mailing.until(workPacketId, 'executed')).toMatchObject({ attempts: 2 });
  await expectOnce(mailing, workPacketId);
  expect(receiver.times(workPacketId)).toBe(1);
}

/**
 * The process was stopped within the transaction that marks the packet, so it holds the guardian that the kill wants.
 * Answers how many milliseconds the kill took.
 */
export async function killPastStoppedHolder(mailing: MailingService): Promise<number> {
  const { service, receiver, processes } = mailing;
  const [first, second, sender] = processes;
  receiver.delay = () => undefined;
  const letGo = await mailing.lockRow('guardians', 'workspace_id', service.workspaceId);
  for (const other of [first, second]) other.signal('SIGSTOP');
  const [packet] = await queueWork(service, { directives: 1, packetsEach: 1, types: ['email.send'] });
  const { workPacketId } = packet!;
  await mailing.untilWaiting(1);
  sender.signal('SIGSTOP');
  for (const other of [first, second]) other.signal('SIGCONT');
  await letGo();
  const began = performance.now();
  const killed = await mailing.kill(first);
  const answeredMs = performance.now() - began;
  expect(killed.body).toMatchObject({ changed: true, unconfirmed: [] });
  expect(await mailing.packet(workPacketId)).toMatchObject({ status: 'halted', attempts: 0 });
  sender.signal('SIGCONT');
  await sleep(500);
  expect(await mailing.packet(workPacketId)).toMatchObject({ status: 'halted', attempts: 0 });
  expect(receiver.times(workPacketId)).toBe(0);
  expect(await mailing.revert(sender)).toEqual([workPacketId]);
  await mailing.until(workPacketId, 'executed');
  await expectOnce(mailing, workPacketId);
  expect(receiver.times(workPacketId)).toBe(1);
  return answeredMs;
}

/** A mail that the third process sends, which was stopped while the server kept silent at `step`. */
async function stopInTheMiddle(
  mailing: MailingService,
  step: MailStep,
): Promise<DelayedMail & { sender: ServiceProcess }> {
  const [first, second, sender] = mailing.processes;
  for (const other of [first, second]) other.signal('SIGSTOP');
  try {
    return { sender, ...(await delayMail(mailing, step)) };
  } finally {
    sender.signal('SIGSTOP');
    for (const other of [first, second]) other.signal('SIGCONT');
  }
}

/** Kills at a process that runs. */
async function killNaming(mailing: MailingService, workPacketId: string): Promise<void> {
  const [first] = mailing.processes;
  const { status, body, text } = await mailing.kill(first);
  expect(status, text).toBe(200);
  expect(body).toMatchObject({ changed: true, unconfirmed: [{ workPacketId, since: expect.any(Number) }] });
}

/** The packet has one outcome. */
async function expectOnce({ service }: MailingService, workPacketId: string): Promise<void> {
  const outcomes = await service.rows(
    `select action from receipts where entity_id = $1 and action in ('packet.executed', 'packet.failed')`,
    [workPacketId],
  );
  expect(outcomes).toHaveLength(1);
}
