import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ReceiptProofs, verifyLog } from '../../../src/features/verifier/verifier.js';
import type { ReceiptContent } from '../../../src/platform/receipts/receipt.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Desk, DOCUMENT, MAIL } from '../directives/desk.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { leaveQuestion } from './question-rows.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

let test: TestApp;
let workspaceId: string;
let owner: Client;
let asker: TestMember;
let admin: TestMember;
let ann: TestMember;
let bob: TestMember;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  ({ workspaceId, owner } = await test.createWorkspace());
  [asker, admin, ann, bob] = [
    await test.createMember(workspaceId, 'operator'),
    await test.createMember(workspaceId, 'admin'),
    await test.createMember(workspaceId, 'operator'),
    await test.createMember(workspaceId, 'operator'),
  ];
});
afterEach(async () => {
  // Whatever was done, its receipts prove it.
  const { text } = await owner.get('/audit-feed?format=jsonl');
  const { proofs } = await verifyLog(Readable.from([Buffer.from(text)]), workspaceId);
  expect(proofs.areSound, proofs.inWords().join('\n')).toBe(true);
});
afterAll(() => test.close());

const deskOf = (member: Client) => new Desk(test, member.token);
const orderOf = (approval: object, more: object = {}) => ({
  name: 'Two people',
  effect: 'require_approval',
  match: {},
  approval,
  ...more,
});
const active = (approval: object, more: object = {}) =>
  new OrderDesk(test).active(orderOf(approval, more), owner);
const handIn = (text = DOCUMENT) => deskOf(asker).handInReady({ text, capo: 'capo_ops' });
const approve = (member: Client, approvalId: string, headers = {}) =>
  deskOf(member).approve(approvalId, headers);
const idOf = ({ memberId }: TestMember) => memberId;

async function receiptsOf(approvalId: string) {
  const rows = await test.rows<{ body: string }>(
    'select body from receipts where entity_id = $1 order by seq',
    [approvalId],
  );
  return rows.map(({ body }) => JSON.parse(body) as ReceiptContent);
}
const actsOn = async (approvalId: string) => (await receiptsOf(approvalId)).map(({ action }) => action);
const rowOf = async (approvalId: string) =>
  (await test.rows<Record<string, any>>('select * from approvals where approval_id = $1', [approvalId]))[0]!;

/** An action request of an agent whose token the admin made, and its approval. */
async function ask(params: object = { order: 'A-17' }) {
  const made = await admin.post('/tokens', {
    name: newId('req'),
    agent: { name: newId('req') },
    tools: ['pay.*'],
  });
  expect(made.status, made.text).toBe(201);
  const bot = new Client(test.url, made.body.token);
  const asked = await bot.post('/action-requests', { tool: 'pay.refund', params });
  expect(asked.status, asked.text).toBe(201);
  return { ...(asked.body as { actionRequestId: string; approvalId: string }), bot };
}

