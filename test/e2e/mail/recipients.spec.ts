import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { expectSoundLog } from '../verifier/sound-log.js';
import { MAIL_TO_ACME, NO_MAIL, OrderDesk } from '../standing-orders/order-desk.js';
import { type MailServer, startMailServer } from './mail-server.js';

/** A mail to two people, whom a real mail server answers differently. */
let test: TestApp;
let mail: MailServer;
let desk: EscalationDesk;
let orders: OrderDesk;
/** What the server says to each recipient; others are accepted. */
let answers: Record<string, { code: number; text: string }>;
/** The recipients that the server was asked about, in order. */
let asked: string[];

const JANE = 'jane@acme.example';
const BOB = 'bob@acme.example';
const LATER = { code: 450, text: 'Greylisted, come back later' };
const NEVER = { code: 550, text: 'No such user' };

beforeAll(async () => {
  mail = await startMailServer({
    recipient: (address) => {
      asked.push(address);
      return answers[address];
    },
  });
  test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'Acme <ops@acme.example>' });
  orders = new OrderDesk(test);
});
afterAll(async () => {
  await test.close();
  await mail.close();
});
beforeEach(async () => {
  answers = {};
  asked = [];
  mail.received.length = 0;
  desk = await EscalationDesk.ofOwn(test);
});

const TO_BOTH = { text: `Email ${JANE} and ${BOB}, subject "Delivery": The delivery arrives on Friday.` };

/** Approved, and answered by the mail server as the test wants. */
async function approved(): Promise<{ directiveId: string; workPacketId: string }> {
  const { directiveId, approvalId, approval } = await desk.handInReady(TO_BOTH);
  expect((await desk.approve(approvalId)).status).toBe(200);
  return { directiveId, workPacketId: approval.packets[0].workPacketId };
}

const packetOf = async (workPacketId: string) =>
  (await desk.client.get(`/work-packets/${workPacketId}`)).body;

/** The packet once an attempt has ended and the next one is put off. */
const untilPutOff = (workPacketId: string) =>
  eventually(
    () => packetOf(workPacketId),
    ({ nextAttemptAt }) => nextAttemptAt > Date.now() + 10_000,
  );

const tryAgain = (workPacketId: string) =>
  test.rows(`update work_items set due_at = now() where kind = 'packet.send' and id = $1`, [workPacketId]);

const outcomes = ({ result }: any) =>
  Object.fromEntries(result.recipients.map((one: any) => [one.address, one.outcome]));

describe('a mail that the server accepts for one recipient and asks to send later to the other', () => {
  beforeEach(() => {
    answers = { [BOB]: LATER };
  });

  it('stays sending with the answer to each, and goes to the other alone at the next attempt', async () => {
    const { directiveId, workPacketId } = await approved();
    const waiting = await untilPutOff(workPacketId);
    expect(waiting).toMatchObject({
      status: 'sending',
      result: {
        recipients: [
          {
            address: JANE,
            outcome: 'accepted',
            answer: expect.stringContaining('250'),
            at: expect.any(Number),
          },
          {
            address: BOB,
            outcome: 'deferred',
            answer: expect.stringContaining('Greylisted'),
            at: expect.any(Number),
          },
        ],
      },
    });
    answers = {};
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'executed');
    const executed = await packetOf(workPacketId);
    expect(executed).toMatchObject({ status: 'executed', attempts: 2, nextAttemptAt: null });
    expect(outcomes(executed)).toEqual({ [JANE]: 'accepted', [BOB]: 'accepted' });
    expect(asked).toEqual([JANE, BOB, BOB]);
    expect(mail.received.map(({ to }) => to)).toEqual([[JANE], [BOB]]);
    // The same mail, with both names on it.
    expect(mail.received[1]!.bytes.toString()).toContain(JANE);
    expect(await desk.actionsAbout(workPacketId)).toEqual(['packet.partly_executed', 'packet.executed']);
    await expectSoundLog(desk);
    const attempts = await test.rows(
      `select attempt, event, outcome->'recipients' is not null as told from outside_attempts
       where work_packet_id = $1 order by attempt, event`,
      [workPacketId],
    );
    expect(attempts).toEqual([
      { attempt: 1, event: 'begun', told: false },
      { attempt: 1, event: 'ended', told: true },
      { attempt: 2, event: 'begun', told: false },
      { attempt: 2, event: 'ended', told: true },
    ]);
  });

  it('uses its standing order once', async () => {
    await orders.active(MAIL_TO_ACME, desk.client);
    const { body } = await desk.client.post('/directives', {
      directive: TO_BOTH.text,
      capo: 'capo_ops',
      requiresApproval: false,
    });
    const [packet] = await eventually(
      () => desk.packets(body.directiveId),
      ([one]) => one?.nextAttemptAt > Date.now() + 10_000,
    );
    answers = {};
    await tryAgain(packet.workPacketId);
    await desk.until(body.directiveId, 'executed');
    expect(
      await test.rows('select 1 from standing_order_uses where work_packet_id = $1', [packet.workPacketId]),
    ).toHaveLength(1);
  });

  it('does not go to the other once an order denies it, and says so', async () => {
    const { directiveId, workPacketId } = await approved();
    await untilPutOff(workPacketId);
    await orders.active(NO_MAIL, desk.client);
    answers = {};
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'executed');
    expect(mail.received.map(({ to }) => to)).toEqual([[JANE]]);
    const escalation = await desk.opened(workPacketId, 'packet_failed');
    expect(escalation.reason).toContain(BOB);
    expect(escalation.reason).toContain(NO_MAIL.name);
  });

  it('waits for the revert after a kill, and then goes to the other alone', async () => {
    const { directiveId, workPacketId } = await approved();
    await untilPutOff(workPacketId);
    answers = {};
    const killed = await desk.kill();
    expect(killed.body.unconfirmed).toEqual([]);
    await tryAgain(workPacketId);
    expect(await packetOf(workPacketId)).toMatchObject({ status: 'sending' });
    await eventually(
      () => test.rows(`select 1 from work_items where id = $1 and due_at = 'infinity'`, [workPacketId]),
      (rows) => rows.length === 1,
    );
    expect(mail.received).toHaveLength(1);
    await desk.revert();
    await desk.until(directiveId, 'executed');
    expect(mail.received.map(({ to }) => to)).toEqual([[JANE], [BOB]]);
    await expectSoundLog(desk);
  });

  it('ends executed when the deadline passes, and names who did not get it', async () => {
    const { directiveId, workPacketId } = await approved();
    await untilPutOff(workPacketId);
    await test.rows(`update directives set deadline = now() where directive_id = $1`, [directiveId]);
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'executed');
    expect((await desk.opened(workPacketId, 'packet_failed')).reason).toContain(BOB);
    expect(mail.received).toHaveLength(1);
  });
});

