import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('the main job', () => {
  it('leads from hand-in through draft and approval to the mail, with a receipt for every step', async () => {
    const handedIn = await test.owner.post('/directive', {
      text: 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.',
    });
    expect(handedIn.status).toBe(201);
    expect(handedIn.body).toEqual({
      directiveId: expect.stringMatching(/^dir_/),
      approvalId: expect.stringMatching(/^apr_/),
      status: 'pending_approval',
    });
    const { directiveId, approvalId } = handedIn.body;
    expect(handedIn.headers.get('location')).toBe(`/api/pro/directives/${directiveId}`);

    const approval = await test.owner.get(`/approvals/${approvalId}?wait=10`);
    expect(approval.body).toMatchObject({ ready: true, status: 'pending', reversibility: 'irreversible' });
    const [packet] = approval.body.packets;
    expect(packet.action).toMatchObject({ type: 'email.send', params: { to: ['jane@acme.example'] } });

    const approved = await test.owner.post(`/approvals/${approvalId}/approve`, undefined, {
      'If-Match': `"${approval.body.contentHash}"`,
    });
    expect(approved.status).toBe(200);
    expect(approved.body).toMatchObject({ status: 'approved', directiveStatus: 'sending' });

    const done = await eventually(
      async () => (await test.owner.get(`/directives/${directiveId}`)).body,
      (directive) => directive.status === 'executed',
    );
    expect(done.history.map((change: { to: string }) => change.to)).toEqual([
      'pending_approval',
      'sending',
      'executed',
    ]);

    const outbox = join(test.dataDir, 'outbox');
    const files = await readdir(outbox);
    expect(files).toEqual([`${packet.workPacketId}.eml`]);
    const mail = await PostalMime.parse(await readFile(join(outbox, files[0]!)));
    expect(mail.to).toEqual([{ address: 'jane@acme.example', name: '' }]);
    expect(mail.subject).toBe(packet.action.params.subject);
    expect(mail.text).toContain('Friday');

    const receipts = await test.rows<{ action: string }>(
      'select action from receipts where directive_id = $1 order by seq',
      [directiveId],
    );
    expect(receipts.map((receipt) => receipt.action)).toEqual([
      'directive.created',
      'approval.requested',
      'directive.routed',
      'directive.started',
      'directive.drafted',
      'approval.ready',
      'approval.approved',
      'directive.sending',
      'packet.executed',
      'directive.executed',
    ]);
  });
});
