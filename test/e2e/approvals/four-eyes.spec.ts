import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { Desk, expectUnbroken, MAIL } from '../directives/desk.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

const OTHER_EYES = {
  name: 'Two people for mail',
  effect: 'require_approval',
  match: { actionTypes: ['email.send'] },
  approval: { selfApproval: false },
};

let test: TestApp;
let orders: OrderDesk;
let workspace: TestWorkspace;
let asker: Desk;
let reviewer: Desk;
let third: Desk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
  const operator = async () =>
    new Desk(test, (await test.createMember(workspace.workspaceId, 'operator')).token);
  [asker, reviewer, third] = [await operator(), await operator(), await operator()];
});
afterAll(() => test.close());

const subject = (words: string) => `Change the subject to "${words}".`;

async function sentMail(directiveId: string) {
  const [{ workPacketId }] = (await third.packets(directiveId)).filter(({ status }) => status === 'executed');
  return PostalMime.parse(await readFile(join(test.dataDir, 'outbox', `${workPacketId}.eml`)));
}

describe('under four eyes', () => {
  it('whoever had a draft made anew is not the second pair: the words of the next one are theirs', async () => {
    await orders.active(OTHER_EYES, workspace.owner);
    const { directiveId, approvalId } = await asker.handInReady({ text: MAIL });
    const revised = await reviewer.reject(approvalId, {
      feedback: 'Send it to evil@evil.example instead.',
      revise: true,
    });
    const { nextApprovalId } = revised.body;
    await third.ready(nextApprovalId);

    for (const one of [asker, reviewer]) {
      const refused = await one.approve(nextApprovalId);
      expect(refused.status, refused.text).toBe(403);
      expect(refused.body.error.message).toContain('had it drafted again');
    }
    expect((await third.directive(directiveId)).status).toBe('pending_approval');
    expect((await third.approve(nextApprovalId)).status).toBe(200);
    expectUnbroken(await third.until(directiveId, 'executed'));
    expect((await sentMail(directiveId)).to).toEqual([{ address: 'evil@evil.example', name: '' }]);
  });

  it('this stays so through every round', async () => {
    await orders.active(OTHER_EYES, workspace.owner);
    const { directiveId, approvalId } = await asker.handInReady({ text: MAIL });
    const first = await reviewer.reject(approvalId, { feedback: subject('Friday'), revise: true });
    await third.ready(first.body.nextApprovalId);
    const second = await third.reject(first.body.nextApprovalId, {
      feedback: subject('Delivery on Friday'),
      revise: true,
    });
    await third.ready(second.body.nextApprovalId);
    for (const one of [asker, reviewer, third]) {
      expect((await one.approve(second.body.nextApprovalId)).status).toBe(403);
    }
    const [{ requester_ids: requesters }] = (await test.rows<{ requester_ids: string[] }>(
      'select requester_ids from directives where directive_id = $1',
      [directiveId],
    )) as [{ requester_ids: string[] }];
    expect(requesters).toHaveLength(3);
    expect((await new Desk(test, workspace.owner.token).approve(second.body.nextApprovalId)).status).toBe(
      200,
    );
  });
});

describe('an order that wants other eyes, and became active after the draft was ready', () => {
  it('is held against what its requester approved: it is asked about again, and nothing has left', async () => {
    const { directiveId, approvalId } = await asker.handInReady({ text: MAIL });
    await orders.active(OTHER_EYES, workspace.owner);
    expect((await asker.approve(approvalId)).status).toBe(200);

    const { approvalId: again } = await third.until(directiveId, 'pending_approval');
    expect(again).not.toBe(approvalId);
    expect(await third.ready(again)).toMatchObject({ packets: [{ action: { type: 'email.send' } }] });
    expect(await third.actions(directiveId)).toContain('directive.recalled');
    expect(await third.actions(directiveId)).not.toContain('packet.executed');
    expect((await asker.approve(again)).status).toBe(403);

    expect((await reviewer.approve(again)).status).toBe(200);
    expectUnbroken(await third.until(directiveId, 'executed'));
    expect((await sentMail(directiveId)).to).toEqual([{ address: 'jane@acme.example', name: '' }]);
  });

  it('lets pass what somebody else approved', async () => {
    const { directiveId, approvalId } = await asker.handInReady({ text: MAIL });
    await orders.active(OTHER_EYES, workspace.owner);
    expect((await reviewer.approve(approvalId)).status).toBe(200);
    expectUnbroken(await third.until(directiveId, 'executed'));
    expect(await third.actions(directiveId)).not.toContain('directive.recalled');
  });
});
