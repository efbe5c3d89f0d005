import type { LLMock } from '@copilotkit/aimock';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../../support/test-app.js';
import type { Wire } from '../../support/wire.js';
import type { MailStep } from './mail-receiver.js';
import type { MailingService } from './mailing-service.js';
import { queueWork } from './queued-work.js';

const DRAFT = JSON.stringify({
  summary: 'A memo is ready.',
  body: 'It is late.',
  packets: [
    {
      title: 'Memo',
      type: 'document.file',
      target: 'Memo',
      params: { title: 'Memo', body: 'It is late.' },
      rationale: 'The directive asks for it.',
      multipliers: [],
    },
  ],
});

/** A mail at a server that keeps silent at one step until it is let go. */
export interface DelayedMail {
  workPacketId: string;
  letGo: () => void;
  /** Once the server keeps silent to attempt `n`, from 1 on: before that there may be no connection to be cut. */
  reached: (n: number) => Promise<unknown>;
}

/** Has one mail sent, and the server keep silent at `step`. */
export async function delayMail({ service, receiver }: MailingService, step: MailStep): Promise<DelayedMail> {
  const released = Promise.withResolvers<void>();
  const arrived: string[] = [];
  receiver.delay = (at, workPacketId) => {
    if (at !== step) return undefined;
    arrived.push(workPacketId);
    return released.promise;
  };
  const [packet] = await queueWork(service, { directives: 1, packetsEach: 1, types: ['email.send'] });
  const { workPacketId } = packet!;
  const reached = (n: number) =>
    eventually(async () => arrived.filter((each) => each === workPacketId).length === n);
  await reached(1);
  return { workPacketId, letGo: released.resolve, reached };
}

/** A model call is cut, and the draft made again after the revert. Answers how long after the kill's answer, in ms. */
export async function killModelCall(mailing: MailingService, model: LLMock, wire: Wire): Promise<number> {
  const { service, processes } = mailing;
  const never = Promise.withResolvers<void>();
  let calls = 0;
  // Connections that were kept for another call would stay open after the kill.
  wire.cut();
  model.reset();
  model.on({}, async () => {
    if (++calls === 1) await never.promise;
    return { content: DRAFT };
  });
  const { body } = await elsewhere(mailing, async () => {
    const handedIn = await service
      .client(processes[1])
      .post('/directive', { text: 'Look into it.', capo: 'capo_ops' });
    await eventually(async () => calls === 1);
    return handedIn;
  });
  const cut = Promise.all(wire.open().map(({ closed }) => closed));
  const { afterAnswerMs } = await killAndSee(mailing, cut);
  await mailing.revert();
  const approval = await service.client().get(`/approvals/${body.approvalId}?wait=10`);
  expect(approval.body).toMatchObject({ ready: true, output: { body: '# Memo\n\nIt is late.' } });
  expect(calls).toBe(2);
  never.resolve();
  return afterAnswerMs;
}

/** A mail that has not begun is cut, `kills` times, and still goes out once. Answers the times after each kill's answer. */
export async function killBeforeMail(mailing: MailingService, kills: number): Promise<number[]> {
  const { receiver, processes } = mailing;
  const times: number[] = [];
  const { workPacketId, letGo, reached } = await elsewhere(mailing, () => delayMail(mailing, 'recipient'));
  while (times.length < kills) {
    const { afterAnswerMs, unconfirmed } = await killAndSee(mailing, receiver.nextHangUp());
    expect(unconfirmed).toEqual([workPacketId]);
    times.push(afterAnswerMs);
    await mailing.until(workPacketId, 'halted');
    if (times.length === kills) letGo();
    const again = await elsewhere(mailing, () => mailing.revert(processes[1]));
    expect(again).toEqual([workPacketId]);
    if (times.length < kills) await reached(times.length + 1);
  }
  await mailing.until(workPacketId, 'executed');
  expect(receiver.times(workPacketId)).toBe(1);
  return times;
}

/** A mail that has gone over is answered soon after the kill: what became of it is known. */
export async function killBeforeAnswer(mailing: MailingService): Promise<void> {
  const { receiver } = mailing;
  const { workPacketId, letGo } = await elsewhere(mailing, () => delayMail(mailing, 'answer'));
  const told = sleep(300).then(letGo);
  const { unconfirmed } = await killAndSee(mailing, told);
  expect(unconfirmed).toEqual([workPacketId]);
  await mailing.until(workPacketId, 'executed');
  expect(await mailing.revert()).toEqual([]);
  expect(receiver.times(workPacketId)).toBe(1);
}

/** It is never answered: it is cut and stays unconfirmed, a person is told, and nothing sends it again. */
export async function killWithoutAnswer(mailing: MailingService): Promise<number> {
  const { service, receiver } = mailing;
  const { workPacketId, letGo } = await elsewhere(mailing, () => delayMail(mailing, 'answer'));
  const { afterAnswerMs, unconfirmed } = await killAndSee(mailing, receiver.nextHangUp());
  expect(unconfirmed).toEqual([workPacketId]);
  expect(await mailing.until(workPacketId, 'failed')).toMatchObject({ code: 'MAIL_UNCONFIRMED' });
  const signals = await service.rows(`select severity from signals where entity->>'id' = $1`, [workPacketId]);
  expect(signals).toEqual([{ severity: 'critical' }]);
  letGo();
  expect(await mailing.revert()).toEqual([]);
  expect(receiver.times(workPacketId)).toBe(1);
  return afterAnswerMs;
}

/** No process hears the kill, because the connections that would tell it were lost: the lease tells it. */
export async function killUnheard(mailing: MailingService): Promise<number> {
  const { service, receiver } = mailing;
  const { workPacketId, letGo } = await elsewhere(mailing, () => delayMail(mailing, 'recipient'));
  const channels = `from pg_stat_activity where application_name = 'consigliere channel' and datname = current_database()`;
  // Those that were lost the last time may still be coming back.
  await eventually(
    () => service.rows(`select pid ${channels}`),
    (rows) => rows.length === mailing.processes.length,
  );
  await service.rows(`select pg_terminate_backend(pid) ${channels}`);
  const { afterAnswerMs } = await killAndSee(mailing, receiver.nextHangUp());
  letGo();
  await mailing.until(workPacketId, 'halted');
  expect(await mailing.revert()).toEqual([workPacketId]);
  await mailing.until(workPacketId, 'executed');
  expect(receiver.times(workPacketId)).toBe(1);
  return afterAnswerMs;
}

/** Lets another process than the first take up what `begin` causes. */
async function elsewhere<T>({ processes }: MailingService, begin: () => Promise<T>): Promise<T> {
  const [first] = processes;
  first.signal('SIGSTOP');
  try {
    return await begin();
  } finally {
    first.signal('SIGCONT');
  }
}

/** Kills at the first process, and measures how long after the kill's answer `ended` comes; 0 if before it. */
async function killAndSee(
  mailing: MailingService,
  ended: Promise<unknown>,
): Promise<{ afterAnswerMs: number; unconfirmed: string[] }> {
  const [first] = mailing.processes;
  const endedAt = ended.then(() => performance.now());
  const answer = await mailing.kill(first);
  const answeredAt = performance.now();
  expect(answer.status, answer.text).toBe(200);
  return {
    afterAnswerMs: Math.max(0, (await endedAt) - answeredAt),
    unconfirmed: answer.body.unconfirmed.map((one: { workPacketId: string }) => one.workPacketId),
  };
}
