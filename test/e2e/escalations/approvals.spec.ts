import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { untilSwept } from '../../support/sweep.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { MAIL } from '../directives/desk.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { EscalationDesk, type EscalationRow } from './escalation-desk.js';

const MINUTE = 60_000;
const ESCALATES = { expiresInMinutes: 240, onExpiry: 'escalate' };
const ASK = { name: 'Ask', effect: 'require_approval', match: { actionTypes: ['email.send'] } };

/** What a person is told of approvals that run out, and what they can do about it. */
let test: TestApp;
let orders: OrderDesk;
let desk: EscalationDesk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
afterAll(() => test.close());
beforeEach(async () => {
  desk = await EscalationDesk.ofOwn(test);
});

/** A ready approval under an order that wants its expiry to be escalated. */
async function ready(approval: object = ESCALATES, by = desk, body?: object) {
  await orders.active({ ...ASK, approval }, desk.client);
  return by.handInReady(body);
}

const row = async (approvalId: string) =>
  (
    await test.rows<{
      status: string;
      expires: number;
      escalates: number | null;
      requested: number;
      escalation_id: string | null;
      extensions: number;
    }>(
      `select status, extensions, escalation_id, app.ms(expires_at)::float8 as expires,
         app.ms(escalates_at)::float8 as escalates, app.ms(requested_at)::float8 as requested
       from approvals where approval_id = $1`,
      [approvalId],
    )
  )[0]!;

/** The moment at which a person is told has come. */
const hurry = (approvalId: string) =>
  test.rows(`update approvals set escalates_at = now() - interval '1 second' where approval_id = $1`, [
    approvalId,
  ]);
const expire = (approvalId: string) =>
  test.rows(
    `update approvals set expires_at = now() - interval '1 second', escalates_at = null where approval_id = $1`,
    [approvalId],
  );

async function expiring(approvalId: string): Promise<EscalationRow> {
  await hurry(approvalId);
  return desk.opened(approvalId, 'approval_expiring');
}

