import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, NO_MAIL, OrderDesk } from './order-desk.js';

const HOUR_MS = 3_600_000;
/** An hour of the clock in UTC, so many from now on. */
const clockIn = (hours: number) => `${new Date(Date.now() + hours * HOUR_MS).toISOString().slice(11, 13)}:00`;

let test: TestApp;
let desk: OrderDesk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

describe('POST /standing-orders 201', () => {
  it('keeps an order that nothing speaks against a draft where that is asked for', async () => {
    const { body } = await test.owner.post('/standing-orders', { ...FILE_DOCUMENTS, draft: true });
    expect(body).toMatchObject({ status: 'draft', heldBecause: null, activatedAt: null });
    expect(await desk.actions(body.standingOrderId)).toEqual(['standing_order.created']);
    const activated = await test.owner.post(`/standing-orders/${body.standingOrderId}/activate`);
    expect(activated.body).toMatchObject({ status: 'active', version: 1 });
  });

  it('activates an order that tightens, and answers the record of the contract', async () => {
    const operator = await desk.member('operator');
    const before = Date.now();
    const rule = {
      capos: ['capo_revenue'],
      effect: 'throttle',
      match: { actionTypes: ['email.send'], priorities: ['low'], fields: { 'params.to': { $exists: true } } },
      when: { presence: ['away'], days: ['mon'], from: '22:00', to: '06:00', timezone: 'Europe/Berlin' },
      limits: { maxPerHour: 5, maxPerDay: 20 },
      budget: { window: 'day', amount: 10.5, currency: 'EUR', warnPercent: 80, onExceed: 'deny' },
      approval: { expiresInMinutes: 60, onExpiry: 'reject', selfApproval: false },
      expiresAt: before + 30 * 24 * HOUR_MS,
    };
    const answer = await operator.post('/standing-orders', {
      name: 'Slowly',
      text: 'Not too fast.',
      ...rule,
    });
    expect(answer.status).toBe(201);
    const { standingOrderId, createdAt } = answer.body;
    expect(standingOrderId).toMatch(/^so_/);
    expect(createdAt).toBeGreaterThanOrEqual(before);
    expect(answer.headers.get('location')).toBe(`/api/pro/standing-orders/${standingOrderId}`);
    const by = { type: 'member', id: operator.memberId, name: expect.any(String), via: 'api' };
    expect(answer.body).toEqual({
      standingOrderId,
      name: 'Slowly',
      text: 'Not too fast.',
      teamId: null,
      ...rule,
      status: 'active',
      heldBecause: null,
      version: 1,
      simulation: {
        simulationId: expect.stringMatching(/^sim_/),
        version: 1,
        considered: 0,
        relaxed: 0,
        stillAsks: 0,
        escalated: 0,
        unchanged: 0,
        relaxedIrreversible: 0,
        hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        computedAt: expect.any(Number),
      },
      evalRunId: expect.stringMatching(/^evl_/),
      hash: sha256(canonicalJson({ teamId: null, ...rule })),
      createdBy: by,
      createdAt,
      updatedAt: createdAt,
      activatedAt: createdAt,
    });
    expect(await desk.row(standingOrderId)).toMatchObject({
      workspace_id: test.workspaceId,
      status: 'active',
      match: rule.match,
      when: rule.when,
      limits: rule.limits,
      budget: rule.budget,
      approval: rule.approval,
      expires_at: new Date(rule.expiresAt),
      activated_at: new Date(createdAt),
      held_because: null,
    });
    expect((await operator.get(`/standing-orders/${standingOrderId}`)).body).toEqual(answer.body);
    const [created, activated, ...more] = await desk.receipts(standingOrderId);
    expect(created).toMatchObject({
      action: 'standing_order.created',
      entity: { type: 'standing_order', id: standingOrderId },
      actor: { type: 'member', id: operator.memberId },
      details: { effect: 'throttle', version: 1, hash: answer.body.hash, rule: { teamId: null, ...rule } },
      requestId: answer.headers.get('x-request-id'),
    });
    expect(activated).toMatchObject({ action: 'standing_order.activated', details: { status: 'active' } });
    expect(more).toEqual([]);
  });

  it.each([
    ['escalates what nobody decided', 'require_approval', { onExpiry: 'escalate' }],
    ['gives more than 72 hours', 'require_approval', { expiresInMinutes: 4_321 }],
    ['escalates what waits', 'throttle', { onExpiry: 'escalate' }],
  ])(
    'takes none from an operator that %s: its terms would loosen those of others',
    async (_case, effect, approval) => {
      const limits = effect === 'throttle' ? { limits: { maxPerDay: 5 } } : {};
      const order = { name: 'Terms', effect, match: { actionTypes: ['email.send'] }, approval, ...limits };
      const refused = await (await desk.member('operator')).post('/standing-orders', order);
      expect(refused.status, refused.text).toBe(403);
      expect(refused.body.error.message).toContain('72 hours');
      expect((await (await desk.member('admin')).post('/standing-orders', order)).status).toBe(201);
    },
  );

  it('takes terms from an operator that only tighten', async () => {
    const approval = { expiresInMinutes: 60, onExpiry: 'reject', selfApproval: false };
    const order = { name: 'Four eyes', effect: 'require_approval', match: {}, approval };
    const { status, body } = await (await desk.member('operator')).post('/standing-orders', order);
    expect({ status, approval: body.approval }).toEqual({ status: 201, approval });
  });

  it.each(['deny', 'require_approval'])('takes %s from an operator', async (effect) => {
    const operator = await desk.member('operator');
    const answer = await operator.post('/standing-orders', { name: 'Hold', effect, match: {} });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ status: 'active', effect, text: 'Hold', capos: null, when: null });
  });

  it('takes an allow from an admin, active at once when all of it can be undone', async () => {
    const admin = await desk.member('admin');
    const answer = await admin.post('/standing-orders', FILE_DOCUMENTS);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({ status: 'active', effect: 'allow', heldBecause: null });
  });

  it.each<[string, object]>([
    ['an irreversible action type', MAIL_TO_ACME],
    ['every work packet', { name: 'All', effect: 'allow', match: {} }],
    [
      'every work packet of a capo who can send mail',
      { name: 'Ops', effect: 'allow', capos: ['capo_ops'], match: {} },
    ],
    [
      'irreversible work packets by their class',
      { name: 'Final', effect: 'allow', match: { reversibility: ['reversible', 'irreversible'] } },
    ],
  ])('keeps an order that allows %s a draft, and says why, even to the owner', async (_case, order) => {
    const answer = await desk.elsewhere(test.owner).post('/standing-orders', order);
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      status: 'draft',
      heldBecause: expect.stringMatching(
        /^It allows work packets that cannot be undone\. .*An owner must allow it with "acknowledge": true and "version": \d+\.$/,
      ),
      activatedAt: null,
      listedAt: '/api/pro/standing-orders?status=draft',
    });
    const { standingOrderId, heldBecause } = answer.body;
    const { body: drafts } = await desk.elsewhere(test.owner).get(answer.body.listedAt);
    expect(drafts.items[0]).toMatchObject({ standingOrderId });
    expect(await desk.row(standingOrderId)).toMatchObject({ status: 'draft', held_because: heldBecause });
    expect(await desk.actions(standingOrderId)).toEqual(['standing_order.created']);
  });

  it.each<[string, object]>([
    ['what can be undone, by its class', { match: { reversibility: ['reversible'] } }],
    ['every work packet of a capo who makes none that is final', { capos: ['ceo'], match: {} }],
  ])('activates an order that allows %s', async (_case, terms) => {
    const order = { name: 'Freely', effect: 'allow', ...terms };
    // Beside no other order: one that it contradicts would speak against it.
    const { owner } = await test.createWorkspace();
    expect((await desk.elsewhere(owner).post('/standing-orders', order)).body.status).toBe('active');
  });

  describe('for the tools of agents', () => {
    let owner: Client;
    const order = (effect: string, tool: string, match: object = {}) => ({
      name: `${effect} ${tool}`,
      effect,
      match: { actionTypes: [tool], ...match },
    });
    const post = (body: object) => desk.elsewhere(owner).post('/standing-orders', body);
    beforeEach(async () => {
      owner = (await test.createWorkspace()).owner;
      const paramsSchema = { type: 'object', properties: { amount: { type: 'number' } } };
      for (const [name, reversibility] of [
        ['crm.memo', 'reversible'],
        ['crm.payout', 'irreversible'],
      ]) {
        const tool = { name, paramsSchema, reversibility, risk: 'low' };
        expect((await owner.post('/tools', tool)).status).toBe(201);
      }
    });

    it('activates one that allows a registered tool that can be undone, and holds one that cannot', async () => {
      expect((await post(order('allow', 'crm.memo'))).body).toMatchObject({
        status: 'active',
        heldBecause: null,
      });
      const held = (await post(order('allow', 'crm.payout'))).body.heldBecause;
      expect(held).toMatch(
        /^It allows requests for crm\.payout that cannot be undone\. Its safety eval gave /,
      );
      expect(held).toContain('It allows any number of requests for crm.payout that cannot be undone.');
      expect(held).not.toContain('work packets');
      expect((await owner.send('PATCH', '/tools/crm.memo', { status: 'paused' })).status).toBe(200);
      expect((await post(order('allow', 'crm.memo', { agents: ['bot'] }))).body.status).toBe('draft');
      expect((await post(order('allow', 'crm.*'))).body.status).toBe('draft');
    });

    it('refuses parameters that no registered tool of it has, in a new version too', async () => {
      const typo = { fields: { 'params.amout': { $gt: 5 } } };
      const right = { fields: { 'params.amount': { $gt: 5 }, amount: { $gt: 5 } } };
      const refused = await post(order('deny', 'crm.payout', typo));
      expect(refused.status).toBe(422);
      expect(refused.body.error.details).toEqual([
        {
          path: 'match.fields.params.amout',
          rule: 'isKnownParameter',
          message: 'no action that the order is about has a parameter amout; there are amount',
        },
      ]);
      const { standingOrderId, status, warnings } = (await post(order('deny', 'crm.payout', right))).body;
      expect([status, warnings]).toEqual(['active', undefined]);
      const match = { actionTypes: ['crm.payout'], ...typo };
      expect((await desk.revise(standingOrderId, { match }, owner)).status).toBe(422);
      expect((await post(order('deny', 'crm.*', typo))).status).toBe(201);
    });

    it('accepts tools and agents that are not there yet, and warns', async () => {
      const agents = { agents: ['Bot', 'Bto'], fields: { 'params.amout': { $gt: 5 } } };
      await owner.post('/tokens', { name: 'Bot', agent: { name: 'Bot' }, tools: ['crm.*'] });
      const answer = await post(order('deny', 'crm.payuot', agents));
      expect([answer.status, answer.body.warnings]).toEqual([
        201,
        [
          'No tool crm.payuot is registered, so the conditions on its parameters are not checked.',
          'No agent Bto has a valid token, so nothing matches its name now.',
        ],
      ]);
    });
  });

  it('keeps the zone of the workspace with a window that names none', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    await test.rows(`update workspaces set timezone = 'Asia/Tokyo' where workspace_id = $1`, [workspaceId]);
    const whens = [
      { from: '22:00', to: '06:00' },
      { days: ['sat'], timezone: null },
      { presence: ['away'] },
      { days: ['sat'], timezone: 'UTC' },
    ];
    const zones = [];
    for (const when of whens) {
      const { body } = await owner.post('/standing-orders', { ...NO_MAIL, when });
      const { hash, when: kept } = await desk.row(body.standingOrderId);
      expect(kept).toEqual(body.when);
      expect(hash).toBe(body.hash);
      zones.push((kept as { timezone?: string }).timezone);
    }
    expect(zones).toEqual(['Asia/Tokyo', 'Asia/Tokyo', undefined, 'UTC']);
  });

  it('has one hash for one rule, whatever the order is called', async () => {
    const [one, two, other] = [
      await desk.create(NO_MAIL),
      await desk.create({ match: NO_MAIL.match, effect: 'deny', name: 'Other', text: 'Other words' }),
      await desk.create({ ...NO_MAIL, capos: ['capo_ops'] }),
    ];
    const hashes = await Promise.all([one, two, other].map(async (id) => (await desk.row(id)).hash));
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[0]).not.toBe(hashes[2]);
  });

  it('belongs to the only team of its author, to the team that is named, or to the whole workspace', async () => {
    const teamId = await test.createTeam(test.workspaceId, 'Sales');
    const seller = await desk.member('operator', [teamId]);
    const head = await desk.member('admin', [teamId]);
    expect((await seller.post('/standing-orders', NO_MAIL)).body.teamId).toBe(teamId);
    // Owner and admin never default to a team: others could put them into one.
    expect((await head.post('/standing-orders', NO_MAIL)).body.teamId).toBeNull();
    expect((await head.post('/standing-orders', { ...NO_MAIL, teamId: null })).body.teamId).toBeNull();
    const named = await desk.elsewhere(test.owner).post('/standing-orders', { ...NO_MAIL, teamId });
    expect(named.body.teamId).toBe(teamId);
    expect(await desk.receipts(named.body.standingOrderId)).toMatchObject([{ teamId }, { teamId }]);
  });

  it('keeps an expiry at the end of all dates', async () => {
    const standingOrderId = await desk.create({ ...NO_MAIL, expiresAt: 8.64e15 });
    const { body } = await desk.elsewhere(test.owner).get(`/standing-orders/${standingOrderId}`);
    expect(body.expiresAt).toBe(8.64e15);
  });

  it('creates one order under one Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': newId('req') };
    const client = desk.elsewhere(test.owner);
    const first = await client.post('/standing-orders', NO_MAIL, key);
    const second = await client.post('/standing-orders', NO_MAIL, key);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.text).toBe(first.text);
    expect(await desk.actions(first.body.standingOrderId)).toHaveLength(2);
  });
});