describe('a quorum', () => {
  it('lets a draft go with the last of two approvals, each with its receipt', async () => {
    await active({ quorum: 2 });
    const { directiveId, approvalId, approval } = await handIn();
    expect(approval.votes).toEqual({ have: 0, need: 2, by: [], approvers: [] });
    expect(approval.policy.explanation).toContain(
      'The standing order "Two people" requires 2 people to approve this work packet.',
    );

    const first = await approve(ann, approvalId);
    expect([first.status, first.body]).toEqual([
      200,
      expect.objectContaining({ status: 'pending', votes: { have: 1, need: 2 }, decidedAt: null }),
    ]);
    const waiting = await deskOf(bob).approval(approvalId);
    expect(waiting).toMatchObject({
      status: 'pending',
      waitingFor: { reason: 'decision', message: expect.stringContaining('One more person') },
      votes: { have: 1, by: [{ by: { id: ann.memberId }, receiptId: first.body.receiptId }] },
    });
    expect((await deskOf(asker).directive(directiveId)).status).toBe('pending_approval');

    const again = await approve(ann, approvalId);
    expect([again.status, again.body]).toEqual([200, first.body]);

    const last = await approve(bob, approvalId);
    expect(last.body).toMatchObject({ status: 'approved', votes: { have: 2, need: 2 } });
    await deskOf(asker).until(directiveId, 'executed');
    expect(await actsOn(approvalId)).toEqual(['approval.requested', 'approval.voted', 'approval.approved']);
    const receipts = await receiptsOf(approvalId);
    expect(receipts.at(-1)!.summary).toContain('2 of 2 approvals');
    expect(receipts.slice(1).map(({ actor, details }) => [actor.id, details['votes']])).toEqual([
      [ann.memberId, { have: 1, need: 2 }],
      [bob.memberId, { have: 2, need: 2 }],
    ]);
    const decided = await deskOf(asker).approval(approvalId);
    expect(decided.votes.by.map(({ by }: any) => by.id)).toEqual([ann, bob].map(idOf));
  });

  it('holds for what an agent asks for; the member who made its token is no voter', async () => {
    await active({ quorum: 2 });
    const { actionRequestId, approvalId, bot } = await ask();
    expect((await approve(admin, approvalId)).status).toBe(403);
    expect((await approve(ann, approvalId)).body).toMatchObject({
      status: 'pending',
      directiveId: null,
      votes: { have: 1, need: 2 },
    });
    expect((await bot.get(`/action-requests/${actionRequestId}`)).body.status).toBe('pending');
    expect((await approve(bob, approvalId)).body.status).toBe('approved');
    expect((await bot.get(`/action-requests/${actionRequestId}`)).body).toMatchObject({
      status: 'approved',
      decision: { decidedBy: { id: bob.memberId } },
    });
  });

  it('counts members: a second token of one is the same person, and one made by another is nobody', async () => {
    await active({ quorum: 2 });
    const { approvalId } = await handIn();
    const own = await admin.post('/tokens', { name: 'second' });
    const shared = await admin.post('/tokens', { name: 'made for Bob', memberId: bob.memberId });
    expect([own.status, shared.status]).toEqual([201, 201]);
    await approve(admin, approvalId);
    const second = await approve(new Client(test.url, own.body.token), approvalId);
    expect(second.body).toMatchObject({ status: 'pending', votes: { have: 1, need: 2 } });
    const made = await approve(new Client(test.url, shared.body.token), approvalId);
    expect([made.status, made.body.error.message]).toEqual([
      403,
      expect.stringContaining('made by another member'),
    ]);
    expect((await approve(asker, approvalId)).status).toBe(403);
    expect((await rowOf(approvalId))['votes']).toEqual({ [admin.memberId]: expect.anything() });
  });

  it('is counted in bulk as well, and a rejection by one ends it', async () => {
    await active({ quorum: 2 });
    const [one, other] = [await handIn(), await handIn()];
    const decisions = [one, other].map(({ approvalId }) => ({ approvalId, decision: 'approve' }));
    const first = await ann.post('/approvals', { decisions });
    expect(first.body.results).toMatchObject([
      { status: 'pending', votes: { have: 1, need: 2 } },
      { status: 'pending', votes: { have: 1, need: 2 } },
    ]);
    expect((await deskOf(bob).reject(one.approvalId)).body.status).toBe('rejected');
    const second = await bob.post('/approvals', { decisions });
    expect(second.body.results).toMatchObject([
      { error: { code: 'APPROVAL_ALREADY_DECIDED' } },
      { status: 'approved', votes: { have: 2, need: 2 } },
    ]);
  });

  it('begins anew with an edit, whose author votes no more', async () => {
    await active({ quorum: 2 });
    const { approvalId, approval } = await handIn(MAIL);
    await approve(ann, approvalId);
    const [{ workPacketId, action }] = approval.packets;
    const packets = [{ workPacketId, params: { ...action.params, subject: 'Thursday' } }];
    const edited = await deskOf(bob).edit(approvalId, { packets }, approval.contentHash);
    expect(edited.body.votes).toMatchObject({ have: 0, need: 2, by: [] });
    expect((await receiptsOf(approvalId)).at(-1)).toMatchObject({
      action: 'approval.edited',
      details: { votesVoided: 1 },
    });
    const ifMatch = { 'If-Match': edited.body.contentHash };
    expect((await approve(bob, approvalId, ifMatch)).status).toBe(403);
    expect((await approve(ann, approvalId)).status).toBe(428);
    expect((await approve(ann, approvalId, ifMatch)).body.votes.have).toBe(1);
    expect((await approve(admin, approvalId, ifMatch)).body.status).toBe('approved');
  });

  it('rises where an edit makes an agent ask for more, and an edit that an order denies is refused', async () => {
    const more = (name: string, effect: string, amount: number, approval: object | null) =>
      new OrderDesk(test).active(
        { name, effect, match: { fields: { 'params.amount': { $gt: amount } } }, approval },
        owner,
      );
    await more('Large', 'require_approval', 500, { quorum: 3 });
    await more('Too large', 'deny', 9_000, null);
    const { approvalId } = await ask({ amount: 10 });
    const { contentHash, votes } = await deskOf(ann).approval(approvalId);
    expect(votes.need).toBe(1);
    const explanation = async () => (await rowOf(approvalId))['policy'].explanation.join(' ');
    expect(await explanation()).not.toContain('Large');
    const tooLarge = await deskOf(ann).edit(approvalId, { params: { amount: 10_000 } }, contentHash);
    expect([tooLarge.status, tooLarge.body.error.code]).toEqual([422, 'POLICY_DENIED']);
    const edited = await deskOf(ann).edit(approvalId, { params: { amount: 900 } }, contentHash);
    expect(edited.body.votes).toMatchObject({ have: 0, need: 3 });
    expect(await explanation()).toContain('Large');
    const own = await approve(ann, approvalId, { 'If-Match': edited.body.contentHash });
    expect(own.status).toBe(403);
  });
});

