import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import { machinePostgres } from '../support/machine-postgres.js';
import { type Service, startService } from '../support/processes.js';
import { allFound, programPath } from '../support/programs.js';
import { eventually } from '../support/test-app.js';
import { startMachineDatabase } from './machine-database.js';
import { type Postfix, startPostfix } from './postfix.js';

const programs = machinePostgres();
const found = allFound('mail through postfix', {
  PostgreSQL: programs,
  postfix: programPath('postfix'),
  'the rights of root, which postfix needs': process.getuid?.() === 0 ? 'root' : undefined,
});

/** Less than the wait before the second attempt, so that this one succeeds. */
const GREYLISTED_MS = 20_000;
/** Two attempts, with a wait of a minute between them. */
const TWO_ATTEMPTS_SECONDS = 150;

const USERS = ['jane', 'bob', 'eve', 'mia', 'tom'];
const [JANE, BOB, EVE, MIA, TOM] = USERS.map((user) => `${user}@buyer.example`) as [
  string,
  string,
  string,
  string,
  string,
];
const NOBODY = 'nobody@buyer.example';

describe.skipIf(!found)('mail through postfix', { timeout: 200_000 }, () => {
  let receiver: MailServer;
  let postfix: Postfix;
  let service: Service;
  beforeAll(async () => {
    receiver = await startMailServer();
    postfix = await startPostfix(USERS, receiver.port);
    const database = await startMachineDatabase(programs!);
    const environment = { SMTP_URL: postfix.url, MAIL_FROM: 'Acme <ops@acme.example>' };
    service = await startService(2, environment, database);
  }, 120_000);
  afterAll(async () => {
    await service?.close();
    await postfix?.stop();
    await receiver?.close();
  });

  /** Hands in a mail to these and approves it; answers the directive and the packet. */
  async function approveMailTo(...recipients: string[]) {
    const text = `Email ${recipients.join(' and ')}: "Your order ships on Friday.", subject "Your order"`;
    const handedIn = await service.client().post('/directive', { text, capo: 'capo_ops' });
    expect(handedIn.status, handedIn.text).toBe(201);
    const { directiveId, approvalId } = handedIn.body;
    const { body } = await service.client().get(`/approvals/${approvalId}?wait=30`);
    expect(body).toMatchObject({ ready: true, status: 'pending' });
    expect(body.packets[0].action.params.to).toEqual(recipients);
    const approved = await service.client().post(`/approvals/${approvalId}/approve`);
    expect(approved.status, approved.text).toBe(200);
    return { directiveId, workPacketId: body.packets[0].workPacketId as string };
  }

  const packetOf = async (workPacketId: string) =>
    (await service.client().get(`/work-packets/${workPacketId}`)).body;
  const until = (workPacketId: string, done: (packet: any) => boolean, seconds = 20) =>
    eventually(() => packetOf(workPacketId), done, seconds);
  const isExecuted = ({ status }: any) => status === 'executed';
  /** An attempt has ended, and the next one is put off, if there is one. */
  const hasBeenTried = ({ status, nextAttemptAt }: any) =>
    status === 'executed' || nextAttemptAt > Date.now() + 1_000;
  const askedAbout = (address: string) =>
    postfix.asked.filter(({ recipient }) => recipient === address).map(({ answer }) => answer);
  /** Between the first time that it was asked about this recipient and the second. */
  const secondsBetween = (address: string) => {
    const [first, second] = postfix.asked.filter(({ recipient }) => recipient === address);
    return Math.round((second!.at - first!.at) / 1000);
  };
  const outcomes = ({ result }: any) =>
    Object.fromEntries((result?.recipients ?? []).map((one: any) => [one.address, one.outcome]));

  /** To whom postfix has passed the mails on that name any of these recipients. */
  const passedOnTo = (...recipients: string[]) =>
    receiver.received
      .flatMap(({ to }) => to)
      .filter((address) => recipients.includes(address))
      .toSorted();

  /** The open escalation of which this is true, once it is there. */
  async function escalation(isIt: (one: any) => boolean) {
    const items = await eventually(
      async () => (await service.client().get('/escalations?limit=100')).body.items as any[],
      (all) => all.some(isIt),
    );
    return items.find(isIt);
  }

  it('arrives, once and as it was approved', async () => {
    const { workPacketId } = await approveMailTo(JANE);
    await until(workPacketId, isExecuted);
    await eventually(async () => passedOnTo(JANE).length > 0);
    expect(passedOnTo(JANE)).toEqual([JANE]);
    const mail = await PostalMime.parse(receiver.received.find(({ to }) => to.includes(JANE))!.bytes);
    expect(mail).toMatchObject({
      from: { address: 'ops@acme.example' },
      to: [{ address: JANE }],
      messageId: `<${workPacketId}@acme.example>`,
    });
    expect(mail.text).toContain('Your order ships on Friday.');
  });

  it('arrives once at each of two, of whom one is greylisted', async () => {
    postfix.greylisted.set(EVE, GREYLISTED_MS);
    const { workPacketId } = await approveMailTo(BOB, EVE);
    const waiting = await until(workPacketId, hasBeenTried);
    expect([waiting.status, outcomes(waiting)]).toEqual([
      'sending',
      { [BOB]: 'accepted', [EVE]: 'deferred' },
    ]);
    const executed = await until(workPacketId, isExecuted, TWO_ATTEMPTS_SECONDS);
    expect(outcomes(executed)).toEqual({ [BOB]: 'accepted', [EVE]: 'accepted' });
    await eventually(async () => passedOnTo(EVE).length > 0);
    expect(passedOnTo(BOB, EVE)).toEqual([BOB, EVE]);
    // Nobody who had the mail was named again.
    expect(askedAbout(BOB)).toEqual(['accepted']);
    expect(askedAbout(EVE)).toEqual(['deferred', 'accepted']);
    console.info('greylisted beside another', { secondAttemptAfterSeconds: secondsBetween(EVE) });
  });

  it('arrives once at a recipient who is greylisted, alone', async () => {
    postfix.greylisted.set(MIA, GREYLISTED_MS);
    const { workPacketId } = await approveMailTo(MIA);
    await until(workPacketId, isExecuted, TWO_ATTEMPTS_SECONDS);
    await eventually(async () => passedOnTo(MIA).length > 0);
    expect(passedOnTo(MIA)).toEqual([MIA]);
    expect(askedAbout(MIA)).toEqual(['deferred', 'accepted']);
    console.info('greylisted', { secondAttemptAfterSeconds: secondsBetween(MIA) });
  });

  it('arrives at one although another is unknown, and a person is told who', async () => {
    const { workPacketId } = await approveMailTo(TOM, NOBODY);
    const executed = await until(workPacketId, isExecuted);
    expect(outcomes(executed)).toEqual({ [TOM]: 'accepted', [NOBODY]: 'refused' });
    await eventually(async () => passedOnTo(TOM).length > 0);
    expect(passedOnTo(TOM, NOBODY)).toEqual([TOM]);
    const { reason } = await escalation((one) => JSON.stringify(one).includes(workPacketId));
    expect(reason).toContain(`${NOBODY} (550 5.1.1`);
    expect(reason).not.toContain(`${TOM} (`);
  });

  it('waits while the password is refused, and goes once a person has had it checked again', async () => {
    const before = passedOnTo(JANE).length;
    postfix.password = 'changed';
    const { workPacketId } = await approveMailTo(JANE);
    const connectors = async () => (await service.client().get('/connectors')).body.items as any[];
    const isRed = (all: any[]) => all.some(({ kind, status }) => kind === 'mail' && status === 'red');
    const red = await eventually(connectors, isRed, 90);
    expect(red.find(({ kind }) => kind === 'mail').reason).toContain('535');
    expect((await packetOf(workPacketId)).status).not.toBe('failed');
    expect(passedOnTo(JANE).length).toBe(before);
    const { escalationId } = await escalation(({ kind }) => kind === 'connector_red');
    postfix.password = 'right';
    const checked = await service.client().post('/escalations/decide', { escalationId, decision: 'check' });
    expect(checked.status, checked.text).toBe(200);
    await until(workPacketId, isExecuted, TWO_ATTEMPTS_SECONDS);
    await eventually(async () => passedOnTo(JANE).length > before);
    expect(passedOnTo(JANE).length).toBe(before + 1);
  });
});
