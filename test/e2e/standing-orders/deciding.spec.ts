import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Work } from '../../../src/platform/work/work.js';
import type { DirectiveView } from '../../../src/features/directives/directives.dto.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
});
afterAll(() => test.close());

/** Hands in a mail that nobody wants to approve. */
async function handIn(address: string): Promise<string> {
  const answer = await workspace.owner.post('/directives', {
    directive: `Email ${address}, subject "Delivery": The delivery arrives on Friday.`,
    capo: 'capo_marketing',
    requiresApproval: false,
  });
  expect(answer.body).toMatchObject({ status: 'queued', approvalId: null });
  return answer.body.directiveId;
}

/** The directive when it has ended, or waits for a person. */
function ended(directiveId: string): Promise<DirectiveView> {
  return eventually(
    async () => (await desk.elsewhere(workspace.owner).get<DirectiveView>(`/directives/${directiveId}`)).body,
    ({ status }) => !['queued', 'executing', 'sending'].includes(status),
  );
}

async function explanation({ approvalId }: DirectiveView): Promise<string[]> {
  const { body } = await workspace.owner.get(`/approvals/${approvalId}`);
  expect(body).toMatchObject({ status: 'pending', ready: true, policy: { outcome: 'require_approval' } });
  return body.policy.explanation;
}