describe('an order that became active after somebody had approved what they had asked for', () => {
  it('has it approved again, by as many others as it wants', async () => {
    const { directiveId, approvalId } = await handIn();
    await active({ quorum: 2 });
    expect((await approve(asker, approvalId)).body.status).toBe('approved');
    const { approvalId: again } = await deskOf(asker).until(directiveId, 'pending_approval');
    expect(again).not.toBe(approvalId);
    expect((await deskOf(ann).ready(again)).votes).toMatchObject({ have: 0, need: 2 });
    expect((await approve(asker, again)).status).toBe(403);
    await approve(ann, again);
    expect((await approve(bob, again)).body.status).toBe('approved');
    await deskOf(asker).until(directiveId, 'executed');
  });
});

describe('named approvers', () => {
  it('are those with the role or a higher one, and the members named; of several orders those that all of them name', async () => {
    await active({ approvers: { roles: ['admin'], memberIds: [ann.memberId] } }, { name: 'Admins or Ann' });
    await active(
      { approvers: { roles: ['owner'], memberIds: [ann.memberId, bob.memberId] } },
      { name: 'Others' },
    );
    const { approvalId, approval } = await handIn();
    expect(approval.votes.approvers.map(({ name }: any) => name).toSorted()).toEqual([
      'Admins or Ann',
      'Others',
    ]);
    const byBob = await approve(bob, approvalId);
    expect([byBob.status, byBob.body.error.message]).toEqual([
      403,
      'The standing order "Admins or Ann" names who may approve this, and you are not among them.',
    ]);
    expect((await approve(admin, approvalId)).body.error.message).toContain('"Others"');
    expect((await approve(ann, approvalId)).body.status).toBe('approved');
    // The owner has every right of an admin.
    const second = await handIn();
    expect((await approve(owner, second.approvalId)).body.status).toBe('approved');
    // A rejection loosens nothing.
    const third = await handIn();
    expect((await deskOf(bob).reject(third.approvalId)).body.status).toBe('rejected');
  });

  it('that two orders have not in common: the queue names the orders, admins get an escalation, nobody approves', async () => {
    await active({ approvers: { memberIds: [ann.memberId] } }, { name: 'Ann' });
    await active({ approvers: { memberIds: [bob.memberId] } }, { name: 'Bob' });
    const { approvalId } = await handIn();
    const escalations = new EscalationDesk(test, workspaceId, owner.token);
    const { reason, options, id } = await escalations.opened(approvalId, 'approvers_missing');
    expect(reason).toContain('nobody of those whom each of the standing orders "Ann" and "Bob" names can');
    expect(options).toEqual(['reject', 'dismiss']);
    const { waitingFor, status } = await deskOf(ann).approval(approvalId);
    expect([status, waitingFor.reason, waitingFor.message]).toEqual([
      'pending',
      'approvers',
      expect.stringContaining('"Ann" and "Bob"'),
    ]);
    for (const member of [ann, bob, admin, owner]) {
      expect((await approve(member, approvalId)).status).toBe(403);
    }
    await escalations.decided(id, 'reject', 'Nobody can approve it.');
    expect((await rowOf(approvalId))['status']).toBe('rejected');
  });
});

