import fc from 'fast-check';
import type {
  DecisionInput,
  DecidedPacket,
  DecisionOrder,
} from '../../src/features/standing-orders/decision-input.js';
import {
  APPROVING_ROLES,
  EFFECTS,
  ON_EXCEED,
  PRESENCES,
} from '../../src/features/standing-orders/standing-order.js';
import {
  CAPO_ROLES,
  GUARDIAN_MODES,
  type GuardianMode,
  PRIORITIES,
  REVERSIBILITIES,
} from '../../src/features/terms/terms.js';

export function aPacket(given: Partial<DecidedPacket> = {}): DecidedPacket {
  return {
    workPacketId: 'pkt_1',
    capo: 'capo_marketing',
    engine: 'marketing',
    teamId: null,
    priority: 'medium',
    actionType: 'email.send',
    reversibility: 'irreversible',
    target: null,
    params: { to: ['ann@example.com'], subject: 'Hello' },
    recipients: 1,
    amount: null,
    currency: null,
    ...given,
  };
}

export function anOrder(given: Partial<DecisionOrder> = {}): DecisionOrder {
  return {
    standingOrderId: 'so_1',
    version: 1,
    hash: 'h',
    name: 'Order one',
    status: 'active',
    teamId: null,
    capos: null,
    effect: 'allow',
    match: {},
    when: null,
    limits: null,
    budget: null,
    approval: null,
    expiresAt: null,
    ...given,
  };
}

interface Given extends Partial<Omit<DecisionInput, 'packet' | 'guardian'>> {
  packet?: Partial<DecidedPacket>;
  mode?: GuardianMode;
}

/** A decision about one mail, on Wednesday 2026-07-01 at 12:00 UTC, guardrailed, the operator away. */
export function anInput({ packet, mode = 'guardrailed', ...given }: Given = {}): DecisionInput {
  return {
    at: Date.UTC(2026, 6, 1, 12),
    presence: 'away',
    guardian: { mode, epoch: 1 },
    packet: aPacket(packet),
    orders: [],
    usage: {},
    ...given,
  };
}

/** Small domains, so that orders and work packets often meet. */
const teams = fc.constantFrom(null, 'team_a' as const, 'team_b' as const);
const actionTypes = fc.constantFrom('email.send', 'webhook.post', 'document.file');
const some = <T>(values: readonly T[]) =>
  fc.option(fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 }));

const conditions = fc.oneof(
  fc.record({ $domainIn: fc.constant(['example.com']) }),
  fc.record({ $lte: fc.integer({ min: 0, max: 1000 }) }),
  fc.record({ $ne: fc.oneof(fc.string(), fc.integer()) }),
  fc.record({ $suffix: fc.constantFrom('e', '.com') }),
  fc.record({ $exists: fc.boolean() }),
);

const windows = fc.record({
  presence: some(PRESENCES),
  days: fc.constantFrom(null, ['wed' as const], ['sat' as const, 'sun' as const]),
  from: fc.constantFrom(null, '09:00', '22:00'),
  to: fc.constantFrom(null, '06:00', '17:00'),
  timezone: fc.constantFrom(null, 'UTC', 'Europe/Berlin', 'Nowhere/Land'),
});

export const orders: fc.Arbitrary<DecisionOrder> = fc.record({
  standingOrderId: fc.constantFrom('so_a', 'so_b', 'so_c', 'so_d', 'so_e'),
  version: fc.integer({ min: 1, max: 3 }),
  hash: fc.constant('h'),
  name: fc.string({ unit: 'binary' }),
  status: fc.constantFrom('active', 'active', 'active', 'paused'),
  teamId: teams,
  capos: some(CAPO_ROLES),
  effect: fc.constantFrom(...EFFECTS),
  match: fc.record(
    {
      actionTypes: fc.option(fc.uniqueArray(actionTypes, { minLength: 1 })),
      reversibility: some(REVERSIBILITIES),
      priorities: some(PRIORITIES),
      fields: fc.dictionary(fc.constantFrom('params.to', 'params.amount', 'amount', 'target'), conditions, {
        maxKeys: 2,
      }),
    },
    { requiredKeys: [] },
  ),
  when: fc.option(windows, { freq: 1 }),
  limits: fc.option(
    fc.record({ maxPerHour: fc.option(fc.integer({ min: 1, max: 5 })), maxRecipients: fc.constant(5) }),
  ),
  budget: fc.option(
    fc.record({
      window: fc.constant('day' as const),
      amount: fc.integer({ min: 1, max: 500 }),
      currency: fc.constant('EUR'),
      warnPercent: fc.constantFrom(null, 80),
      onExceed: fc.constantFrom(null, ...ON_EXCEED),
    }),
  ),
  approval: fc.option(
    fc.record({
      expiresInMinutes: fc.option(fc.integer({ min: 1, max: 600 })),
      onExpiry: fc.constantFrom(null, 'reject' as const, 'escalate' as const),
      selfApproval: fc.option(fc.boolean()),
      quorum: fc.option(fc.integer({ min: 1, max: 3 })),
      approvers: fc.option(
        fc.record({
          roles: fc.option(fc.subarray([...APPROVING_ROLES])),
          memberIds: fc.option(fc.subarray(['mem_a', 'mem_b', 'mem_c'])),
        }),
      ),
    }),
  ),
  expiresAt: fc.constantFrom(null, Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)),
});

const params = fc.oneof(
  fc.record({
    to: fc.constantFrom<string | string[]>(
      ['a@example.com'],
      ['a@example.com', 'b@other.com'],
      'c@other.com',
    ),
  }),
  fc.dictionary(
    fc.constantFrom('to', 'amount', '__proto__', 'constructor'),
    fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }),
  ),
) as fc.Arbitrary<DecidedPacket['params']>;

export const inputs: fc.Arbitrary<DecisionInput> = fc.record({
  at: fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 0, 1) }),
  presence: fc.constantFrom(...PRESENCES),
  guardian: fc.record({
    mode: fc.constantFrom(...GUARDIAN_MODES, 'guardrailed', 'autonomous'),
    epoch: fc.nat(9),
  }),
  packet: fc.record({
    workPacketId: fc.constantFrom(null, 'pkt_1'),
    capo: fc.constantFrom(...CAPO_ROLES),
    engine: fc.constant('marketing'),
    teamId: teams,
    priority: fc.constantFrom(...PRIORITIES),
    actionType: actionTypes,
    reversibility: fc.constantFrom(...REVERSIBILITIES),
    target: fc.option(fc.string()),
    params,
    recipients: fc.nat(8),
    amount: fc.option(fc.oneof(fc.nat(600), fc.constantFrom(-50, 0.1, Infinity, NaN))),
    currency: fc.constantFrom(null, 'EUR', 'USD'),
  }),
  orders: fc.array(orders, { maxLength: 6 }),
  usage: fc.dictionary(
    fc.constantFrom('so_a', 'so_b', 'so_c'),
    fc.record({
      lastHour: fc.nat(5),
      lastDay: fc.nat(9),
      amountToday: fc.nat(500),
      budgetSpent: fc.nat(500),
    }),
  ),
});
