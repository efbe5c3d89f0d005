import { describe, expect, it } from 'vitest';
import { recorded } from '../../src/features/standing-orders/decision-input.js';
import type { DecidedPacket, DecisionOrder } from '../../src/features/standing-orders/decision-input.js';
import { evaluate } from '../../src/features/standing-orders/evaluate.js';
import type { Effect } from '../../src/features/standing-orders/standing-order.js';
import { GUARDIAN_MODES, REVERSIBILITIES } from '../../src/features/terms/terms.js';
import { canonicalJson, sha256 } from '../../src/platform/kernel/canonical-json.js';
import { anInput, anOrder } from './factories.js';

const allow = anOrder({ standingOrderId: 'so_allow', name: 'Mail to customers', effect: 'allow' });
const ask = anOrder({ standingOrderId: 'so_ask', name: 'Show me mail', effect: 'require_approval' });
const deny = anOrder({ standingOrderId: 'so_deny', name: 'No mail', effect: 'deny' });
const paced = anOrder({
  standingOrderId: 'so_pace',
  name: 'Slowly',
  effect: 'throttle',
  limits: { maxPerHour: 2 },
});

const used = (lastHour: number) => ({ lastHour, lastDay: 0, amountToday: 0, budgetSpent: 0 });

describe('the strictest order', () => {
  const cases: [string, DecisionOrder[], Effect][] = [
    ['nothing', [], 'require_approval'],
    ['an order that allows', [allow], 'allow'],
    ['allow and require_approval', [allow, ask], 'require_approval'],
    ['allow, require_approval and deny', [allow, ask, deny], 'deny'],
    ['allow and deny', [allow, deny], 'deny'],
    ['allow and a throttle within its pace', [allow, paced], 'allow'],
  ];
  it.each(cases)('%s decides the packet: %#', (_, orders, outcome) => {
    expect(evaluate(anInput({ orders })).outcome).toBe(outcome);
  });

  it('throttles an allowed work packet beyond the pace', () => {
    const decision = evaluate(anInput({ orders: [allow, paced], usage: { so_pace: used(2) } }));
    expect(decision.outcome).toBe('throttle');
  });

  it('asks, and does not merely wait, when a throttled work packet was never allowed', () => {
    expect(evaluate(anInput({ orders: [paced] })).outcome).toBe('require_approval');
    expect(evaluate(anInput({ orders: [paced], usage: { so_pace: used(2) } })).outcome).toBe(
      'require_approval',
    );
  });

  it('holds a work packet back when an order throttles without any limit', () => {
    expect(evaluate(anInput({ orders: [allow, { ...paced, limits: null }] })).outcome).toBe('throttle');
  });
});