describe('an order for people who are not there', () => {
  it.each([
    [
      'more people than may approve',
      () => ({ quorum: 9 }),
      'approval.quorum',
      'quorum is 9, but only 5 members may approve this',
    ],
    [
      'more than its approvers',
      () => ({ quorum: 3, approvers: { roles: ['admin'] } }),
      'approval.quorum',
      'quorum is 3, but only 2 members may approve this',
    ],
    [
      'a stranger',
      () => ({ approvers: { memberIds: [newId('mem')] } }),
      'approval.approvers.memberIds.0',
      'is not an active member who may approve this',
    ],
    ['nobody', () => ({ approvers: {} }), 'approval.approvers', 'approvers must name roles or memberIds'],
    [
      'viewers',
      () => ({ approvers: { roles: ['viewer'] } }),
      'approval.approvers.roles',
      'one of the following values',
    ],
    ['half a person', () => ({ quorum: 1.5 }), 'approval.quorum', 'integer'],
    ['nobody at all', () => ({ quorum: 0 }), 'approval.quorum', 'less than 1'],
  ])('asks for %s: it is refused, and the fault named', async (_what, approval, path, message) => {
    const answer = await owner.post('/standing-orders', orderOf(approval()));
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.details).toEqual([
      expect.objectContaining({ path, message: expect.stringContaining(message) }),
    ]);
  });

  it('allows, paces or denies: it names nobody', async () => {
    for (const effect of ['allow', 'deny']) {
      const answer = await owner.post(
        '/standing-orders',
        orderOf({ quorum: 2, approvers: { roles: ['admin'] } }, { effect }),
      );
      expect(answer.body.error.details.map(({ rule }: any) => rule)).toEqual([
        'onlyWithEffect',
        'onlyWithEffect',
      ]);
    }
  });

  it('is counted in the team of the order, and for all of them where most are', async () => {
    const teamId = await test.createTeam(workspaceId, newId('team'));
    const refused = await owner.post('/standing-orders', orderOf({ quorum: 3 }, { teamId }));
    expect(refused.body.error.details[0].message).toBe('quorum is 3, but only 2 members may approve this');
    for (const name of ['a', 'b', 'c', 'd'])
      await test.createMember(workspaceId, name === 'd' ? 'viewer' : 'operator', [teamId]);
    expect((await owner.post('/standing-orders', orderOf({ quorum: 5 }, { teamId }))).status).toBe(201);
    expect((await owner.post('/standing-orders', orderOf({ quorum: 6 }))).status).toBe(422);
  });
});

