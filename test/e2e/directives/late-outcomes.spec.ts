import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { type MailServer, startMailServer } from '../mail/mail-server.js';
import { expectSoundLog } from '../verifier/sound-log.js';

/** What a mail server has said is recorded, whoever has the work by then and whatever the database does meanwhile. */
let test: TestApp;
let mail: MailServer;
let desk: EscalationDesk;
interface Held {
  /** Lets the server answer the mail. */
  answer(reply?: { code: number; text: string }): void;
}
/** The mails that the server has, and has not answered. */
let held: Held[];
let isHolding: boolean;
/** What the client hears within the server's last answer. */
let noise: string | undefined;

beforeAll(async () => {
  mail = await startMailServer({
    mail: () =>
      isHolding
        ? new Promise((answer) => held.push({ answer: (reply) => answer(reply) }))
        : Promise.resolve(undefined),
    reply: (text) => (noise === undefined ? text : text.replace(/queued|spam/, (word) => word + noise)),
  });
  test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'Acme <ops@acme.example>' });
});
afterAll(async () => {
  await test.close();
  await mail.close();
});
beforeEach(async () => {
  held = [];
  isHolding = true;
  mail.received.length = 0;
  desk = await EscalationDesk.ofOwn(test);
});

const packetOf = async (workPacketId: string) =>
  (await desk.client.get(`/work-packets/${workPacketId}`)).body;

const untilPacket = (workPacketId: string, status: string) =>
  eventually(
    () => packetOf(workPacketId),
    (packet) => packet.status === status,
  );

/** A mail that the server has, and has not answered yet. */
async function underWay() {
  const { directiveId, approvalId, approval } = await desk.handInReady();
  expect((await desk.approve(approvalId)).status).toBe(200);
  const before = held.length;
  await eventually(
    async () => held.length,
    (count) => count > before,
  );
  return { directiveId, workPacketId: approval.packets[0].workPacketId as string, first: held.at(-1)! };
}

/** The lease of the attempt under way is over, as after a stall: the work is another attempt's. */
const takeAway = (workPacketId: string) =>
  test.rows(
    `update work_items set attempt = nextval('work_attempts'), claimed = false, due_at = now() where id = $1`,
    [workPacketId],
  );

const attemptsOf = (workPacketId: string) =>
  test.rows<{ attempt: number; event: string }>(
    'select attempt, event from outside_attempts where work_packet_id = $1 order by attempt, event',
    [workPacketId],
  );

const untilEnded = (workPacketId: string, count: number) =>
  eventually(
    () => attemptsOf(workPacketId),
    (rows) => rows.filter(({ event }) => event === 'ended').length === count,
  );

