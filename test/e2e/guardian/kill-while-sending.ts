import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Answer } from '../../support/client.js';
import type { ServiceProcess } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';
import { type MailingService, spread } from './mailing-service.js';
import { queueWork } from './queued-work.js';
import { markedUnderKill, type WitnessedKill, witnessedKills } from './witness.js';

/** What is done around a kill, one after the other. */
const WAYS = ['alone', 'twice at once', 'reverted at once', 'with a stopped process'] as const;

interface Kill {
  way: (typeof WAYS)[number];
  body: Answer['body'];
  answeredMs: number;
}

interface ReceiptRow {
  action: string;
  entityId: string;
  guardianEpoch: number | null;
  unconfirmed: { workPacketId: string }[] | null;
}

/**
 * Kills and reverts at random moments while three processes send. Checks that no packet was marked while a kill
 * stood, that no mail began but of packets that the kill named, that exactly the halted ones went on, and that in the
 * end each mail came exactly once. Answers the figures.
 */
export async function killWhileSending(mailing: MailingService, kills: number): Promise<object> {
  const { service, receiver } = mailing;
  const { rows } = service;
  const queued: string[] = [];
  const done: Kill[] = [];
  receiver.delay = (step) => (step === 'answer' ? sleep(randomInt(10)) : undefined);
  while (done.length < kills) {
    if ((await mailing.packetsThatAre('queued')).length < 50) {
      const more = await queueWork(service, { directives: 200, packetsEach: 1, types: ['email.send'] });
      queued.push(...more.map(({ workPacketId }) => workPacketId));
    }
    const before = receiver.received.length;
    await eventually(async () => receiver.received.length > before);
    await sleep(randomInt(100));
    done.push(await killOnce(mailing, WAYS[done.length % WAYS.length]!, done.length + 1));
  }
  await mailing.untilNoneIs('queued', 'sending', 'halted');

  const witnessed = await witnessedKills(rows);
  expect(witnessed).toHaveLength(kills);
  expect(await markedUnderKill(rows)).toEqual([]);
  for (const [index, { marked, mails }] of witnessed.entries()) {
    expect(marked).toEqual([]);
    expect(named(done[index]!.body.unconfirmed)).toEqual(expect.arrayContaining(mails));
  }
  await expectReceipts(mailing);

  expect(receiver.unmarked).toEqual([]);
  expect(receiver.received.toSorted()).toEqual(queued.toSorted());
  expect((await mailing.packetsThatAre('executed')).toSorted()).toEqual(queued.toSorted());
  expect(await rows(`select status from directives where status <> 'executed'`)).toEqual([]);
  await mailing.expectSound();

  // A process that is stopped or a revert at once are no measure of how fast all stop.
  const measured = witnessed.filter((_, index) => ['alone', 'twice at once'].includes(done[index]!.way));
  const after = (last: (kill: WitnessedKill) => number | null) =>
    measured.map((kill) => Math.max(0, (last(kill) ?? 0) - kill.killedAt));
  const mailsMs = after(({ lastMailAt }) => lastMailAt);
  const closedMs = after(({ killedAt, liftedAt }) =>
    Math.max(...receiver.closed.filter((at) => at > killedAt && at < liftedAt)),
  );
  expect(Math.max(...mailsMs)).toBeLessThan(2_000);
  expect(Math.max(...closedMs)).toBeLessThan(3_000);
  return {
    'kills while sending': kills,
    'mails sent': receiver.received.length,
    'under way at a kill': done.reduce((sum, { body }) => sum + body.unconfirmed.length, 0),
    'request to answer': spread(done.map(({ answeredMs }) => answeredMs)),
    'commit to the last mail that begins': spread(mailsMs),
    'commit to the last connection closed': spread(closedMs),
    'commit to the last outcome recorded': spread(after(({ lastEndAt }) => lastEndAt)),
  };
}

async function killOnce(mailing: MailingService, way: Kill['way'], epoch: number): Promise<Kill> {
  const victim = way === 'with a stopped process' ? mailing.anyProcess() : undefined;
  const woken = victim && stopFor(victim, randomInt(300));
  const began = performance.now();
  const killers = way === 'twice at once' ? mailing.processes.slice(0, 2) : [mailing.anyProcess(victim)];
  const answers = await Promise.all(killers.map((process) => mailing.kill(process)));
  const answeredMs = performance.now() - began;
  for (const { status, text } of answers) expect(status, text).toBe(200);
  const changed = answers.filter(({ body }) => body.changed);
  expect(changed).toHaveLength(1);
  const { body } = changed[0]!;
  expect(body).toMatchObject({ mode: 'killed', epoch });
  expect(await mailing.packetsThatAre('queued')).toEqual([]);
  await woken;
  if (way === 'reverted at once') await mailing.revert();
  else await revertWhenStopped(mailing, body);
  return { way, body, answeredMs };
}

async function revertWhenStopped(mailing: MailingService, { halted }: Kill['body']): Promise<void> {
  const directives = await mailing.service.rows(
    `select 1 from directives where status = 'halted' and halted_from = 'sending'`,
  );
  expect(halted).toEqual({ queued: 0, executing: 0, sending: directives.length, voided: 0 });
  await mailing.untilNoneIs('sending');
  const waiting = await mailing.packetsThatAre('halted');
  expect((await mailing.revert()).toSorted()).toEqual(waiting.toSorted());
}

async function stopFor(process: ServiceProcess, ms: number): Promise<void> {
  process.signal('SIGSTOP');
  await sleep(ms);
  process.signal('SIGCONT');
}

/** Each outcome stands in the chain under the epoch of its place, and while a kill stood only what it had named ended. */
async function expectReceipts({ service }: MailingService): Promise<void> {
  const receipts = await service.rows<ReceiptRow>(
    `select action, entity_id as "entityId", (body::jsonb->>'guardianEpoch')::int as "guardianEpoch",
       body::jsonb->'details'->'unconfirmed' as unconfirmed
     from receipts where workspace_id = $1 order by seq`,
    [service.workspaceId],
  );
  let epoch = 0;
  let underWay: string[] | undefined;
  for (const receipt of receipts) {
    if (receipt.action === 'guardian.killed') {
      epoch++;
      underWay = named(receipt.unconfirmed!);
    } else if (receipt.action === 'guardian.reverted') {
      underWay = undefined;
    } else if (receipt.action.startsWith('packet.')) {
      expect(receipt).toMatchObject({ action: 'packet.executed', guardianEpoch: epoch });
      if (underWay) expect(underWay).toContain(receipt.entityId);
    }
  }
}

function named(unconfirmed: readonly { workPacketId: string }[]): string[] {
  return unconfirmed.map(({ workPacketId }) => workPacketId);
}
