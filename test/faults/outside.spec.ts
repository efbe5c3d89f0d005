import { afterAll, beforeAll, expect, it } from 'vitest';
import { Desk } from '../e2e/directives/desk.js';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import { type Service, startService } from '../support/processes.js';
import { eventually, type TestApp } from '../support/test-app.js';

/** A process that is stopped while the mail server answers, for longer than its lease. */
let service: Service;
let mail: MailServer;
const answer = Promise.withResolvers<undefined>();

beforeAll(async () => {
  mail = await startMailServer({ mail: () => answer.promise });
  service = await startService(1, { SMTP_URL: mail.url, MAIL_FROM: 'Acme <ops@acme.example>' });
}, 90_000);
afterAll(async () => {
  await service.close();
  await mail.close();
});

it(
  'says what the mail server answered when it goes on, and nothing is sent twice',
  { timeout: 120_000 },
  async () => {
    const [stopped] = service.processes;
    const at = (url: string) => new Desk({ url, rows: service.rows } as unknown as TestApp, service.token);
    const { directiveId, approvalId, approval } = await at(stopped!.url).handInReady();
    expect((await at(stopped!.url).approve(approvalId)).status).toBe(200);
    await eventually(
      async () => mail.received.length,
      (count) => count === 1,
    );
    stopped!.signal('SIGSTOP');
    const other = await service.start();
    const desk = at(other.url);
    // The lease is over, so the other process finds it, and nobody knows whether it arrived.
    await desk.until(directiveId, 'failed', 30);
    answer.resolve(undefined);
    stopped!.signal('SIGCONT');
    await desk.until(directiveId, 'executed', 30);
    const { workPacketId } = approval.packets[0];
    const [packet] = await desk.packets(directiveId);
    expect(packet).toMatchObject({ workPacketId, status: 'executed', attempts: 1 });
    expect(await desk.actions(directiveId)).toEqual(
      expect.arrayContaining(['packet.failed', 'packet.confirmed']),
    );
    const open = await service.rows(`select 1 from escalations where status = 'open'`);
    expect(open).toEqual([]);
    expect(mail.received).toHaveLength(1);
  },
);