describe('which orders match', () => {
  const payment: Partial<DecidedPacket> = { teamId: 'team_a', params: { amount: 500 } };
  const cases: [string, Partial<DecisionOrder>, boolean][] = [
    ['of the workspace', { teamId: null }, true],
    ['of the team', { teamId: 'team_a' }, true],
    ['of another team', { teamId: 'team_b' }, false],
    ['for the capo', { capos: ['ceo', 'capo_marketing'] }, true],
    ['for another capo', { capos: ['ceo'] }, false],
    ['for the action type', { match: { actionTypes: ['email.send'] } }, true],
    ['for another action type', { match: { actionTypes: ['webhook.post'] } }, false],
    ['for the class', { match: { reversibility: ['irreversible'] } }, true],
    ['for another class', { match: { reversibility: ['reversible', 'read_only'] } }, false],
    ['for the priority', { match: { priorities: ['medium'] } }, true],
    ['for another priority', { match: { priorities: ['high', 'low'] } }, false],
    ['whose condition holds', { match: { fields: { 'params.amount': { $lte: 500 } } } }, true],
    ['whose condition does not hold', { match: { fields: { 'params.amount': { $lt: 500 } } } }, false],
    [
      'one of whose conditions does not hold',
      { match: { fields: { amount: { $exists: true }, 'params.amount': { $gt: 0 } } } },
      false,
    ],
    ['for when the operator is away', { when: { presence: ['away'] } }, true],
    ['for when the operator is present', { when: { presence: ['present'] } }, false],
    [
      'inside its window',
      { when: { days: ['wed'], from: '14:00', to: '15:00', timezone: 'Europe/Berlin' } },
      true,
    ],
    [
      'outside its window',
      { when: { days: ['wed'], from: '12:00', to: '14:00', timezone: 'Europe/Berlin' } },
      false,
    ],
    ['that expires later', { expiresAt: Date.UTC(2026, 6, 1, 12) + 1 }, true],
    ['that expires now', { expiresAt: Date.UTC(2026, 6, 1, 12) }, false],
    ['that is paused', { status: 'paused' }, false],
    ['in the shadow', { status: 'shadow' }, false],
    ['of a draft', { status: 'draft' }, false],
  ];
  it.each(cases)('takes an order %s: %#', (_, given, expected) => {
    const decision = evaluate(anInput({ packet: payment, orders: [anOrder(given)] }));
    expect(decision.considered).toEqual(['so_1']);
    expect(decision.matched).toEqual(
      expected ? [{ standingOrderId: 'so_1', version: 1, effect: 'allow' }] : [],
    );
  });

  it('compares a work packet of no team with the orders of the workspace only', () => {
    const orders = [anOrder({ teamId: 'team_a' }), { ...deny, teamId: null }];
    expect(evaluate(anInput({ orders })).matched.map((order) => order.standingOrderId)).toEqual(['so_deny']);
  });

  it.each([
    [
      'a list that satisfies it in part',
      { match: { fields: { 'params.to': { $domainIn: ['example.com'] } } } },
    ],
    ['a zone nobody knows', { when: { from: '09:00', to: '17:00', timezone: 'Nowhere/Land' } }],
    ['a window without a zone', { when: { days: ['wed' as const] } }],
  ])('takes %s against the work packet, whatever the effect', (_, given) => {
    const packet = { params: { to: ['a@example.com', 'b@other.com'] } };
    const outcome = (order: DecisionOrder) => evaluate(anInput({ packet, orders: [order] })).matched.length;
    expect(outcome({ ...allow, ...given })).toBe(0);
    expect(outcome({ ...ask, ...given })).toBe(1);
    expect(outcome({ ...deny, ...given })).toBe(1);
  });
});

describe('limits of an order that allows', () => {
  const limited = { ...allow, limits: { maxPerHour: 2, maxRecipients: 10 } };

  it('let the last work packet within them through', () => {
    const decision = evaluate(anInput({ orders: [limited], usage: { so_allow: used(1) } }));
    expect(decision.outcome).toBe('allow');
    expect(decision.limits).toEqual([
      { standingOrderId: 'so_allow', limit: 'maxPerHour', allowed: 2, used: 2, holds: true },
      { standingOrderId: 'so_allow', limit: 'maxRecipients', allowed: 10, used: 1, holds: true },
    ]);
  });

  it('ask for the next one, and say which limit it was', () => {
    const decision = evaluate(anInput({ orders: [limited], usage: { so_allow: used(2) } }));
    expect(decision.outcome).toBe('require_approval');
    expect(decision.explanation).toEqual([
      'The standing order "Mail to customers" would allow this work packet, but it would be work packet 3 of this hour and the limit is 2.',
    ]);
  });

  it('ask even when a second order allows the same work packet', () => {
    const orders = [limited, anOrder({ standingOrderId: 'so_wide' })];
    expect(evaluate(anInput({ orders, usage: { so_allow: used(2) } })).outcome).toBe('require_approval');
  });

  it.each([
    [undefined, 'require_approval'],
    ['require_approval', 'require_approval'],
    ['throttle', 'throttle'],
    ['deny', 'deny'],
  ] as const)('do %s beyond the budget', (onExceed, outcome) => {
    const budget = { window: 'week', amount: 100, currency: 'EUR', onExceed } as const;
    const packet = { amount: 60, currency: 'EUR' };
    const usage = { so_allow: { ...used(0), budgetSpent: 50 } };
    expect(evaluate(anInput({ packet, usage, orders: [{ ...allow, budget }] })).outcome).toBe(outcome);
  });

  it.each([Infinity, -Infinity, NaN])('are broken by an amount of %d', (amount) => {
    const orders = [{ ...allow, limits: { maxAmountPerDay: 1e12 } }];
    expect(evaluate(anInput({ orders, packet: { amount } })).outcome).toBe('require_approval');
  });

  it('do not apply to orders that deny or ask', () => {
    expect(evaluate(anInput({ orders: [{ ...deny, limits: { maxPerHour: 1 } }] })).limits).toEqual([]);
  });

  it('are not looked up on the prototype of the usage', () => {
    const order = { ...limited, standingOrderId: 'constructor' as 'so_x' };
    expect(evaluate(anInput({ orders: [order] })).limits[0]).toMatchObject({ used: 1, holds: true });
  });
});