/** How many decisions wait: for what is used up of the limits, or for the decision before. */
async function deciding(): Promise<number> {
  const decisions = await test.rows(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
       and (query like '%app.order_usage%' or query like '%pg_advisory_xact_lock%')`,
  );
  return decisions.length;
}

/** The mails that went out for these directives. */
async function mailsOf(...directives: DirectiveView[]) {
  const outbox = join(test.dataDir, 'outbox');
  const packets = directives.flatMap(({ workPacketIds }) => workPacketIds);
  const files = await readdir(outbox).catch(() => []);
  const own = files.filter((file) => packets.some((packet) => file.startsWith(packet)));
  return Promise.all(own.map(async (file) => PostalMime.parse(await readFile(join(outbox, file)))));
}

describe('an order that allows', () => {
  it('lets a mail to its domain go out without an approval', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME, workspace.owner);
    const directive = await ended(await handIn('jane@acme.example'));
    expect(directive).toMatchObject({ status: 'executed', approvalId: null });
    expect(directive.history.map(({ to }) => to)).toEqual(['queued', 'executing', 'sending', 'executed']);
    const [mail, ...more] = await mailsOf(directive);
    expect(mail!.to).toEqual([{ address: 'jane@acme.example', name: '' }]);
    expect(more).toEqual([]);
    const [packet] = await test.rows<{ decision: object }>(
      'select decision from work_packets where directive_id = $1',
      [directive.directiveId],
    );
    expect(packet!.decision).toMatchObject({
      outcome: 'allow',
      explanation: ['The standing order "Mail to Acme" allows this work packet.'],
      matched: [{ standingOrderId, version: 1, effect: 'allow' }],
    });
    const uses = await test.rows('select 1 from standing_order_uses where standing_order_id = $1', [
      standingOrderId,
    ]);
    expect(uses).toHaveLength(1);
  });

  it('is no reason for asking where the directive was handed in for approval', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const text = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
    const { body } = await desk.elsewhere(workspace.owner).post('/directive', { text, capo: 'capo_ops' });
    const approval = await desk.elsewhere(workspace.owner).get(`/approvals/${body.approvalId}?wait=10`);
    expect(approval.body).toMatchObject({
      ready: true,
      policy: { outcome: 'allow', explanation: ['The directive was handed in for approval.'] },
    });
  });

  it('stops a mail to another domain at review, and says why', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    const directive = await ended(await handIn('jane@elsewhere.example'));
    expect(directive.status).toBe('pending_approval');
    expect(await explanation(directive)).toEqual(['No standing order allows this work packet.']);
    expect(await mailsOf(directive)).toEqual([]);
  });

  it('says nothing while it is a draft, paused or archived', async () => {
    const standingOrderId = await desk.create(MAIL_TO_ACME, workspace.owner);
    const reviewed = async () => {
      const directive = await ended(await handIn('jane@acme.example'));
      expect(directive.status).toBe('pending_approval');
    };
    await reviewed();
    await desk.activate(standingOrderId, workspace.owner);
    await workspace.owner.post(`/standing-orders/${standingOrderId}/pause`);
    await reviewed();
    await workspace.owner.delete(`/standing-orders/${standingOrderId}`);
    await reviewed();
  });

  it('lets one of two concurrent mails through when its limit is one a day', async () => {
    await desk.active({ ...MAIL_TO_ACME, limits: { maxPerDay: 1 } }, workspace.owner);
    // As over two processes: one drafts one directive of a workspace at a time.
    test.app.get(Work).kinds.get('directive.draft')!.perQueue = 2;
    // Both wait before what is used up is read, else the first is decided before the second comes.
    const holder = await test.database.owner.connect();
    let handedIn: string[];
    try {
      await holder.query('begin');
      await holder.query('lock standing_order_uses');
      handedIn = await Promise.all([handIn('jane@acme.example'), handIn('joe@acme.example')]);
      await eventually(async () => (await deciding()) === 2);
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    const directives = await Promise.all(handedIn.map(ended));
    expect(directives.map(({ status }) => status).toSorted()).toEqual(['executed', 'pending_approval']);
    const waiting = directives.find(({ status }) => status === 'pending_approval')!;
    expect((await explanation(waiting))[0]).toMatch(
      /^The standing order "Mail to Acme" would allow this work packet, but it would be work packet 2 of this day/,
    );
    expect(await mailsOf(...directives)).toHaveLength(1);
  });

  it('lets nothing through while the guardian is supervised', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    await workspace.owner.put('/guardian/mode', { mode: 'supervised' });
    const directive = await ended(await handIn('jane@acme.example'));
    expect(directive.status).toBe('pending_approval');
    expect(await explanation(directive)).toContain(
      'The guardian is supervised: every work packet needs an approval.',
    );
    expect(await mailsOf(directive)).toEqual([]);
  });
});

describe('an order that denies', () => {
  it('fails the directive, whatever else allows it', async () => {
    await desk.active(MAIL_TO_ACME, workspace.owner);
    await desk.create(NO_MAIL, workspace.owner);
    const directive = await ended(await handIn('jane@acme.example'));
    expect(directive).toMatchObject({ status: 'failed', approvalId: null, error: { code: 'POLICY_DENIED' } });
    expect(directive.error!.message).toContain('The standing order "No mail" forbids this work packet.');
    expect(await mailsOf(directive)).toEqual([]);
    expect(
      await test.rows('select status from work_packets where directive_id = $1', [directive.directiveId]),
    ).toEqual([{ status: 'denied' }]);
  });

  it('leaves a reason on the approval of a draft that is made again once other orders allow it', async () => {
    const first = await ended(await handIn('jane@acme.example'));
    const standingOrderId = await desk.create(NO_MAIL, workspace.owner);
    const owner = () => desk.elsewhere(workspace.owner);
    expect((await owner().post(`/approvals/${first.approvalId}/approve`)).status).toBe(200);
    expect((await ended(first.directiveId)).status).toBe('failed');
    expect((await owner().post(`/standing-orders/${standingOrderId}/pause`)).status).toBe(200);
    await desk.active(MAIL_TO_ACME, workspace.owner);
    expect((await owner().post(`/directives/${first.directiveId}/retry`)).status).toBe(200);
    const { approvalId } = (await owner().get(`/directives/${first.directiveId}`)).body;
    const { body } = await eventually(
      () => owner().get(`/approvals/${approvalId}`),
      ({ body: { ready } }) => ready,
    );
    expect(body.policy.explanation).toEqual([
      'A person was asked about an earlier version, so a person decides on this one too.',
    ]);
  });

  it('says so to a person who decides on the approval that it has ended', async () => {
    await desk.create(NO_MAIL, workspace.owner);
    const directive = 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.';
    const asked = await workspace.owner.post('/directives', { directive, capo: 'capo_marketing' });
    const { directiveId, approvalId } = asked.body;
    await eventually(
      async () => (await desk.elsewhere(workspace.owner).get(`/directives/${directiveId}`)).body,
      ({ status }) => status === 'failed',
    );
    const answer = await desk.elsewhere(workspace.owner).post(`/approvals/${approvalId}/approve`);
    expect([answer.status, answer.body.error]).toMatchObject([
      409,
      {
        code: 'APPROVAL_ALREADY_DECIDED',
        message: expect.stringMatching(
          /^This approval was cancelled: The standing order "No mail" forbids this work packet\. .*\.$/,
        ),
        details: { status: 'cancelled' },
      },
    ]);
  });
});
