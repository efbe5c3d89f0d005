import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { TeamDesk } from '../teams/team-desk.js';
import { type MailServer, startMailServer } from './mail-server.js';

/** The password of the mail server was changed: what is to be mailed waits until somebody has put that right. */
let test: TestApp;
let mail: MailServer;
let letsIn = false;

beforeAll(async () => {
  mail = await startMailServer({
    options: {
      authOptional: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: (_auth, _session, done) => {
        const error = Object.assign(new Error('Bad credentials'), { responseCode: 535 });
        if (letsIn) done(null, { user: 'ada' });
        else done(error);
      },
    },
  });
  const url = mail.url.replace('smtp://', 'smtp://ada:s3cret@');
  test = await startTestApp({ SMTP_URL: url, MAIL_FROM: 'Acme <ops@acme.example>' });
});
afterAll(async () => {
  await test.close();
  await mail.close();
});

const parked = (id: string) =>
  eventually(
    () => test.rows(`select 1 from work_items where id = $1 and due_at = 'infinity'`, [id]),
    (rows) => rows.length === 1,
  );

it('holds approved mail while the login is refused, tells it once, and sends it when the server lets us in', async () => {
  const desks = [new EscalationDesk(test), await EscalationDesk.ofOwn(test)];
  const sent = [];
  for (const desk of desks) {
    const { directiveId, approvalId, approval } = await desk.handInReady();
    expect((await desk.approve(approvalId)).status).toBe(200);
    const { workPacketId } = approval.packets[0];
    await parked(workPacketId);
    sent.push({ desk, directiveId, workPacketId });
    const packet = (await desk.client.get(`/work-packets/${workPacketId}`)).body;
    expect(packet).toMatchObject({
      status: 'queued',
      nextAttemptAt: null,
      result: { error: { code: 'MAIL_LOGIN', message: expect.stringContaining('reply 535') } },
    });
  }
  const { inviteId } = await (await TeamDesk.open(test)).invite('later@acme.example');
  await parked(inviteId);
  expect(mail.received).toEqual([]);

  // The check that this has called for finds it red, and owners and admins are asked.
  const [first] = desks as [EscalationDesk, EscalationDesk];
  const [connector] = await eventually(
    () =>
      test.rows<{ id: string }>(
        `select connector_id as id from connectors where kind = 'mail' and status = 'red'`,
      ),
    (rows) => rows.length === 1,
  );
  const escalation = await first.opened(connector!.id, 'connector_red');
  expect(escalation.reason).toContain('reply 535');

  letsIn = true;
  await first.decided(escalation.id, 'check');
  for (const { desk, directiveId } of sent) await desk.until(directiveId, 'executed');
  await eventually(
    async () => mail.received.flatMap(({ to }) => to),
    (to) => to.includes('later@acme.example'),
  );
  expect(mail.received.filter(({ to }) => to.includes('jane@acme.example'))).toHaveLength(2);
});
