import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FULL_SIZE } from '../../support/full-size.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';
import { AGENTS, type Asked, Place } from './agreement-place.js';

const BATCHES = FULL_SIZE ? 22 : 4;
const REQUESTS = FULL_SIZE ? 20 : 12;

const PATTERNS = [
  'pay.invoice',
  'pay.*',
  'pay.cents',
  'pay.blind',
  'pay.paused',
  'pay.unknown',
  'mail.post',
  'mail.*',
  'crm.*',
  'crm.note',
];
const CONDITIONS = [
  { amount: { $lte: 50 } },
  { 'params.amount': { $lte: 50 } },
  { amount: { $gt: 30 } },
  { currency: { $eq: 'EUR' } },
  { 'params.to': { $domainIn: ['acme.example'] } },
  { recipients: { $lte: 1 } },
];

const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const seldom = <T>(value: fc.Arbitrary<T>) => optional(value).chain((one) => optional(fc.constant(one)));
const orders = fc
  .record({
    effect: fc.constantFrom(
      'allow',
      'allow',
      'allow',
      'throttle',
      'throttle',
      'require_approval',
      'deny',
      'deny',
    ),
    actionTypes: fc.uniqueArray(fc.constantFrom(...PATTERNS), { minLength: 1, maxLength: 3 }),
    isGeneral: fc.boolean(),
    agents: optional(fc.constantFrom(['alpha-bot'], ['beta-bot'], ['alpha-bot', 'beta-bot'])),
    fields: optional(fc.constantFrom(...CONDITIONS)),
    reversibility: seldom(fc.constantFrom(['reversible'], ['irreversible'], ['read_only', 'reversible'])),
    limits: optional(
      fc.constantFrom<object>(
        { maxPerHour: 1 },
        { maxPerHour: 3 },
        { maxPerDay: 2 },
        { maxRecipients: 1 },
        { maxAmountPerDay: 70 },
        { maxPerDay: 4, maxAmountPerDay: 100 },
      ),
    ),
    budget: seldom(
      fc.record({
        window: fc.constantFrom('day', 'week', 'month'),
        amount: fc.constantFrom(45, 90),
        currency: fc.constantFrom('EUR', 'USD'),
        onExceed: fc.constantFrom('require_approval', 'deny', 'throttle'),
      }),
    ),
    pace: fc.constantFrom({ maxPerHour: 1 }, { maxPerDay: 2 }, { maxAmountPerDay: 60 }),
    isOfTeam: fc.constantFrom(false, false, true),
    presence: fc.constantFrom(undefined, undefined, undefined, ['away']),
  })
  .map(
    ({
      effect,
      actionTypes,
      isGeneral,
      agents,
      fields,
      reversibility,
      limits,
      budget,
      pace,
      isOfTeam,
      presence,
    }) => {
      const isBounded = effect === 'allow' || effect === 'throttle';
      return {
        effect,
        isOfTeam,
        match: {
          ...((isBounded || !isGeneral) && { actionTypes }),
          ...(agents && { agents }),
          ...(fields && { fields }),
          ...(reversibility && { reversibility }),
        },
        ...(isBounded && limits && { limits }),
        ...(isBounded && budget && { budget }),
        // Broad, or it would hardly ever meet an order that allows.
        ...(effect === 'throttle' && { match: { actionTypes: ['pay.*', 'crm.*'] }, limits: pace }),
        ...(presence && { when: { presence } }),
      };
    },
  );