describe('people who leave', () => {
  it('are missed: the queue says so, admins get an escalation, and both end when somebody else may approve', async () => {
    await active({ quorum: 2, approvers: { memberIds: [asker, ann, bob].map(idOf) } });
    const { approvalId } = await handIn();
    const escalations = new EscalationDesk(test, workspaceId, owner.token);
    expect((await deskOf(ann).approval(approvalId)).waitingFor.reason).toBe('decision');
    await approve(ann, approvalId);
    expect((await owner.delete(`/members/${bob.memberId}`)).status).toBeLessThan(300);
    const { reason } = await escalations.opened(approvalId, 'approvers_missing');
    expect(reason).toContain('One more person has to approve it, but nobody');
    const { waitingFor } = (await owner.get('/approvals')).body.items[0];
    expect(waitingFor.reason).toBe('approvers');
    // They join again; the vote that was given stands.
    await test.rows(`update members set status = 'active' where member_id = $1`, [bob.memberId]);
    await eventually(
      () => escalations.about(approvalId),
      ([row]) => row!.status === 'resolved',
    );
    expect(await deskOf(ann).approval(approvalId)).toMatchObject({
      waitingFor: { reason: 'decision' },
      votes: { have: 1, need: 2 },
    });
  });

  it('are missed after a change of role and after an edit, too; what ends the approval ends the escalation', async () => {
    await active({ quorum: 2, approvers: { roles: ['admin'] } });
    const { approvalId, approval } = await handIn(MAIL);
    const escalations = new EscalationDesk(test, workspaceId, owner.token);
    const [{ workPacketId, action }] = approval.packets;
    const packets = [{ workPacketId, params: { ...action.params, subject: 'Thursday' } }];
    const edited = await deskOf(admin).edit(approvalId, { packets }, approval.contentHash);
    expect(edited.status).toBe(200);
    const { reason } = await escalations.opened(approvalId, 'approvers_missing');
    expect(reason).toContain(
      '2 more people have to approve it, but only 1 of those whom the standing order "Two people" names can',
    );
    const changed = await owner.send('PATCH', `/members/${ann.memberId}`, { role: 'admin' });
    expect(changed.status, changed.text).toBe(200);
    await eventually(
      () => escalations.about(approvalId),
      ([row]) => row!.status === 'resolved',
    );
    await owner.send('PATCH', `/members/${ann.memberId}`, { role: 'viewer' });
    await escalations.opened(approvalId, 'approvers_missing');
    await deskOf(bob).reject(approvalId);
    await eventually(
      () => escalations.about(approvalId),
      (rows) => rows.length === 2 && rows.every(({ status }) => status === 'resolved'),
    );
  });
});

describe('in a team', () => {
  it('its members and the admins of the workspace vote, each by the role that they have there', async () => {
    const teamId = await test.createTeam(workspaceId, newId('team'));
    const [asking, voter, viewer] = [
      await test.createMember(workspaceId, 'operator', [teamId]),
      await test.createMember(workspaceId, 'operator', [teamId]),
      await test.createMember(workspaceId, 'viewer', [teamId]),
    ];
    await active({ quorum: 2 });
    const asked = await asking.post('/action-requests', { tool: 'pay.refund', params: {}, teamId });
    expect(asked.status, asked.text).toBe(201);
    const { approvalId } = asked.body;
    const { contentHash } = await deskOf(voter).approval(approvalId);
    const statuses = [viewer, ann, asking].map(async (member) => (await approve(member, approvalId)).status);
    expect(await Promise.all(statuses)).toEqual([403, 404, 403]);
    const edit = await deskOf(asking).edit(approvalId, { params: { order: 'B' } }, contentHash);
    expect(edit.status, edit.text).toBe(200);
    const ifMatch = { 'If-Match': edit.body.contentHash };
    expect((await approve(voter, approvalId, ifMatch)).body.votes).toEqual({ have: 1, need: 2 });
    expect((await approve(admin, approvalId, ifMatch)).body.status).toBe('approved');
  });
});

describe('at once', () => {
  it('20 approvals of one member count once', async () => {
    await active({ quorum: 2 });
    const { approvalId } = await handIn();
    const answers = await Promise.all(Array.from({ length: 20 }, () => approve(ann, approvalId)));
    expect(
      new Set(
        answers.map(({ status, body }) => `${status} ${body.status} ${body.votes.have} ${body.receiptId}`),
      ).size,
    ).toBe(1);
    expect(await actsOn(approvalId)).toEqual(['approval.requested', 'approval.voted']);
  });

  it('two last votes decide once', async () => {
    await active({ quorum: 2 });
    for (let round = 0; round < 5; round++) {
      const { approvalId, directiveId } = await handIn();
      await approve(ann, approvalId);
      const answers = await Promise.all([bob, admin, owner].map((member) => approve(member, approvalId)));
      expect(answers.map(({ status, body }) => `${status} ${body.status}`)).toEqual([
        '200 approved',
        '200 approved',
        '200 approved',
      ]);
      const acts = await actsOn(approvalId);
      expect(acts.filter((act) => act === 'approval.approved')).toHaveLength(1);
      expect(Object.keys((await rowOf(approvalId))['votes'])).toHaveLength(2);
      await deskOf(asker).until(directiveId, 'executed');
    }
  });

  it('a vote and a rejection, and a vote and an edit, come one after the other', async () => {
    await active({ quorum: 2 });
    for (let round = 0; round < 5; round++) {
      const { approvalId } = await handIn();
      await approve(ann, approvalId);
      const [vote, rejection] = await Promise.all([
        approve(bob, approvalId),
        deskOf(admin).reject(approvalId),
      ]);
      expect([vote.status, rejection.status].toSorted()).toEqual([200, 409]);

      const { approvalId: edited, approval } = await handIn(MAIL);
      await approve(ann, edited);
      const [{ workPacketId, action }] = approval.packets;
      const packets = [{ workPacketId, params: { ...action.params, subject: `Round ${round}` } }];
      const ifMatch = { 'If-Match': approval.contentHash };
      const [last, edit] = await Promise.all([
        approve(bob, edited, ifMatch),
        deskOf(admin).edit(edited, { packets }, approval.contentHash),
      ]);
      // The vote was first and sent what was read, or the edit was, and there is no vote.
      const { status, votes } = await deskOf(asker).approval(edited);
      expect([last.status, edit.status, status, votes.have]).toEqual(
        edit.status === 200 ? [412, 200, 'pending', 0] : [200, 409, 'approved', 2],
      );
    }
  });
});

