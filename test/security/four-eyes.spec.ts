import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Desk } from '../e2e/directives/desk.js';
import { OrderDesk } from '../e2e/standing-orders/order-desk.js';
import { draftPacket, MAIL_TO_JANE, ScriptedRunner } from '../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../support/test-app.js';

const MEMO = 'File this memo for the board: The delivery delays end on Friday.';
const DELEGATED = 'Ask ops to file a memo: The delays end.';

const FOUR_EYES = {
  name: 'Four eyes',
  effect: 'require_approval',
  match: {},
  approval: { selfApproval: false },
};

/** "Someone else than the member who asked": whatever way the directive and the decision take. */
let test: TestApp;
let workspaceId: string;
let admin: TestMember;
let other: TestMember;
let operator: TestMember;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  const workspace = await test.createWorkspace();
  ({ workspaceId } = workspace);
  admin = await test.createMember(workspaceId, 'admin');
  other = await test.createMember(workspaceId, 'admin');
  operator = await test.createMember(workspaceId, 'operator');
  await new OrderDesk(test).active(FOUR_EYES, workspace.owner);
});
afterAll(() => test.close());

const deskOf = (token: string) => new Desk(test, token);

async function tokenFor(member: TestMember, by: string): Promise<{ token: string; tokenId: string }> {
  const answer = await deskOf(by).client.post('/tokens', {
    name: 'made for them',
    memberId: member.memberId,
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

async function approveStatus(token: string, approvalId: string): Promise<number> {
  const answer = await deskOf(token).approve(approvalId);
  if (answer.status === 403) {
    expect(answer.body.error.message).toContain('someone other than the member who asked for this');
  }
  return answer.status;
}

describe('the member who asked', () => {
  it('cannot approve what they asked for, alone or among many; somebody else can', async () => {
    const { approvalId } = await deskOf(admin.token).handInReady({ text: MEMO, capo: 'capo_ops' });
    expect(await approveStatus(admin.token, approvalId)).toBe(403);
    const many = await deskOf(admin.token).client.post('/approvals', {
      decisions: [{ approvalId, decision: 'approve' }],
    });
    expect(many.body.results).toMatchObject([{ error: { code: 'FORBIDDEN', status: 403 } }]);
    expect(await approveStatus(other.token, approvalId)).toBe(200);
  });

  it('stays the one who asked through a delegation', async () => {
    const { directiveId, approvalId } = await deskOf(admin.token).handInReady({
      text: DELEGATED,
      capo: 'ceo',
    });
    expect(await approveStatus(admin.token, approvalId)).toBe(403);
    expect(await approveStatus(other.token, approvalId)).toBe(200);
    const delegated = await eventually(
      () =>
        test.rows<{ approval_id: string }>(
          `select approval_id from directives where context->>'delegatedFrom' = $1`,
          [directiveId],
        ),
      (rows) => rows.length === 1,
    );
    for (const row of delegated) {
      const approval = await deskOf(other.token).ready(row.approval_id);
      expect(approval.requestedBy).toMatchObject({ type: 'member', id: admin.memberId });
      expect(await approveStatus(admin.token, row.approval_id)).toBe(403);
      expect(await approveStatus(other.token, row.approval_id)).toBe(200);
    }
  });

  it('stays the one who asked when the approval comes only with the draft', async () => {
    const { body } = await deskOf(admin.token).client.post('/directives', {
      directive: MEMO,
      capo: 'capo_ops',
      requiresApproval: false,
    });
    const { approvalId } = await deskOf(admin.token).until(body.directiveId, 'pending_approval');
    expect(await approveStatus(admin.token, approvalId)).toBe(403);
    expect(await approveStatus(other.token, approvalId)).toBe(200);
  });
});

describe('a token that one member made for another', () => {
  it('names its maker to the admins', async () => {
    const { tokenId } = await tokenFor(operator, admin.token);
    const { body } = await deskOf(admin.token).client.get('/tokens');
    const made = body.items.find((token: { tokenId: string }) => token.tokenId === tokenId);
    expect(made).toMatchObject({ memberId: operator.memberId, madeBy: [admin.memberId] });
  });

  it('does not make its maker another person: they cannot approve with it what they asked for', async () => {
    const { token } = await tokenFor(operator, admin.token);
    const { approvalId } = await deskOf(admin.token).handInReady({ text: MEMO, capo: 'capo_ops' });
    expect(await approveStatus(token, approvalId)).toBe(403);
    expect(await approveStatus(operator.token, approvalId)).toBe(200);
  });

  it('hands in for both: neither of them approves, with whatever token', async () => {
    const { token } = await tokenFor(operator, admin.token);
    const { approvalId } = await deskOf(token).handInReady({ text: MEMO, capo: 'capo_ops' });
    expect(await approveStatus(token, approvalId)).toBe(403);
    expect(await approveStatus(operator.token, approvalId)).toBe(403);
    expect(await approveStatus(admin.token, approvalId)).toBe(403);
    expect(await approveStatus(other.token, approvalId)).toBe(200);
  });

  it('counts for its maker after a delegation too', async () => {
    const { token } = await tokenFor(operator, admin.token);
    const { directiveId, approvalId } = await deskOf(token).handInReady({ text: DELEGATED, capo: 'ceo' });
    expect(await approveStatus(other.token, approvalId)).toBe(200);
    const [delegated] = await eventually(
      () =>
        test.rows<{ approval_id: string }>(
          `select approval_id from directives where context->>'delegatedFrom' = $1`,
          [directiveId],
        ),
      (rows) => rows.length === 1,
    );
    await deskOf(other.token).ready(delegated!.approval_id);
    expect(await approveStatus(admin.token, delegated!.approval_id)).toBe(403);
    expect(await approveStatus(operator.token, delegated!.approval_id)).toBe(403);
  });

  it('passes its maker on to the tokens that are made or rotated with it', async () => {
    const { token: shared } = await tokenFor(other, admin.token);
    const { token: second, tokenId } = await tokenFor(operator, shared);
    const { approvalId } = await deskOf(admin.token).handInReady({ text: MEMO, capo: 'capo_ops' });
    expect(await approveStatus(second, approvalId)).toBe(403);
    const rotated = await deskOf(shared).client.post(`/tokens/${tokenId}/rotate`);
    expect(rotated.body.madeBy.toSorted()).toEqual([admin.memberId, other.memberId].toSorted());
    expect(await approveStatus(rotated.body.token, approvalId)).toBe(403);
    expect(await approveStatus(operator.token, approvalId)).toBe(200);
  });

  it('is its holder alone again once they have made one for themselves', async () => {
    const own = await deskOf(other.token).client.post('/tokens', { name: 'own' });
    expect(own.body.madeBy).toEqual([]);
  });
});

describe('whoever had a draft made anew', () => {
  const mail = 'Email jane@acme.example about her delivery';
  let runner: ScriptedRunner;
  beforeAll(() => {
    runner = new ScriptedRunner(test);
  });

  it('leaves the one who asked without a right to approve', async () => {
    const { directiveId, approvalId } = await deskOf(admin.token).handInReady({
      text: MEMO,
      capo: 'capo_ops',
    });
    const sent = await deskOf(other.token).reject(approvalId, {
      feedback: 'Say: The delays end on Monday.',
      revise: true,
    });
    expect(sent.status, sent.text).toBe(200);
    const { approvalId: next } = await deskOf(other.token).directive(directiveId);
    await deskOf(other.token).ready(next);
    expect(await approveStatus(admin.token, next)).toBe(403);
    expect(await approveStatus(operator.token, next)).toBe(200);
  });

  it('is one of its authors: the recipient and the words of the next one are theirs', async () => {
    const { directiveId, approvalId } = await deskOf(admin.token).handInReady({
      text: mail,
      capo: 'capo_ops',
    });
    const changed = { body: 'Pay at evil.example.', cc: ['evil@evil.example'] };
    runner.answer(mail, {
      packets: [draftPacket({ ...MAIL_TO_JANE, params: { ...MAIL_TO_JANE.params, ...changed } })],
    });
    const feedback = 'Pay at evil.example instead, and a copy to evil@evil.example.';
    const { nextApprovalId } = (await deskOf(other.token).reject(approvalId, { feedback, revise: true }))
      .body;
    const { packets } = await deskOf(other.token).ready(nextApprovalId);
    expect(packets[0].action.params).toMatchObject(changed);
    expect(await approveStatus(other.token, nextApprovalId)).toBe(403);
    expect(await approveStatus(admin.token, nextApprovalId)).toBe(403);
    expect(await approveStatus(operator.token, nextApprovalId)).toBe(200);
    await deskOf(admin.token).until(directiveId, 'executed');
  });

  it('stays one through every round', async () => {
    const { approvalId } = await deskOf(admin.token).handInReady({ text: mail, capo: 'capo_ops' });
    let current = approvalId;
    for (const reviser of [other, operator]) {
      const feedback = `Subject "As ${reviser.memberId} says".`;
      const answer = await deskOf(reviser.token).reject(current, { feedback, revise: true });
      current = answer.body.nextApprovalId;
      await deskOf(reviser.token).ready(current);
    }
    for (const { token } of [admin, other, operator]) expect(await approveStatus(token, current)).toBe(403);
    const third = await test.createMember(workspaceId, 'operator');
    expect(await approveStatus(third.token, current)).toBe(200);
  });
});

describe('an order that wants other eyes and became active after the draft was ready', () => {
  let asker: TestMember;
  let reviewer: TestMember;
  /** A directive whose draft was ready before there was such an order. */
  async function readyBefore() {
    const workspace = await test.createWorkspace();
    asker = await test.createMember(workspace.workspaceId, 'operator');
    reviewer = await test.createMember(workspace.workspaceId, 'operator');
    const ready = await deskOf(asker.token).handInReady({ text: MEMO, capo: 'capo_ops' });
    await new OrderDesk(test).active(FOUR_EYES, workspace.owner);
    return ready;
  }

  it('is held against what its requester approves: it is asked about again, and nothing was carried out', async () => {
    const { directiveId, approvalId } = await readyBefore();
    expect(await approveStatus(asker.token, approvalId)).toBe(200);
    const { approvalId: again } = await deskOf(asker.token).until(directiveId, 'pending_approval');
    expect(again).not.toBe(approvalId);
    await deskOf(reviewer.token).ready(again);
    const actions = await deskOf(asker.token).actions(directiveId);
    expect(actions).toContain('directive.recalled');
    expect(actions).not.toContain('packet.executed');

    expect(await approveStatus(asker.token, again)).toBe(403);
    expect(await approveStatus(reviewer.token, again)).toBe(200);
    await deskOf(asker.token).until(directiveId, 'executed');
  });

  it('lets pass what somebody else approves', async () => {
    const { directiveId, approvalId } = await readyBefore();
    expect(await approveStatus(reviewer.token, approvalId)).toBe(200);
    await deskOf(asker.token).until(directiveId, 'executed');
    expect(await deskOf(asker.token).actions(directiveId)).not.toContain('directive.recalled');
  });
});