const requests = fc.record({
  by: fc.constantFrom<keyof typeof AGENTS | 'member'>(
    'alpha-bot',
    'alpha-bot',
    'alpha-bot',
    'beta-bot',
    'member',
  ),
  tool: fc.constantFrom<string>(
    'pay.invoice',
    'pay.invoice',
    'pay.cents',
    'pay.blind',
    'pay.paused',
    'pay.unknown',
    'mail.post',
    'crm.note',
    'crm.strict',
  ),
  params: fc
    .record({
      amount: fc.constantFrom<unknown>(10, 40, 40, 55, 4000, '25', -5, null, undefined),
      currency: fc.constantFrom<unknown>('EUR', 'EUR', 'EUR', 'USD', 'eur', 'XXX', undefined),
      to: fc.constantFrom<unknown>(
        undefined,
        'a@acme.example',
        ['a@acme.example'],
        ['a@acme.example', 'b@other.example'],
        5,
        'a@acme.example, c@acme.example',
      ),
    })
    .map((params) => JSON.parse(JSON.stringify(params)) as Record<string, unknown>),
  isOfTeam: fc.constantFrom(false, false, true),
  consume: fc.boolean(),
});

const batches = fc.record({
  /** With the one order first as a draft, over the same requests; or with all orders in force from the beginning. */
  isDrafted: fc.boolean(),
  isMostlyAllowed: fc.constantFrom(true, true, false),
  orders: fc.array(orders, { minLength: 1, maxLength: 4 }),
  requests: fc.array(requests, { minLength: REQUESTS, maxLength: REQUESTS }),
  mode: fc.constantFrom(
    'guardrailed',
    'guardrailed',
    'guardrailed',
    'guardrailed',
    'autonomous',
    'supervised',
  ),
  currency: fc.constantFrom('EUR', 'USD'),
});
type Batch = typeof batches extends fc.Arbitrary<infer T> ? T : never;

const EUROS = { amount: 40, currency: 'EUR' };
const asking = (by: Asked['by'], tool: string, params: Asked['params'] = EUROS): Asked => ({
  by,
  tool,
  params,
  isOfTeam: false,
  consume: true,
});
/** Every outcome, and one agent that is allowed what another is not, whatever the random ones come to. */
const EVERY_OUTCOME: Batch = {
  isDrafted: false,
  isMostlyAllowed: false,
  orders: [
    {
      effect: 'allow',
      isOfTeam: false,
      match: { actionTypes: ['pay.*', 'crm.*'], agents: ['alpha-bot'] },
      budget: { window: 'week', amount: 90, currency: 'EUR', onExceed: 'require_approval' },
    },
    { effect: 'throttle', isOfTeam: false, match: { actionTypes: ['crm.*'] }, limits: { maxPerHour: 1 } },
    { effect: 'deny', isOfTeam: false, match: { fields: { amount: { $gt: 45 } } } },
  ],
  requests: [
    asking('beta-bot', 'pay.invoice'),
    asking('alpha-bot', 'pay.invoice'),
    asking('alpha-bot', 'crm.strict', { ...EUROS, amount: 10 }),
    asking('alpha-bot', 'crm.strict', { ...EUROS, amount: 10 }),
    asking('alpha-bot', 'pay.invoice'),
    asking('alpha-bot', 'pay.invoice', { ...EUROS, currency: 'USD' }),
    asking('member', 'pay.invoice', { ...EUROS, amount: 55 }),
    asking('beta-bot', 'mail.post'),
    asking('alpha-bot', 'crm.strict', { amount: '25' }),
  ],
  mode: 'guardrailed',
  currency: 'USD',
};

let test: TestApp;
let desk: OrderDesk;
/** How often which outcome came. */
const seen: Record<string, number> = {};
beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
});
afterAll(() => test.close());

/** Without a bound, so that what the others say decides. */
const ALMOST_ALL = {
  effect: 'allow' as const,
  isOfTeam: false,
  match: { actionTypes: ['pay.*', 'mail.*', 'crm.*'] },
};

/** What waits for nothing yet is told an hour from the moment at which it is asked. */
const withoutTimes = (explanation: readonly string[]) =>
  explanation.map((sentence) => sentence.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'then'));

