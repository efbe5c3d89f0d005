import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

let test: TestApp;
let desk: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

const ACME_OR_INITECH = {
  match: {
    actionTypes: ['email.send'],
    fields: { 'params.to': { $domainIn: ['acme.example', 'initech.example'] } },
  },
};
const REVENUE = { actionTypes: ['revenue.record'] };

/** Nothing of the order has changed. */
async function expectUntouched(standingOrderId: string): Promise<void> {
  expect((await desk.row(standingOrderId)).version).toBe(1);
  expect(await desk.versions(standingOrderId)).toHaveLength(1);
  expect(await desk.actions(standingOrderId)).not.toContain('standing_order.revised');
}

describe('PATCH /standing-orders/:id 200', () => {
  it('makes a further version, in force at once, and keeps the former one', async () => {
    const operator = await desk.member('operator');
    const standingOrderId = await desk.create({ ...NO_MAIL, text: 'Not a single one.' }, operator);
    const before = await desk.row(standingOrderId);
    const match = { actionTypes: ['email.send', 'document.file'] };
    const answer = await desk.revise(
      standingOrderId,
      { name: 'Neither mail nor documents', match },
      operator,
    );
    expect(answer.status, answer.text).toBe(200);
    const rule = {
      teamId: null,
      capos: null,
      effect: 'deny',
      match,
      when: null,
      limits: null,
      budget: null,
      approval: null,
      expiresAt: null,
    };
    const hash = sha256(canonicalJson(rule));
    expect(answer.body).toMatchObject({
      standingOrderId,
      name: 'Neither mail nor documents',
      text: 'Not a single one.',
      status: 'active',
      version: 2,
      hash,
      createdAt: (before.created_at as Date).getTime(),
      ...rule,
    });
    expect(await desk.row(standingOrderId)).toMatchObject({ version: 2, hash, match, status: 'active' });
    expect(await desk.versions(standingOrderId)).toMatchObject([
      { version: 1, name: 'No mail', hash: before.hash, match: NO_MAIL.match },
      { version: 2, name: 'Neither mail nor documents', hash, match, created_by: { id: operator.memberId } },
    ]);
    expect((await desk.receipts(standingOrderId)).at(-1)).toMatchObject({
      action: 'standing_order.revised',
      actor: { type: 'member', id: operator.memberId },
      details: { version: 2, hash, rule, name: 'Neither mail nor documents', acknowledged: false },
      requestId: answer.headers.get('x-request-id'),
    });
  });

  it('leaves what is not named as it is, and takes away what is null', async () => {
    const limits = { maxPerDay: 5 };
    const approval = { selfApproval: false };
    const order = { ...FILE_DOCUMENTS, text: 'Some.', capos: ['ceo'], limits, approval };
    const standingOrderId = await desk.create(order);
    const { body } = await desk.revise(standingOrderId, { limits: null, capos: null, text: null });
    expect(body).toMatchObject({ limits: null, capos: null, approval, text: 'File documents', version: 2 });
    expect((await desk.revise(standingOrderId, { name: 'Files' })).body).toMatchObject({
      name: 'Files',
      text: 'Files',
      approval,
      version: 3,
    });
  });

  it('makes no version of what is no change', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    for (const change of [{}, NO_MAIL, { capos: null }]) {
      const answer = await desk.revise(standingOrderId, change);
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body.version).toBe(1);
    }
    await expectUntouched(standingOrderId);
  });

  it.each<[string, object, object]>([
    ['denies more', NO_MAIL, { match: {} }],
    ['denies what it asked for', { ...NO_MAIL, effect: 'require_approval' }, { effect: 'deny' }],
    [
      'lets less through in an hour',
      { ...NO_MAIL, effect: 'throttle', limits: { maxPerHour: 5 } },
      { limits: { maxPerHour: 4 } },
    ],
  ])('takes from an operator a version that %s', async (_, order, change) => {
    const standingOrderId = await desk.create(order);
    const answer = await desk.revise(standingOrderId, change, await desk.member('operator'));
    expect(answer.status, answer.text).toBe(200);
  });

  it('takes from an admin a version that restricts less', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    const answer = await desk.revise(standingOrderId, { capos: ['capo_ops'] }, await desk.member('admin'));
    expect(answer.status, answer.text).toBe(200);
  });

  it('takes from an admin a version that allows less of what cannot be undone', async () => {
    const standingOrderId = await desk.active({ ...MAIL_TO_ACME, ...ACME_OR_INITECH });
    const answer = await desk.revise(standingOrderId, MAIL_TO_ACME, await desk.member('admin'));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ status: 'active', version: 2 });
  });

  it('takes from an owner who acknowledges it a version that allows more of what cannot be undone', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    const answer = await desk.revise(standingOrderId, { ...ACME_OR_INITECH, acknowledge: true, version: 1 });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ status: 'active', version: 2, match: ACME_OR_INITECH.match });
    expect((await desk.receipts(standingOrderId)).at(-1)).toMatchObject({ details: { acknowledged: true } });
  });

  it('leaves a draft a draft and a paused order paused, whatever the version allows', async () => {
    const admin = await desk.member('admin');
    const draft = await desk.create(MAIL_TO_ACME);
    expect((await desk.revise(draft, ACME_OR_INITECH, admin)).body).toMatchObject({
      status: 'draft',
      version: 2,
      heldBecause: expect.stringContaining('An owner must allow it'),
    });
    expect((await desk.revise(draft, FILE_DOCUMENTS, admin)).body).toMatchObject({
      status: 'draft',
      heldBecause: null,
    });
    const paused = await desk.active(MAIL_TO_ACME);
    await desk.elsewhere(test.owner).post(`/standing-orders/${paused}/pause`);
    expect((await desk.revise(paused, ACME_OR_INITECH, admin)).body).toMatchObject({
      status: 'paused',
      version: 2,
    });
  });

  it('numbers versions that are made at the same moment', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    const names = ['One', 'Two', 'Three', 'Four', 'Five'];
    const answers = await Promise.all(names.map((name) => desk.revise(standingOrderId, { name })));
    expect(answers.map(({ body }) => body.version).toSorted()).toEqual([2, 3, 4, 5, 6]);
    const last = answers.find(({ body }) => body.version === 6)!;
    expect(await desk.row(standingOrderId)).toMatchObject({ version: 6, name: last.body.name });
    expect(await desk.versions(standingOrderId)).toHaveLength(6);
  });

  it('keeps the zone of the workspace with a window that names none', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    await test.rows(`update workspaces set timezone = 'Asia/Tokyo' where workspace_id = $1`, [workspaceId]);
    const standingOrderId = await desk.create(NO_MAIL, owner);
    const { body } = await desk.revise(standingOrderId, { when: { days: ['mon'] } }, owner);
    expect(body.when).toEqual({ days: ['mon'], timezone: 'Asia/Tokyo' });
  });

  it('counts what the order has paid for anew when its budget changes, and not when it does not', async () => {
    const budget = { window: 'month', amount: 100, currency: 'EUR' };
    const standingOrderId = await desk.create({ name: 'Revenue', effect: 'allow', match: REVENUE, budget });
    await test.rows(
      `insert into standing_order_usage (workspace_id, standing_order_id, window_since, warned_since)
       values ($1, $2, now(), now())`,
      [test.workspaceId, standingOrderId],
    );
    const since = async () =>
      (
        await test.rows(
          `select window_since = '-infinity' and warned_since = '-infinity' as anew
           from standing_order_usage where standing_order_id = $1`,
          [standingOrderId],
        )
      )[0];
    await desk.revise(standingOrderId, { name: 'Sales' });
    expect(await since()).toEqual({ anew: false });
    await desk.revise(standingOrderId, { budget: { ...budget, currency: 'USD' } });
    expect(await since()).toEqual({ anew: true });
  });
});

