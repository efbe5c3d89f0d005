import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Answer } from '../../support/client.js';
import type { ServiceProcess } from '../../support/processes.js';
import { type MailingService, spread } from './mailing-service.js';
import { type ReadyApproval, readyWork } from './queued-work.js';
import { markedUnderKill, witnessedKills } from './witness.js';

const AT_ONCE = 100;
/** How many of the refused are approved after the revert. */
const AFTERWARDS = 10;

/** What each approval was answered, by everyone who decided it. */
type Verdicts = Map<string, Set<string>>;

/**
 * Kills while 100 decisions a request come in at three processes, some of them twice and in another order. Checks that
 * each was approved before the kill or refused with 423, that refused ones are as they were and nothing of them is
 * sent, and that nobody waits for each other or gets a 5xx. Answers the figures.
 */
export async function killWhileApproving(mailing: MailingService, rounds: number): Promise<object> {
  const { service, receiver } = mailing;
  const answeredMs: number[] = [];
  let approvedInAll = 0;
  let refusedInAll = 0;
  receiver.delay = () => undefined;
  for (let round = 1; round <= rounds; round++) {
    const before = receiver.received.length;
    const { approved, refused } = await raceOnce(mailing, round % 2 === 1, answeredMs);
    await mailing.untilNoneIs('sending');
    expect((await mailing.packetsThatAre('queued')).length).toBe(0);

    await mailing.revert();
    await mailing.untilNoneIs('queued', 'sending', 'halted');
    const sent = receiver.received.slice(before).toSorted();
    expect(sent).toEqual(approved.map(({ workPacketId }) => workPacketId).toSorted());
    await expectUntouched(mailing, refused);

    // What was refused can be approved now, and goes.
    const again = await decide(mailing, mailing.anyProcess(), refused.slice(0, AFTERWARDS), 'approve');
    expect(new Set(again.body.results.map(outcomeOf))).toEqual(new Set(['approved']));
    for (let at = AFTERWARDS; at < refused.length; at += AT_ONCE) {
      await decide(mailing, mailing.anyProcess(), refused.slice(at, at + AT_ONCE), 'reject');
    }
    await mailing.untilNoneIs('queued', 'sending');
    expect(receiver.received.length).toBe(before + approved.length + AFTERWARDS);
    approvedInAll += approved.length;
    refusedInAll += refused.length;
  }
  expect(new Set(receiver.received).size).toBe(receiver.received.length);
  expect(receiver.unmarked).toEqual([]);
  expect(await markedUnderKill(service.rows)).toEqual([]);
  for (const { marked } of await witnessedKills(service.rows)) expect(marked).toEqual([]);
  await mailing.expectSound();
  return {
    'kills while approving': rounds,
    'approved before': approvedInAll,
    'refused with 423': refusedInAll,
    '100 decisions, request to answer': spread(answeredMs),
  };
}

/** With `meeting`, the two who decide the same hundred both wait for one of them when the kill comes. */
async function raceOnce(mailing: MailingService, meeting: boolean, answeredMs: number[]) {
  const work = await readyWork(mailing.service, { count: 3 * AT_ONCE });
  const [early, racing, late] = [0, 1, 2].map((at) => work.slice(at * AT_ONCE, (at + 1) * AT_ONCE)) as [
    ReadyApproval[],
    ReadyApproval[],
    ReadyApproval[],
  ];
  const [one, two, three] = mailing.processes;
  const verdicts: Verdicts = new Map();
  const approve = async (process: ServiceProcess, asked: readonly ReadyApproval[]) => {
    const began = performance.now();
    const answer = await decide(mailing, process, asked, 'approve');
    answeredMs.push(performance.now() - began);
    note(verdicts, answer);
  };

  await approve(one, early);
  // In opposite orders: if they locked as they were told, each would hold what the other wants.
  const moment = () => sleep(meeting ? 0 : randomInt(100));
  const letGo = meeting && (await mailing.lockRow('approvals', 'approval_id', racing[50]!.approvalId));
  const decided = Promise.all([
    moment().then(() => approve(two, racing)),
    moment().then(() => approve(three, racing.toReversed())),
  ]);
  if (letGo) await mailing.untilWaiting(2);
  await moment();
  const killing = mailing.kill(one);
  if (letGo) await letGo();
  const killed = await killing;
  expect(killed.status, killed.text).toBe(200);
  await Promise.all([decided, approve(mailing.anyProcess(), late)]);

  expect(verdicts.size).toBe(work.length);
  const {
    approved = [],
    ['423 GUARDIAN_HALTED']: refused = [],
    ...others
  } = Object.groupBy(work, ({ approvalId }) => [...verdicts.get(approvalId)!].join());
  // Nothing in between, and nobody was told two things.
  expect(Object.keys(others)).toEqual([]);
  expect(approved).toEqual(expect.arrayContaining(early));
  expect(refused).toEqual(expect.arrayContaining(late));
  await expectBefore(mailing, approved, killed.body.receiptId);
  await expectUntouched(mailing, refused);
  return { approved, refused };
}

async function decide(
  { service }: MailingService,
  process: ServiceProcess,
  asked: readonly ReadyApproval[],
  decision: 'approve' | 'reject',
): Promise<Answer> {
  const decisions = asked.map(({ approvalId }) => ({ approvalId, decision, feedback: 'Not now.' }));
  const answer = await service.client(process).post('/approvals', { decisions });
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.results).toHaveLength(asked.length);
  return answer;
}

function outcomeOf(result: { status?: string; error?: { code: string; status: number } }): string {
  return result.error ? `${result.error.status} ${result.error.code}` : result.status!;
}

function note(verdicts: Verdicts, { body }: Answer): void {
  for (const result of body.results) {
    const told = verdicts.get(result.approvalId) ?? new Set();
    verdicts.set(result.approvalId, told.add(outcomeOf(result)));
  }
}

/** Each approval stands in the chain once, before the kill. */
async function expectBefore(
  { service }: MailingService,
  approved: readonly ReadyApproval[],
  killReceipt: string,
): Promise<void> {
  const receipts = await service.rows<{ id: string; early: boolean }>(
    `select entity_id as id, seq < (select seq from receipts where receipt_id = $2) as early
     from receipts where action = 'approval.approved' and entity_id = any($1)`,
    [approved.map(({ approvalId }) => approvalId), killReceipt],
  );
  expect(receipts.map(({ id }) => id).toSorted()).toEqual(
    approved.map(({ approvalId }) => approvalId).toSorted(),
  );
  expect(receipts.filter(({ early }) => !early)).toEqual([]);
}

/** Still waiting, and never handed out. */
async function expectUntouched({ service }: MailingService, refused: readonly ReadyApproval[]) {
  const found = await service.rows<{ standing: string }>(
    `select distinct concat_ws(' ', a.status, d.status, p.status, p.attempts, p.allowed_hash) as standing
     from approvals a join directives d using (directive_id) join work_packets p using (directive_id)
     where a.approval_id = any($1)`,
    [refused.map(({ approvalId }) => approvalId)],
  );
  expect(found).toEqual([{ standing: 'pending pending_approval awaiting_approval 0' }]);
}