/** Asks each, beforehand what would come of it; both say the same, for the same reasons. */
async function askAll(place: Place, asked: readonly Asked[]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const one of asked) {
    const { outcome, explanation } = await place.preflight(one);
    const decided = await place.ask(one);
    const what = JSON.stringify(one);
    expect(outcome, what).toBe(decided);
    if (explanation) {
      const { actionRequestId } = place.asked.at(-1)!;
      const [{ policy }] = (await test.rows<{ policy: { explanation: string[] } }>(
        'select policy from action_requests where action_request_id = $1',
        [actionRequestId],
      )) as [{ policy: { explanation: string[] } }];
      expect(withoutTimes(explanation), what).toEqual(withoutTimes(policy.explanation));
    }
    seen[decided] = (seen[decided] ?? 0) + 1;
    outcomes.push(decided);
  }
  return outcomes;
}

/** Nothing is decided otherwise with the orders that were in force. */
async function inForce(batch: Batch): Promise<void> {
  const place = await Place.open(test, desk, batch);
  const ids: string[] = [];
  const all = batch.isMostlyAllowed ? [ALMOST_ALL, ...batch.orders] : batch.orders;
  for (const [n, order] of all.entries()) {
    const id = await place.order(order, n, true);
    if (id) ids.push(id);
  }
  await askAll(place, batch.requests);
  const [{ teams }] = (await test.rows<{ teams: Record<string, string | null> }>(
    'select jsonb_object_agg(standing_order_id, team_id) as teams from standing_orders where workspace_id = $1',
    [place.workspaceId],
  )) as [{ teams: Record<string, string | null> }];
  for (const id of ids) {
    const { considered, changes } = await place.simulate(id);
    expect(changes, id).toEqual([]);
    expect(considered).toBe(
      place.asked.filter(({ isOfTeam }) => (teams?.[id] ?? null) === null || isOfTeam).length,
    );
  }
  await place.verify();
}

/** What a simulation says of a draft is what happens once it is in force. */
async function drafted(batch: Batch): Promise<void> {
  const place = await Place.open(test, desk, batch);
  const [order] = batch.orders;
  if (batch.isMostlyAllowed) await place.order(ALMOST_ALL, 1, true);
  const former = await askAll(place, batch.requests);
  const before = [...place.asked];
  const standingOrderId = await place.order(order!, 0, false);
  if (standingOrderId === undefined) return;
  const { changes } = await place.simulate(standingOrderId);
  const to = new Map(changes.map((change) => [change.workPacketId, change.to]));
  const [{ status }] = (await test.rows<{ status: string }>(
    'select status from standing_orders where standing_order_id = $1',
    [standingOrderId],
  )) as [{ status: string }];
  if (status !== 'active') await desk.activate(standingOrderId, place.owner);
  const outcomes = await askAll(place, batch.requests);
  const kept = former.flatMap((outcome, index) => (outcome.length === 3 ? [] : [index]));
  const simulated = kept.map((index, nth) => to.get(before[nth]!.actionRequestId) ?? former[index]);
  expect(kept.map((index) => outcomes[index])).toEqual(simulated);
  await place.verify();
}

describe('random orders and requests of agents', () => {
  it(
    'are decided alike by preflight, the request, a simulation and the verifier',
    { timeout: 600_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(batches, (batch) => (batch.isDrafted ? drafted(batch) : inForce(batch))),
        { numRuns: BATCHES, endOnFailure: true, examples: [[EVERY_OUTCOME]] },
      );
      const outcomes = ['403', '422', 'allow', 'deny', 'require_approval', 'throttle'];
      expect(Object.keys(seen).toSorted()).toEqual(outcomes);
      const total = Object.values(seen).reduce((sum, count) => sum + count, 0);
      expect(total).toBeGreaterThanOrEqual(FULL_SIZE ? 500 : 40);
    },
  );

  it('are halted while killed', async () => {
    const [batch] = fc.sample(batches, 1);
    const place = await Place.open(test, desk, batch!);
    await place.owner.post('/guardian/killswitch', {});
    const asked = { ...batch!.requests[0]!, by: 'alpha-bot' as const, tool: 'crm.note', params: {} };
    expect((await place.preflight(asked)).outcome).toBe('halted');
    expect(await place.ask(asked)).toBe('423');
  });
});