describe('the guardian', () => {
  const without: Record<(typeof GUARDIAN_MODES)[number], Effect[]> = {
    //            read_only, reversible, externally_reversible, irreversible
    observe: ['require_approval', 'require_approval', 'require_approval', 'require_approval'],
    supervised: ['require_approval', 'require_approval', 'require_approval', 'require_approval'],
    guardrailed: ['require_approval', 'require_approval', 'require_approval', 'require_approval'],
    autonomous: ['allow', 'allow', 'require_approval', 'require_approval'],
    killed: ['require_approval', 'require_approval', 'require_approval', 'require_approval'],
    recovering: ['require_approval', 'require_approval', 'require_approval', 'require_approval'],
  };
  const allowed: typeof without = {
    ...without,
    guardrailed: ['allow', 'allow', 'allow', 'allow'],
    autonomous: ['allow', 'allow', 'allow', 'require_approval'],
  };

  it.each(GUARDIAN_MODES)(
    'in the mode %s decides each class of work packet, not covered and allowed',
    (mode) => {
      const outcomes = (orders: DecisionOrder[]) =>
        REVERSIBILITIES.map(
          (reversibility) => evaluate(anInput({ mode, orders, packet: { reversibility } })).outcome,
        );
      expect(outcomes([])).toEqual(without[mode]);
      expect(outcomes([allow])).toEqual(allowed[mode]);
    },
  );

  it.each(GUARDIAN_MODES)('in the mode %s never softens a denial', (mode) => {
    const decision = evaluate(
      anInput({ mode, orders: [allow, deny], packet: { reversibility: 'read_only' } }),
    );
    expect(decision.outcome).toBe('deny');
  });

  it('asks in a mode that is not known', () => {
    const decision = evaluate(anInput({ mode: 'tomorrow' as 'observe', orders: [allow] }));
    expect(decision.outcome).toBe('require_approval');
  });

  it('keeps a throttle that paces an autonomous work packet', () => {
    const given = { mode: 'autonomous', orders: [paced], packet: { reversibility: 'reversible' } } as const;
    expect(evaluate(anInput(given)).outcome).toBe('allow');
    expect(evaluate(anInput({ ...given, usage: { so_pace: used(2) } })).outcome).toBe('throttle');
  });

  it('keeps an order that is used up asking in autonomous mode', () => {
    const orders = [{ ...allow, limits: { maxPerHour: 1 } }];
    const given = { mode: 'autonomous', orders, packet: { reversibility: 'reversible' } } as const;
    expect(evaluate(anInput({ ...given, usage: { so_allow: used(1) } })).outcome).toBe('require_approval');
  });
});