describe('PATCH /standing-orders/:id 401', () => {
  it('answers a caller without a valid token', async () => {
    const path = `/standing-orders/${await desk.create(NO_MAIL)}`;
    const answer = await test.owner.send('PATCH', path, { name: 'X' }, { 'x-service-token': 'no' });
    expect(answer.status).toBe(401);
  });
});

describe('PATCH /standing-orders/:id 403', () => {
  it('answers a viewer', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    const answer = await desk.revise(standingOrderId, { name: 'X' }, await desk.member('viewer'));
    expect(answer.status).toBe(403);
    await expectUntouched(standingOrderId);
  });

  it.each<[string, object, object]>([
    ['restricts less', NO_MAIL, { capos: ['capo_ops'] }],
    ['restricts for a shorter time', NO_MAIL, { expiresAt: Date.now() + 3_600_000 }],
    ['allows what was denied', NO_MAIL, { effect: 'allow' }],
    ['changes what is allowed', FILE_DOCUMENTS, { capos: ['capo_ops'] }],
  ])('answers an operator whose version %s', async (_, order, change) => {
    const standingOrderId = await desk.create(order);
    const answer = await desk.revise(standingOrderId, change, await desk.member('operator'));
    expect(answer.status).toBe(403);
    expect(answer.body.error).toMatchObject({
      code: 'FORBIDDEN',
      details: { requiredRoles: ['admin', 'owner'] },
    });
    await expectUntouched(standingOrderId);
  });

  it('answers an admin whose version allows more of what cannot be undone; the former one stays', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    const admin = await desk.member('admin');
    const answer = await desk.revise(
      standingOrderId,
      { ...ACME_OR_INITECH, acknowledge: true, version: 1 },
      admin,
    );
    expect(answer.status).toBe(403);
    expect(answer.body.error.message).toMatch(
      /^It allows work packets that cannot be undone\. .*Only an owner may activate it\.$/,
    );
    await expectUntouched(standingOrderId);
    expect((await desk.row(standingOrderId)).status).toBe('active');
  });
});

