import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { type MailServer, startMailServer } from './mail-server.js';

const TEXT = 'Email jane@acme.example, subject "Your order": "Your order ships on Friday."';

describe('the Reply-To of the settings', () => {
  let mail: MailServer;
  let test: TestApp;
  let desk: Desk;
  beforeAll(async () => {
    mail = await startMailServer();
    test = await startTestApp({ SMTP_URL: mail.url, MAIL_FROM: 'Acme <ops@acme.example>' });
    desk = new Desk(test);
  });
  afterAll(async () => {
    await test.close();
    await mail.close();
  });

  it('is shown with the draft, and stays the one that was approved when the settings change', async () => {
    await desk.client.put('/settings', { sender: { replyTo: 'care@acme.example' } });
    const { directiveId, approvalId, approval } = await desk.handInReady({ text: TEXT });
    expect(approval.packets[0].action.params.replyTo).toBe('care@acme.example');
    expect(approval.output.body).toContain('**Reply-To:** care@acme.example');

    await desk.client.put('/settings', { sender: { replyTo: 'other@acme.example' } });
    expect((await desk.approve(approvalId, { 'If-Match': approval.contentHash })).status).toBe(200);
    await desk.until(directiveId, 'executed');
    const { bytes } = mail.received.at(-1)!;
    expect(bytes.toString('latin1')).toMatch(/^Reply-To: care@acme\.example\r$/m);
    expect(await PostalMime.parse(bytes)).toMatchObject({
      from: { name: 'Acme', address: 'ops@acme.example' },
      replyTo: [{ address: 'care@acme.example', name: '' }],
    });
    const { items } = (await desk.client.get('/feed?limit=100')).body;
    const sentence = items.find(({ action }: { action: string }) => action === 'packet.executed').text;
    expect(sentence).toMatch(/ sent the mail "/);
  });

  it('is in no mail when there is none', async () => {
    await desk.client.put('/settings', { sender: { replyTo: null } });
    const { directiveId, approvalId, approval } = await desk.handInReady({ text: TEXT });
    expect(approval.packets[0].action.params).not.toHaveProperty('replyTo');
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    expect(mail.received.at(-1)!.bytes.toString('latin1')).not.toMatch(/^Reply-To:/im);
  });
});

describe('without a mail server', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ BOOTSTRAP_OWNER_NAME: 'Ada Lovelace' });
  });
  afterAll(() => test.close());

  it('the feed says that the mail was written to a file and reached nobody; the file has the Reply-To', async () => {
    const desk = new Desk(test);
    await desk.client.put('/settings', { sender: { replyTo: 'care@acme.example' } });
    const { directiveId, approvalId } = await desk.handInReady({ text: TEXT });
    await desk.approve(approvalId);
    await desk.until(directiveId, 'executed');
    const [packet] = await desk.packets(directiveId);
    const file = `outbox/${packet.workPacketId}.eml`;
    expect(packet.result).toMatchObject({ transport: 'file', response: file });
    const { items } = (await desk.client.get('/feed?limit=100')).body;
    const { text } = items.find(({ action }: { action: string }) => action === 'packet.executed');
    expect(text).toContain(
      `to a file (${file}); nobody has received it, since no mail server is configured.`,
    );
    expect(await readFile(join(test.dataDir, file), 'latin1')).toMatch(/^Reply-To: care@acme\.example\r$/m);
    expect((await desk.client.get('/bootstrap')).body.features).toMatchObject({ mailServer: false });
    const asked = await desk.client.post('/consigliere/chat', { message: 'What went out today?' });
    const id = /pkt_[0-9a-z]{26}/.exec(asked.body.reply)![0];
    const { reply } = (await desk.client.post('/consigliere/chat', { message: `Explain ${id}` })).body;
    expect(reply).toContain('went to a file, which nobody has received');
    expect(reply).not.toContain('accepted');
  });

  it('the owner has the name of BOOTSTRAP_OWNER_NAME, which signs', async () => {
    const { operator } = (await test.owner.get('/profile')).body;
    expect(operator).toMatchObject({ displayName: 'Ada Lovelace', email: 'owner@example.com' });
  });
});