describe('an approval that is about to expire', () => {
  it('is escalated when a quarter of its time is left, once, with a receipt', async () => {
    const { approvalId, directiveId } = await ready();
    const before = await row(approvalId);
    expect(before.expires - before.escalates!).toBeGreaterThan(59 * MINUTE);
    expect(before.expires - before.escalates!).toBeLessThanOrEqual(60 * MINUTE);
    await untilSwept(test);
    expect(await desk.about(approvalId)).toEqual([]);

    const { id } = await expiring(approvalId);
    expect(await desk.escalation(id)).toEqual({
      escalationId: id,
      kind: 'approval_expiring',
      status: 'open',
      entity: { type: 'approval', id: approvalId },
      directiveId,
      teamId: null,
      reason: expect.stringContaining('is about to expire'),
      options: ['extend', 'reject', 'dismiss'],
      choices: ['extend', 'reject', 'dismiss'].map((option) => ({
        option,
        effect: expect.any(String),
        role: 'operator',
      })),
      count: 1,
      dueAt: before.expires,
      createdAt: expect.any(Number),
      decidedAt: null,
      decidedBy: null,
      decision: null,
      note: null,
      outcome: null,
    });
    expect(await row(approvalId)).toMatchObject({ status: 'pending', escalates: null, escalation_id: id });
    const [opened, ...more] = await desk.receipts(id);
    expect(more).toEqual([]);
    expect(opened).toMatchObject({
      action: 'escalation.opened',
      actor: { type: 'system' },
      entity: { type: 'escalation', id },
      directiveId,
      details: { kind: 'approval_expiring', about: { type: 'approval', id: approvalId } },
    });
    await untilSwept(test);
    expect(await desk.about(approvalId)).toHaveLength(1);
  });

  it('is not escalated where no order asks for that', async () => {
    const { approvalId } = await ready({ expiresInMinutes: 240 });
    expect(await row(approvalId)).toMatchObject({ escalates: null });
  });

  it('is escalated at once when it has less than 15 minutes in all', async () => {
    const { approvalId } = await ready({ expiresInMinutes: 5, onExpiry: 'escalate' });
    expect(await desk.opened(approvalId, 'approval_expiring')).toMatchObject({ status: 'open' });
  });

  it.each([
    ['approved', (approvalId: string) => desk.approve(approvalId)],
    ['rejected', (approvalId: string) => desk.reject(approvalId)],
    ['sent back', (approvalId: string) => desk.reject(approvalId, { feedback: 'Shorter.', revise: true })],
  ])('is resolved by itself once it is %s', async (_what, act) => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    expect((await act(approvalId)).status).toBe(200);
    const resolved = await desk.escalation(id);
    expect(resolved).toMatchObject({ status: 'resolved', decision: null, decidedBy: { type: 'system' } });
    expect(resolved.decidedAt).toEqual(expect.any(Number));
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened', 'escalation.resolved']);
    const late = await desk.decide(id, 'extend');
    expect(late.status).toBe(409);
    expect(late.body.error).toMatchObject({
      code: 'ESCALATION_ALREADY_DECIDED',
      details: { status: 'resolved', decision: null },
    });
  });

  it('is resolved by itself once its directive is cancelled', async () => {
    const { approvalId, directiveId } = await ready();
    const { id } = await expiring(approvalId);
    expect((await desk.client.post(`/directives/${directiveId}/cancel`)).status).toBe(200);
    expect(await desk.escalation(id)).toMatchObject({ status: 'resolved', decidedBy: { type: 'system' } });
  });

  it('moves with the time that a revert gives back, and nobody is told while killed', async () => {
    const told = await ready();
    const waiting = await desk.handInReady();
    const { id } = await expiring(told.approvalId);
    await desk.kill();
    await hurry(waiting.approvalId);
    await untilSwept(test);
    expect(await desk.about(waiting.approvalId)).toEqual([]);
    // As if the kill had come an hour ago, two hours before they expired.
    await test.rows(
      `with earlier as (
         update guardians set clocks_stopped_at = clocks_stopped_at - interval '1 hour' where workspace_id = $1
         returning clocks_stopped_at)
       update approvals set requested_at = clocks_stopped_at - interval '1 hour', expires_at = clocks_stopped_at + interval '2 hours'
       from earlier where workspace_id = $1`,
      [desk.workspaceId],
    );
    await desk.revert();
    const { expires } = await row(told.approvalId);
    expect(Math.abs(expires - Date.now() - 7_200_000)).toBeLessThan(10_000);
    expect(await desk.escalation(id)).toMatchObject({ status: 'open', dueAt: expires });
    await hurry(waiting.approvalId);
    await desk.opened(waiting.approvalId, 'approval_expiring');
  });

  it('says so when nobody can be told, and goes on without', async () => {
    const { approvalId } = await ready();
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at, failures)
       values ('approval.escalate', $1, $2, $2, now(), 9)`,
      [approvalId, desk.workspaceId],
    );
    await eventually(
      () => desk.actionsAbout(approvalId),
      (actions) => actions.includes('approval.not_escalated'),
    );
    expect(await row(approvalId)).toMatchObject({ status: 'pending', escalates: null, escalation_id: null });
  });
});

describe('extend', () => {
  it('gives it as long again, and it is escalated again before that is over', async () => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    const before = await row(approvalId);
    const decided = await desk.decided(id, 'extend', 'Jane is back on Monday.');
    const after = await row(approvalId);
    expect(after.expires - before.expires).toBe(Math.round(before.expires - before.requested));
    expect(after).toMatchObject({ status: 'pending', escalation_id: null, extensions: 1 });
    expect(after.expires - after.escalates!).toBeGreaterThan(100 * MINUTE);
    expect(decided).toMatchObject({
      status: 'resolved',
      decision: 'extend',
      note: 'Jane is back on Monday.',
      decidedBy: { type: 'member', via: 'api' },
      outcome: expect.stringContaining('more time, until'),
    });
    expect((await desk.receipts(approvalId)).at(-1)).toMatchObject({
      action: 'approval.extended',
      details: { from: before.expires, to: after.expires, extensions: 1 },
    });
    expect((await desk.receipts(id)).at(-1)).toMatchObject({
      action: 'escalation.decided',
      details: { kind: 'approval_expiring', decision: 'extend', note: 'Jane is back on Monday.' },
    });
    const { id: next } = await expiring(approvalId);
    expect(next).not.toBe(id);
    expect((await desk.approve(approvalId)).status).toBe(200);
  });

  it('is 409 the fourth time', async () => {
    const { approvalId } = await ready();
    for (let times = 0; times < 3; times++) await desk.decided((await expiring(approvalId)).id, 'extend');
    const { id } = await expiring(approvalId);
    const before = await row(approvalId);
    const answer = await desk.decide(id, 'extend');
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe('INVALID_TRANSITION');
    expect(await row(approvalId)).toEqual(before);
    expect(await desk.escalation(id)).toMatchObject({ status: 'open', decision: null });
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened']);
  });

  it('never goes beyond the deadline of the directive', async () => {
    const deadline = new Date(Date.now() + 250 * MINUTE).toISOString();
    const { approvalId } = await ready(ESCALATES, desk, { text: MAIL, deadline });
    await desk.decided((await expiring(approvalId)).id, 'extend');
    expect(new Date((await row(approvalId)).expires).toISOString()).toBe(deadline);
    expect((await desk.decide((await expiring(approvalId)).id, 'extend')).status).toBe(409);
  });

  it('is 403 for who asked, where an order wants somebody else', async () => {
    const operator = await desk.member('operator');
    const { approvalId } = await ready({ ...ESCALATES, selfApproval: false }, operator);
    const { id } = await expiring(approvalId);
    const before = await row(approvalId);
    const answer = await operator.decide(id, 'extend');
    expect(answer.status).toBe(403);
    expect(await row(approvalId)).toEqual(before);
    await desk.decided(id, 'extend');
  });

  it('is 423 while killed', async () => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    await desk.kill();
    const answer = await desk.decide(id, 'extend');
    expect(answer.status).toBe(423);
    expect(answer.body.error.code).toBe('GUARDIAN_HALTED');
    expect(await row(approvalId)).toMatchObject({ extensions: 0 });
    await desk.revert();
    await desk.decided(id, 'extend');
  });

  it('is 409 once the time is over, whether or not the sweep has been there', async () => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    test.clock.advance(241 * MINUTE);
    const answer = await desk.decide(id, 'extend');
    const rejected = await desk.decide(id, 'reject', 'Too late.');
    test.clock.goOn();
    expect([answer.status, rejected.status]).toEqual([409, 409]);
    expect(await row(approvalId)).toMatchObject({ status: 'pending', extensions: 0, escalation_id: id });
    expect((await desk.approve(approvalId)).status).toBe(200);
  });
});

describe('reject', () => {
  it('rejects with the note as feedback', async () => {
    const { approvalId, directiveId } = await ready();
    const { id } = await expiring(approvalId);
    const decided = await desk.decided(id, 'reject', 'Not wanted any more.');
    expect(decided).toMatchObject({ status: 'resolved', decision: 'reject' });
    expect(await desk.approval(approvalId)).toMatchObject({
      status: 'rejected',
      feedback: 'Not wanted any more.',
      decidedBy: decided.decidedBy,
    });
    await desk.until(directiveId, 'rejected');
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened', 'escalation.decided']);
  });

  it.each([undefined, '', '   ', '\u200b \u202e'])(
    'is 422 with the note %j, and changes nothing',
    async (note) => {
      const { approvalId } = await ready();
      const { id } = await expiring(approvalId);
      const answer = await desk.decide(id, 'reject', note);
      expect(answer.status).toBe(422);
      expect(answer.body.error.details).toMatchObject([{ path: 'note' }]);
      expect(await row(approvalId)).toMatchObject({ status: 'pending', escalation_id: id });
      expect(await desk.escalation(id)).toMatchObject({ status: 'open' });
    },
  );

  it('works while killed: it only stops', async () => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    await desk.kill();
    await desk.decided(id, 'reject', 'No.');
    expect(await desk.approval(approvalId)).toMatchObject({ status: 'rejected' });
  });
});

describe('dismiss', () => {
  it('leaves the approval as it is, and nobody is told again', async () => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    const before = await row(approvalId);
    expect(await desk.decided(id, 'dismiss')).toMatchObject({ status: 'dismissed', decision: 'dismiss' });
    expect(await row(approvalId)).toEqual({ ...before, escalation_id: null });
    await untilSwept(test);
    expect(await desk.about(approvalId)).toHaveLength(1);
    expect((await desk.approve(approvalId)).status).toBe(200);
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened', 'escalation.decided']);
  });
});

describe('an approval that expired', () => {
  it('resolves its warning, and can be handed in again', async () => {
    const { approvalId, directiveId } = await ready();
    const { id: warning } = await expiring(approvalId);
    await expire(approvalId);
    const { id, options } = await desk.opened(approvalId, 'approval_expired');
    expect(options).toEqual(['hand_in_again', 'dismiss']);
    expect(await desk.escalation(warning)).toMatchObject({ status: 'resolved', decision: null });
    expect((await desk.approve(approvalId)).status).toBe(410);
    expect(await test.rows(`select 1 from signals where entity->>'id' = $1`, [approvalId])).toEqual([]);

    const other = await desk.member('operator');
    const { outcome } = await other.decided(id, 'hand_in_again');
    const [, again] = /as (dir_\w+)/.exec(outcome)!;
    expect(await desk.directive(directiveId)).toMatchObject({ status: 'expired' });
    const directive = await desk.directive(again!);
    expect(directive).toMatchObject({
      status: 'pending_approval',
      directive: (await desk.directive(directiveId)).directive,
      context: { handedInAgainFrom: directiveId },
    });
    const approval = await desk.ready(directive.approvalId);
    expect(approval.approvalId).not.toBe(approvalId);
    // Whoever asked first, and whoever asked again, are both no second pair of eyes.
    const [{ requester_ids: requesters }] = (await test.rows(
      'select requester_ids from directives where directive_id = $1',
      [again],
    )) as [{ requester_ids: string[] }];
    expect(requesters).toHaveLength(2);
    expect((await desk.decided(id, 'hand_in_again')).outcome).toBe(outcome);
    expect(
      await test.rows(`select 1 from directives where context->>'handedInAgainFrom' = $1`, [directiveId]),
    ).toHaveLength(1);
    expect((await desk.decide(id, 'dismiss')).status).toBe(409);
  });

  it('is not escalated where no order asks for that', async () => {
    const { approvalId, directiveId } = await desk.handInReady();
    await expire(approvalId);
    await desk.until(directiveId, 'expired');
    expect(await desk.about(approvalId)).toEqual([]);
  });

  it('is 409 to hand in again after the deadline', async () => {
    const { approvalId, directiveId } = await ready();
    await expire(approvalId);
    const { id } = await desk.opened(approvalId, 'approval_expired');
    await test.rows(`update directives set deadline = now() - interval '1 second' where directive_id = $1`, [
      directiveId,
    ]);
    expect((await desk.decide(id, 'hand_in_again')).status).toBe(409);
    expect(await desk.decided(id, 'dismiss')).toMatchObject({ status: 'dismissed' });
  });
});

describe('races', () => {
  it('of two who decide the same carry it out once', async () => {
    const { approvalId } = await ready();
    const { id } = await expiring(approvalId);
    const before = await row(approvalId);
    const answers = await Promise.all([1, 2, 3, 4].map(() => desk.decide(id, 'extend')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    const after = await row(approvalId);
    expect(after).toMatchObject({ extensions: 1 });
    expect(after.expires - before.expires).toBe(Math.round(before.expires - before.requested));
    expect(await desk.actionsAbout(id)).toEqual(['escalation.opened', 'escalation.decided']);
  });

  it('of two who decide differently carry one out', async () => {
    for (let times = 0; times < 3; times++) {
      const { approvalId } = await (times === 0 ? ready() : desk.handInReady());
      const { id } = await expiring(approvalId);
      const [extended, rejected] = await Promise.all([
        desk.decide(id, 'extend'),
        desk.decide(id, 'reject', 'No.'),
      ]);
      expect([extended.status, rejected.status].toSorted()).toEqual([200, 409]);
      const { status, extensions } = await row(approvalId);
      expect([status, extensions]).toEqual(extended.status === 200 ? ['pending', 1] : ['rejected', 0]);
      expect((await desk.receipts(id)).filter(({ action }) => action === 'escalation.decided')).toHaveLength(
        1,
      );
    }
  });

  it('of a decision and the sweep that ends the approval leave one of both', async () => {
    await orders.active({ ...ASK, approval: ESCALATES }, desk.client);
    for (let times = 0; times < 5; times++) {
      const { approvalId } = await desk.handInReady();
      const { id } = await expiring(approvalId);
      // By the clock of the database it has expired, and by that of the program it has a moment left.
      await test.rows(`update approvals set expires_at = now() where approval_id = $1`, [approvalId]);
      test.clock.advance(-500);
      const answer = await eventually(
        () => desk.decide(id, 'extend'),
        ({ status }) => status !== 503,
      );
      test.clock.goOn();
      const { extensions } = await row(approvalId);
      if (answer.status === 200) expect(extensions).toBe(1);
      else {
        expect(answer.status).toBe(409);
        await eventually(
          () => row(approvalId),
          ({ status }) => status === 'expired',
        );
        expect(await row(approvalId)).toMatchObject({ extensions: 0 });
        await desk.opened(approvalId, 'approval_expired');
      }
      expect((await desk.about(approvalId)).filter(({ kind }) => kind === 'approval_expiring')).toHaveLength(
        1,
      );
    }
  });
});