describe('PATCH /standing-orders/:id 404', () => {
  it('answers an order that does not exist, of another workspace, or of another team', async () => {
    const far = await desk.create(NO_MAIL, (await test.createWorkspace()).owner);
    for (const id of [newId('so'), far, 'so_x']) {
      expect((await desk.revise(id, { name: 'X' })).status).toBe(404);
    }
    const [mine, theirs] = [
      await test.createTeam(test.workspaceId, 'Mine'),
      await test.createTeam(test.workspaceId, 'Theirs'),
    ];
    const standingOrderId = await desk.create({ ...NO_MAIL, teamId: theirs });
    const member = await desk.member('operator', [mine]);
    expect((await desk.revise(standingOrderId, { name: 'X' }, member)).status).toBe(404);
  });
});

describe('PATCH /standing-orders/:id 409', () => {
  it('answers an order that is archived', async () => {
    const standingOrderId = await desk.create(NO_MAIL);
    await desk.elsewhere(test.owner).delete(`/standing-orders/${standingOrderId}`);
    const answer = await desk.revise(standingOrderId, { name: 'X' });
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe('INVALID_TRANSITION');
    await expectUntouched(standingOrderId);
  });
});

describe('PATCH /standing-orders/:id 428, 412', () => {
  const change = { ...ACME_OR_INITECH, acknowledge: true };

  it('answers an acknowledgement that does not say what was read', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    const answer = await desk.revise(standingOrderId, change);
    expect(answer.status).toBe(428);
    expect(answer.body.error.code).toBe('PRECONDITION_REQUIRED');
    await expectUntouched(standingOrderId);
  });

  it('answers whoever has read another version', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    const byVersion = await desk.revise(standingOrderId, { ...change, version: 2 });
    expect(byVersion.status).toBe(412);
    expect(byVersion.body.error).toMatchObject({ code: 'VERSION_CHANGED', details: { version: 1 } });
    const path = `/standing-orders/${standingOrderId}`;
    const client = desk.elsewhere(test.owner);
    const byHash = await client.send('PATCH', path, change, { 'If-Match': '"other"' });
    expect(byHash.status).toBe(412);
    expect(byHash.body.error.code).toBe('CONTENT_CHANGED');
    await expectUntouched(standingOrderId);
    const { hash } = await desk.row(standingOrderId);
    const done = await client.send('PATCH', path, change, { 'If-Match': `"${hash as string}"` });
    expect(done.body).toMatchObject({ status: 'active', version: 2 });
  });
});

describe('PATCH /standing-orders/:id 422', () => {
  it.each<[string, object, string[]]>([
    ['a name that is null', { name: null }, ['name']],
    ['another team', { teamId: null }, ['teamId']],
    ['an unknown property', { status: 'active' }, ['status']],
    ['a throttle without a pace', { effect: 'throttle' }, ['effect']],
    ['a limit on what denies', { limits: { maxPerDay: 1 } }, ['limits']],
    [
      'an action type that does not exist',
      { match: { actionTypes: ['email.sned'] } },
      ['match.actionTypes.0'],
    ],
    [
      'a parameter that no mail has',
      { match: { ...NO_MAIL.match, fields: { 'params.x': { $eq: 1 } } } },
      ['match.fields.params.x'],
    ],
    ['capos that cannot send mail', { capos: ['ceo'] }, ['match.actionTypes']],
    ['an end that has passed', { expiresAt: 1 }, ['expiresAt']],
    [
      'a zone that only the program knows',
      { when: { days: ['mon'], timezone: 'Nowhere/Land' } },
      ['when.timezone'],
    ],
  ])('answers %s', async (_, change, paths) => {
    const standingOrderId = await desk.create(NO_MAIL);
    const answer = await desk.revise(standingOrderId, change);
    expect(answer.status, answer.text).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    expect(answer.body.error.details.map(({ path }: { path: string }) => path)).toEqual(paths);
    await expectUntouched(standingOrderId);
  });

  it('answers an owner who does not acknowledge that more may go out; the former version stays', async () => {
    const standingOrderId = await desk.active(MAIL_TO_ACME);
    const answer = await desk.revise(standingOrderId, ACME_OR_INITECH);
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: 'SIMULATION_REQUIRED',
      details: { simulation: { considered: expect.any(Number) } },
    });
    await expectUntouched(standingOrderId);
  });
});