describe('the record of a decision', () => {
  it('explains itself with the strictest reason first', () => {
    const decision = evaluate(anInput({ mode: 'supervised', orders: [allow, deny] }));
    expect(decision.explanation).toEqual([
      'The standing order "No mail" forbids this work packet.',
      'The guardian is supervised: every work packet needs an approval.',
      'The standing order "Mail to customers" allows this work packet.',
    ]);
    expect(decision.guardian).toBe('supervised');
  });

  it('speaks of an action where an agent from outside asks', () => {
    const outside = { agent: 'crm-bot', isRegistered: true, unread: [], currency: 'EUR' };
    const explanationOf = (given: Parameters<typeof anInput>[0]) =>
      evaluate(anInput({ ...given, packet: { capo: null, actionType: 'crm.note', outside } })).explanation;
    const named = { actionTypes: ['crm.note'] };
    const paces = { ...paced, match: named };
    expect(explanationOf({ mode: 'supervised', orders: [deny] })).toEqual([
      'The standing order "No mail" forbids this action.',
      'No standing order allows this action.',
      'The guardian is supervised: every action needs an approval.',
    ]);
    expect(
      explanationOf({ orders: [{ ...allow, match: named }, paces], usage: { so_pace: used(2) } })[0],
    ).toMatch(
      /^The standing order "Slowly" limits the pace of this action, but it would be action 3 of this hour /,
    );
    expect(explanationOf({ orders: [{ ...ask, approval: { quorum: 2 } }] })[0]).toBe(
      'The standing order "Show me mail" requires 2 people to approve this action.',
    );
  });

  it('does not say that an order allows it where a person is asked', () => {
    const { outcome, explanation } = evaluate(anInput({ orders: [allow, ask] }));
    expect({ outcome, explanation }).toEqual({
      outcome: 'require_approval',
      explanation: [`The standing order "${ask.name}" requires an approval for this work packet.`],
    });
  });

  it('holds an approval to the strictest terms of the orders that matched', () => {
    const terms = (...approvals: DecisionOrder['approval'][]) =>
      evaluate(anInput({ orders: approvals.map((approval) => ({ ...ask, approval })) })).approval;
    const standard = { expiresInMinutes: 4320, onExpiry: 'reject', selfApproval: true };

    expect(terms()).toEqual(standard);
    expect(terms(null, {})).toEqual(standard);
    expect(terms({ expiresInMinutes: 10_000 })).toEqual({ ...standard, expiresInMinutes: 10_000 });
    expect(terms({ expiresInMinutes: 60 }, { expiresInMinutes: 30, onExpiry: 'escalate' })).toEqual({
      expiresInMinutes: 30,
      onExpiry: 'escalate',
      selfApproval: true,
    });
    expect(terms({ onExpiry: 'reject' }, { onExpiry: 'escalate', selfApproval: false })).toEqual({
      ...standard,
      selfApproval: false,
    });
  });

  it('asks for the highest quorum, of people whom every order names and of whom none has asked', () => {
    const named = (name: string, approval: DecisionOrder['approval']) => ({ ...ask, name, approval });
    const { approval, explanation } = evaluate(
      anInput({
        orders: [
          named('Two', { quorum: 2 }),
          named('Three admins', { quorum: 3, approvers: { roles: ['admin'] } }),
          named('Ann', { approvers: { memberIds: ['mem_ann'] } }),
        ],
      }),
    );
    const { standingOrderId } = ask;
    expect(approval).toMatchObject({ quorum: 3, selfApproval: false });
    expect(approval.approvers!.toSorted((a, b) => a.name.localeCompare(b.name))).toEqual([
      { standingOrderId, name: 'Ann', roles: [], memberIds: ['mem_ann'] },
      { standingOrderId, name: 'Three admins', roles: ['admin'], memberIds: [] },
    ]);
    expect(explanation.toSorted()).toEqual([
      'No standing order allows this work packet.',
      'The standing order "Ann" requires an approval by one of the approvers that it names for this work packet.',
      'The standing order "Three admins" requires 3 of the approvers that it names to approve this work packet.',
      'The standing order "Two" requires 2 people to approve this work packet.',
    ]);
  });

  it('hashes the canonical JSON of the input that is stored', () => {
    const input = anInput({ orders: [deny, allow] });
    expect(evaluate(input).inputHash).toBe(sha256(canonicalJson(recorded(input))));
    expect(evaluate(input).inputHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('changes its hash with any fact', () => {
    const { inputHash } = evaluate(anInput({ orders: [allow] }));
    expect(evaluate(anInput({ orders: [{ ...allow, version: 2 }] })).inputHash).not.toBe(inputHash);
    expect(evaluate(anInput({ orders: [allow], packet: { recipients: 2 } })).inputHash).not.toBe(inputHash);
  });

  it('is hashed with the usage of orders that have a limit, and of no other', () => {
    const bounded = { ...allow, limits: { maxPerHour: 5 } };
    const hash = (order: DecisionOrder, n: number) =>
      evaluate(anInput({ orders: [order], usage: { so_allow: used(n) } })).inputHash;
    expect(hash(bounded, 1)).not.toBe(hash(bounded, 2));
    expect(hash(allow, 1)).toBe(hash(allow, 2));
  });
});