describe('POST /standing-orders 401', () => {
  it('answers a caller without a valid token', async () => {
    const answer = await test.owner.post('/standing-orders', NO_MAIL, { 'x-service-token': 'no' });
    expect(answer.status).toBe(401);
  });
});

describe('POST /standing-orders 403', () => {
  it('answers a viewer', async () => {
    const before = await desk.count();
    const answer = await (await desk.member('viewer')).post('/standing-orders', NO_MAIL);
    expect(answer.status).toBe(403);
    expect(await desk.count()).toBe(before);
  });

  it('answers an operator who would allow, whatever it is', async () => {
    const operator = await desk.member('operator');
    const before = await desk.count();
    for (const order of [FILE_DOCUMENTS, MAIL_TO_ACME]) {
      const answer = await operator.post('/standing-orders', order);
      expect(answer.status).toBe(403);
      expect(answer.body.error).toEqual({
        code: 'FORBIDDEN',
        status: 403,
        message: 'Only an admin may create a standing order that allows work packets.',
        details: { requiredRoles: ['admin', 'owner'] },
      });
    }
    expect(await desk.count()).toBe(before);
  });

  it('answers a member of a team who means the whole workspace', async () => {
    const seller = await desk.member('operator', [await test.createTeam(test.workspaceId, 'Shop')]);
    const answer = await seller.post('/standing-orders', { ...NO_MAIL, teamId: null });
    expect(answer.status).toBe(403);
    expect(answer.body.error.details).toEqual({ requiredRoles: ['admin', 'owner'] });
  });
});