describe('a mail that the server refuses for good for one recipient', () => {
  it('is executed, and an escalation names who did not get it', async () => {
    answers = { [BOB]: NEVER };
    const { directiveId, workPacketId } = await approved();
    await desk.until(directiveId, 'executed');
    const packet = await packetOf(workPacketId);
    expect(packet).toMatchObject({ status: 'executed', attempts: 1 });
    expect(outcomes(packet)).toEqual({ [JANE]: 'accepted', [BOB]: 'refused' });
    const escalation = await desk.opened(workPacketId, 'packet_failed');
    expect(escalation).toMatchObject({ options: ['dismiss'] });
    expect(escalation.reason).toContain(BOB);
    expect(escalation.reason).toContain('No such user');
    expect(escalation.reason).not.toContain(`${JANE} (`);
  });

  it('fails with each of them named when both are refused', async () => {
    answers = { [BOB]: NEVER, [JANE]: { code: 553, text: 'Mailbox moved' } };
    const { directiveId, workPacketId } = await approved();
    await desk.until(directiveId, 'failed');
    const packet = await packetOf(workPacketId);
    expect(packet).toMatchObject({ status: 'failed', result: { error: { code: 'MAIL_REFUSED' } } });
    expect(outcomes(packet)).toEqual({ [JANE]: 'refused', [BOB]: 'refused' });
    for (const words of [BOB, 'No such user', JANE, 'Mailbox moved']) {
      expect(packet.result.error.message).toContain(words);
    }
  });

  it('goes on for the other, who is asked to wait, and never asks for the first again', async () => {
    answers = { [BOB]: NEVER, [JANE]: LATER };
    const { directiveId, workPacketId } = await approved();
    const waiting = await untilPutOff(workPacketId);
    expect(waiting).toMatchObject({ status: 'queued' });
    expect(outcomes(waiting)).toEqual({ [JANE]: 'deferred', [BOB]: 'refused' });
    answers = {};
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'executed');
    expect(mail.received.map(({ to }) => to)).toEqual([[JANE]]);
    expect((await desk.opened(workPacketId, 'packet_failed')).reason).toContain(BOB);
  });
});

describe('a mail that the server asks to send later, again and again', () => {
  beforeEach(() => {
    answers = { [JANE]: LATER, [BOB]: LATER };
  });

  it('says when it is tried again and what the server said, and is given up after more than a day', async () => {
    const { directiveId, workPacketId } = await approved();
    const waiting = await untilPutOff(workPacketId);
    expect(waiting.nextAttemptAt).toBeLessThan(Date.now() + 70_000);
    expect(waiting).toMatchObject({
      status: 'queued',
      result: {
        error: { code: 'MAIL_UNREACHABLE', message: expect.stringContaining('Greylisted') },
        tries: 1,
      },
    });
    // As after the last attempt but two.
    await test.rows(
      `update work_packets set result = jsonb_set(result, '{tries}', '32') where work_packet_id = $1`,
      [workPacketId],
    );
    await tryAgain(workPacketId);
    await eventually(
      () => packetOf(workPacketId),
      ({ result }) => result.tries === 33,
    );
    const hour = 60 * 60_000;
    expect((await packetOf(workPacketId)).nextAttemptAt).toBeGreaterThan(Date.now() + 0.85 * hour);
    await tryAgain(workPacketId);
    await desk.until(directiveId, 'failed');
    expect(await desk.opened(directiveId, 'packet_failed')).toMatchObject({
      reason: expect.stringContaining('Greylisted'),
    });
  });

  it('is withdrawn when its directive is cancelled', async () => {
    const { directiveId, workPacketId } = await approved();
    await untilPutOff(workPacketId);
    const { status, text } = await desk.client.post(`/directives/${directiveId}/cancel`);
    expect(status, text).toBe(200);
    expect(await packetOf(workPacketId)).toMatchObject({ status: 'cancelled', nextAttemptAt: null });
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'cancelled' });
    expect(await test.rows('select 1 from work_items where id = $1', [workPacketId])).toEqual([]);
  });
});