describe('a member who leaves', () => {
  it('has what their agents asked for locked in the order of ids, and before the checks of approvers', async () => {
    await active({ quorum: 2 });
    const { approvalId: checked } = await handIn();
    const { bot } = await ask();
    const question = await leaveQuestion(bot);
    const { body: action } = await bot.post('/action-requests', { tool: 'pay.refund', params: {} });
    const decider = await test.database.owner.connect();
    try {
      await decider.query('begin');
      const lock = 'select from approvals where approval_id = $1 for update';
      await decider.query(lock, [question.approvalId]);
      const removed = owner.send('DELETE', `/members/${admin.memberId}`);
      await eventually(async () =>
        (
          await test.rows(
            `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
          )
        ).at(0),
      );
      // Whoever decides both goes on to the other, and then enqueues a check.
      await decider.query(`${lock} nowait`, [action.approvalId]);
      await decider.query(`set local lock_timeout = '1s'`);
      await decider.query(
        `insert into work_items (kind, id, workspace_id, queue, due_at) values ('approval.approvers', $1, $2, $2, now())
         on conflict do nothing`,
        [checked, workspaceId],
      );
      await decider.query('rollback');
      expect((await removed).status).toBe(200);
    } finally {
      await decider.query('rollback');
      decider.release();
    }
    for (const { approvalId } of [question, action])
      expect((await rowOf(approvalId))['status']).toBe('cancelled');
  });
});

// What a process of the version before does, which runs during an upgrade and knows neither quorum nor votes.
describe('the database', () => {
  it.each([
    ['fewer votes than it needs', { quorum: 2 }],
    ['no vote of those who are named', { approvers: { roles: ['admin'] } }],
  ])('approves nothing with %s, whatever the program does', async (_case, approval) => {
    await active(approval);
    const { approvalId } = await handIn();
    if ('quorum' in approval) await approve(ann, approvalId);
    await expect(
      test.rows(`update approvals set status = 'approved' where approval_id = $1`, [approvalId]),
    ).rejects.toThrow('approvals_votes_check');
  });

  it('forgets the votes when the content is edited, and not when it is not', async () => {
    await active({ quorum: 2 });
    const { approvalId } = await handIn();
    await approve(ann, approvalId);
    await test.rows(`update approvals set revisions = '[]' where approval_id = $1`, [approvalId]);
    expect(Object.keys((await rowOf(approvalId))['votes'])).toEqual([ann.memberId]);
    await test.rows(`update approvals set content_hash = repeat('0', 64) where approval_id = $1`, [
      approvalId,
    ]);
    expect((await rowOf(approvalId))['votes']).toEqual({});
  });
});

describe('a preflight', () => {
  it('says how many people would have to approve, and who may', async () => {
    await active({ quorum: 2, approvers: { roles: ['admin'] } });
    const answer = await asker.post('/guardian/preflight', { directive: DOCUMENT, capo: 'capo_ops' });
    expect(answer.body).toMatchObject({
      outcome: 'require_approval',
      approval: { quorum: 2, approvers: [{ name: 'Two people', roles: ['admin'], memberIds: [] }] },
    });
    expect(answer.body.explanation).toContain(
      'The standing order "Two people" requires 2 of the approvers that it names to approve this work packet.',
    );
  });
});

describe('the receipts', () => {
  type Receipt = ReceiptContent & { seq: number };
  let text: string;
  /** A draft with an edit, and an action, each approved by two of three; answers the receipts. */
  async function approvedByTwo(): Promise<Receipt[]> {
    await active({ quorum: 2, approvers: { memberIds: [admin, ann, bob].map(idOf) } });
    const { body: byAdmin } = await admin.post('/tokens', { name: 'shared', memberId: asker.memberId });
    const { approvalId, approval, directiveId } = await new Desk(test, byAdmin.token).handInReady({
      text: MAIL,
      capo: 'capo_ops',
    });
    await approve(ann, approvalId);
    const [{ workPacketId, action }] = approval.packets;
    const packets = [{ workPacketId, params: { ...action.params, subject: 'Thursday' } }];
    const edited = await deskOf(asker).edit(approvalId, { packets }, approval.contentHash);
    const ifMatch = { 'If-Match': edited.body.contentHash };
    for (const member of [ann, bob]) expect((await approve(member, approvalId, ifMatch)).status).toBe(200);
    const asked = await ask();
    for (const member of [bob, ann]) expect((await approve(member, asked.approvalId)).status).toBe(200);
    await deskOf(asker).until(directiveId, 'executed');
    ({ text } = await owner.get('/audit-feed?format=jsonl'));
    const lines = text.trimEnd().split('\n');
    return lines.map((line) => JSON.parse(line) as Receipt).toSorted((a, b) => a.seq - b.seq);
  }

  function faultsOf(changed: readonly Receipt[]): string[] {
    const proofs = new ReceiptProofs();
    for (const [index, { seq: _seq, ...content }] of changed.entries()) proofs.receipt(index + 1, content);
    return proofs.decisions.faults.map(
      ({ kind, message }) => `${kind}: ${message.replace(/^Receipt \d+ /, '')}`,
    );
  }

  it('prove each vote again, and every change of one is named', async () => {
    const all = await approvedByTwo();
    const { proofs } = await verifyLog(Readable.from([Buffer.from(text)]), workspaceId);
    expect(proofs.inWords().join('\n')).toContain('0 differences');
    expect(proofs.areSound).toBe(true);
    expect(faultsOf(all)).toEqual([]);

    const votes = all.filter(({ action }) => action === 'approval.voted');
    expect(votes).toHaveLength(3);
    const tooFew = 'votes: approves with 1 of the 2 approvals that the standing orders ask for.';
    // The vote on the first content decides nothing, and the others do, of the draft and of the action.
    expect(faultsOf(all.filter((one) => one !== votes[0]))).toEqual([]);
    for (const vote of votes.slice(1)) expect(faultsOf(all.filter((one) => one !== vote))).toEqual([tooFew]);
    const changed = (receipt: Receipt, change: Partial<Receipt>) =>
      faultsOf(all.map((one) => (one === receipt ? { ...one, ...change } : one)));
    const [, last] = votes;
    const actor = (member: TestMember) => ({ ...last!.actor, id: member.memberId });
    expect(changed(last!, { actor: actor(bob) })).toEqual([
      'votes: counts an approval of a member who had approved it before.',
      tooFew,
    ]);
    expect(changed(last!, { actor: actor(asker) })).toEqual([
      'votes: is an approval by somebody whom a standing order does not name.',
      'votes: is an approval by somebody who asked for it or edited it, where several people decide.',
    ]);
    expect(changed(last!, { details: { ...last!.details, contentHash: 'f'.repeat(64) } })).toEqual([tooFew]);
    // The admin made the tokens of whoever asked: of the member for the draft, and of the agent for the action.
    for (const vote of votes.slice(1)) {
      expect(changed(vote, { actor: actor(admin) })).toEqual([
        'votes: is an approval by somebody who asked for it or edited it, where several people decide.',
      ]);
    }
    // What the receipts claim to be needed decides nothing.
    const approved = all.find(({ action }) => action === 'approval.approved')!;
    expect(changed(approved, { details: { ...approved.details, votes: { have: 1, need: 1 } } })).toEqual([]);
  });
});