describe('the outcome of an attempt that has lost its lease', () => {
  it('confirms a packet that failed because nobody knew, and closes what a person was asked', async () => {
    const { directiveId, workPacketId, first } = await underWay();
    await takeAway(workPacketId);
    await desk.until(directiveId, 'failed');
    const escalation = await desk.opened(workPacketId, 'packet_failed');
    first.answer();
    expect(await untilPacket(workPacketId, 'executed')).toMatchObject({
      attempts: 1,
      result: { accepted: ['jane@acme.example'] },
    });
    expect(await desk.until(directiveId, 'executed')).toMatchObject({ error: null });
    expect(await desk.escalation(escalation.id)).toMatchObject({
      status: 'resolved',
      decidedBy: { type: 'system' },
    });
    expect(await desk.actionsAbout(workPacketId)).toEqual(['packet.failed', 'packet.confirmed']);
    expect(mail.received).toHaveLength(1);
    expect(await test.rows('select 1 from work_items where id = $1', [workPacketId])).toEqual([]);
    await expectSoundLog(desk);
  });

  it('tells why the packet failed where the server refused it', async () => {
    const { directiveId, workPacketId, first } = await underWay();
    await takeAway(workPacketId);
    await desk.until(directiveId, 'failed');
    const escalation = await desk.opened(workPacketId, 'packet_failed');
    first.answer({ code: 554, text: 'Looks like spam' });
    await eventually(
      () => packetOf(workPacketId),
      ({ result }) => result.error.code === 'MAIL_REFUSED',
    );
    expect(await packetOf(workPacketId)).toMatchObject({ status: 'failed' });
    expect(await desk.escalation(escalation.id)).toMatchObject({ status: 'resolved' });
    // Certainly not sent, so a person may have it sent again.
    expect(await desk.opened(directiveId, 'packet_failed')).toMatchObject({
      reason: expect.stringContaining('Looks like spam'),
      options: ['retry', 'dismiss'],
    });
  });

  it('withdraws a repeat that is queued', async () => {
    const { directiveId, workPacketId, first } = await underWay();
    await desk.kill();
    await takeAway(workPacketId);
    const escalation = await desk.opened(workPacketId, 'kill_unconfirmed');
    await desk.decided(escalation.id, 'send_again');
    expect(await packetOf(workPacketId)).toMatchObject({ status: 'halted' });
    first.answer();
    await untilPacket(workPacketId, 'executed');
    await desk.revert();
    await desk.until(directiveId, 'executed');
    expect(mail.received).toHaveLength(1);
    await expectSoundLog(desk);
  });

  it('stands beside a repeat that has begun, and an escalation says so', async () => {
    const { directiveId, workPacketId, first } = await underWay();
    await desk.kill();
    await takeAway(workPacketId);
    const asked = await desk.opened(workPacketId, 'kill_unconfirmed');
    await desk.decided(asked.id, 'send_again');
    await desk.revert();
    await eventually(
      async () => held.length,
      (count) => count === 2,
    );
    first.answer();
    const escalation = await desk.opened(workPacketId, 'packet_failed');
    expect(escalation.reason).toMatch(/may have arrived twice/);
    held[1]!.answer();
    await desk.until(directiveId, 'executed');
    expect(await untilEnded(workPacketId, 2)).toEqual([
      { attempt: 1, event: 'begun' },
      { attempt: 1, event: 'ended' },
      { attempt: 2, event: 'begun' },
      { attempt: 2, event: 'ended' },
    ]);
    await expectSoundLog(desk);
  });
});

describe('the outcome of an attempt while the database takes no writes', () => {
  /** As after a failover to a standby: each connection is new, and read-only. */
  async function readOnly(on: boolean): Promise<void> {
    const { url } = test.database;
    const name = new URL(url).pathname.slice(1);
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter database ${name} set default_transaction_read_only = ${on ? 'on' : 'off'}`);
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [name],
    );
    await admin.end();
  }

  it('is recorded once it takes them again, however the mail was answered', async () => {
    const sent = await underWay();
    const refused = await underWay();
    await readOnly(true);
    sent.first.answer();
    refused.first.answer({ code: 554, text: 'Looks like spam' });
    await eventually(
      async () => mail.open(),
      (open) => open === 0,
    );
    // Tries of the program that fail, each with SQLSTATE 25006.
    await pause(1_500);
    await readOnly(false);
    expect(await untilPacket(sent.workPacketId, 'executed')).toMatchObject({ attempts: 1 });
    expect(await untilPacket(refused.workPacketId, 'failed')).toMatchObject({
      result: { error: { code: 'MAIL_REFUSED' } },
    });
    await desk.until(sent.directiveId, 'executed');
    expect(mail.received).toHaveLength(2);
  });
});

describe('a reply with bytes that PostgreSQL cannot store', () => {
  afterAll(() => {
    noise = undefined;
  });

  it.each([
    ['accepts', undefined, 'executed'],
    ['refuses', { code: 554, text: 'Looks like spam' }, 'failed'],
  ])('that %s the mail is recorded without them', async (_what, reply, status) => {
    noise = `\0\u0007${'x'.repeat(8_000)}`;
    const { directiveId, workPacketId, first } = await underWay();
    first.answer(reply);
    await desk.until(directiveId, status);
    const { result } = await packetOf(workPacketId);
    const said = status === 'executed' ? result.response : result.error.message;
    expect(said).toContain('\uFFFD\uFFFDxxx');
    expect(Buffer.byteLength(said)).toBeLessThan(2_200);
    expect(result.error?.code).toBe(status === 'executed' ? undefined : 'MAIL_REFUSED');
  });
});