describe('POST /standing-orders 404', () => {
  it.each([
    ['a team that does not exist', () => newId('team')],
    [
      'a team of another workspace',
      async () => test.createTeam((await test.createWorkspace()).workspaceId, 'Far'),
    ],
  ])('answers %s', async (_case, make) => {
    const order = { ...NO_MAIL, teamId: await make() };
    expect((await desk.elsewhere(test.owner).post('/standing-orders', order)).status).toBe(404);
  });

  it('answers a team to a member of another', async () => {
    const [mine, theirs] = [
      await test.createTeam(test.workspaceId, 'Mine'),
      await test.createTeam(test.workspaceId, 'Theirs'),
    ];
    const member = await desk.member('operator', [mine]);
    expect((await member.post('/standing-orders', { ...NO_MAIL, teamId: theirs })).status).toBe(404);
  });
});

describe('POST /standing-orders 422', () => {
  it.each<[string, object, string[]]>([
    ['an empty body', {}, ['name', 'effect', 'match']],
    ['an unknown property', { ...NO_MAIL, status: 'active' }, ['status']],
    ['an unknown operator', { ...NO_MAIL, match: { fields: { amount: { $gtt: 1 } } } }, ['match.fields']],
    ['a throttle without a pace', { ...NO_MAIL, effect: 'throttle' }, ['effect']],
    ['a limit on what denies', { ...NO_MAIL, limits: { maxPerDay: 1 } }, ['limits']],
    [
      'an action type that does not exist',
      { ...NO_MAIL, match: { actionTypes: ['email.send', 'email.sned'] } },
      ['match.actionTypes.1'],
    ],
    ['capos that cannot do it', { ...NO_MAIL, capos: ['ceo'] }, ['match.actionTypes']],
    [
      'a class that none of the actions has',
      { ...NO_MAIL, match: { actionTypes: ['email.send'], reversibility: ['reversible'] } },
      ['match.reversibility'],
    ],
    [
      'a field that none of the actions has',
      {
        ...NO_MAIL,
        match: { actionTypes: ['email.send'], fields: { 'params.recipient': { $exists: true } } },
      },
      ['match.fields.params.recipient'],
    ],
    [
      'conditions that contradict themselves',
      {
        ...NO_MAIL,
        match: {
          fields: { amount: { $gt: 10, $lt: 5 }, 'params.to': { $eq: 'a@b.example', $in: ['c@d.example'] } },
        },
      },
      ['match.fields.amount', 'match.fields.params.to'],
    ],
    [
      'an end before its window opens',
      {
        ...NO_MAIL,
        when: { from: clockIn(4), to: clockIn(6), timezone: 'UTC' },
        expiresAt: Date.now() + HOUR_MS,
      },
      ['expiresAt'],
    ],
    [
      'an hour that does not exist',
      { ...NO_MAIL, when: { from: '24:00', to: '25:61' } },
      ['when.from', 'when.to'],
    ],
    ['the same hour twice', { ...NO_MAIL, when: { from: '09:00', to: '09:00' } }, ['when.from', 'when.to']],
    [
      'a zone that only the program knows',
      { ...NO_MAIL, when: { days: ['mon'], timezone: 'Etc/Unknown' } },
      ['when.timezone'],
    ],
    [
      'a limit below zero',
      { ...NO_MAIL, effect: 'throttle', limits: { maxPerDay: -1 } },
      ['limits.maxPerDay'],
    ],
    [
      'a currency that is none',
      { ...NO_MAIL, effect: 'throttle', budget: { window: 'day', amount: 1, currency: 'XXQ' } },
      ['budget.currency'],
    ],
    [
      'a warning beyond the budget',
      {
        ...NO_MAIL,
        effect: 'throttle',
        budget: { window: 'day', amount: 1, currency: 'EUR', warnPercent: 101 },
      },
      ['budget.warnPercent'],
    ],
    ['an expiry that has passed', { ...NO_MAIL, expiresAt: 1 }, ['expiresAt']],
  ])('answers %s', async (_case, order, paths) => {
    const before = await desk.count();
    const answer = await desk.elsewhere(test.owner).post('/standing-orders', order);
    expect(answer.status).toBe(422);
    expect(answer.body.error.code).toBe('VALIDATION_FAILED');
    expect(new Set(answer.body.error.details.map(({ path }: { path: string }) => path))).toEqual(
      new Set(paths),
    );
    expect(await desk.count()).toBe(before);
  });

  it('answers a member of several teams who names none', async () => {
    const teams = [
      await test.createTeam(test.workspaceId, 'North'),
      await test.createTeam(test.workspaceId, 'South'),
    ];
    const answer = await (await desk.member('operator', teams)).post('/standing-orders', NO_MAIL);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path: 'teamId' }]);
  });
});

describe('POST and GET /standing-orders 429', () => {
  beforeEach(() => test.clock.stopAtMinute());
  afterEach(() => test.clock.goOn());

  it('answers the thirty-first call of a minute, of both together', async () => {
    const client = desk.elsewhere(test.owner);
    const call = (n: number) =>
      n % 2 ? client.get('/standing-orders') : client.post('/standing-orders', NO_MAIL);
    for (let n = 0; n < 30; n++) expect((await call(n)).status).toBeLessThan(300);
    for (const n of [0, 1]) expect((await call(n)).status).toBe(429);
  });
});
