import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DecisionInput, DecisionOrder } from '../../src/features/standing-orders/decision-input.js';
import { type Electorate, evaluate, isNamed } from '../../src/features/standing-orders/evaluate.js';
import { isNoLooser } from '../../src/features/standing-orders/looseness.js';
import { APPROVING_ROLES, EFFECTS } from '../../src/features/standing-orders/standing-order.js';
import { anOrder, inputs, orders } from './factories.js';

const strictness = (input: DecisionInput) => EFFECTS.indexOf(evaluate(input).outcome);
type Change = Partial<DecisionOrder>;

describe('a version is no looser than the former one', () => {
  const mail = { actionTypes: ['email.send'] };
  const acme = { 'params.to': { $domainIn: ['acme.example'] } };
  const budget = { window: 'day', amount: 100, currency: 'EUR' } as const;

  it.each<[string, Change, Change]>([
    ['that says the same', { match: mail }, { match: mail }],
    ['that allows fewer action types', { match: {} }, { match: mail }],
    ['that allows less by its fields', { match: mail }, { match: { ...mail, fields: acme } }],
    [
      'that allows only what also ends so',
      { match: { ...mail, fields: { target: { $prefix: 'a' } } } },
      { match: { ...mail, fields: { target: { $prefix: 'a', $suffix: 'z' } } } },
    ],
    ['that allows for fewer capos', { capos: null }, { capos: ['ceo'] }],
    ['that allows for a shorter time', { expiresAt: null }, { expiresAt: 1 }],
    ['that allows at fewer times', { when: null }, { when: { presence: ['away'] } }],
    ['that gets a limit', { limits: null }, { limits: { maxPerDay: 5 } }],
    ['whose limit is lower', { limits: { maxPerDay: 5 } }, { limits: { maxPerDay: 4, maxPerHour: 9 } }],
    ['whose budget is smaller', { budget }, { budget: { ...budget, amount: 99, onExceed: 'deny' } }],
    ['that denies what it allowed', { match: mail }, { match: {}, effect: 'deny' }],
    [
      'that denies something else than it allowed',
      { match: mail },
      { match: { priorities: ['low'] }, effect: 'deny' },
    ],
    ['that denies more', { effect: 'deny', match: mail }, { effect: 'deny', match: {} }],
    ['that denies for longer', { effect: 'deny', expiresAt: 1 }, { effect: 'deny', expiresAt: 2 }],
    ['that denies what it asked for', { effect: 'require_approval' }, { effect: 'deny' }],
    [
      'that names the default',
      { effect: 'require_approval' },
      { effect: 'require_approval', approval: { expiresInMinutes: 4_320, onExpiry: 'reject' } },
    ],
    [
      'that denies what it escalates',
      { effect: 'require_approval', match: mail, approval: { onExpiry: 'escalate' } },
      { effect: 'deny', match: {} },
    ],
    [
      'whose approval ends sooner',
      { effect: 'require_approval', approval: { expiresInMinutes: 60 } },
      { effect: 'require_approval', approval: { expiresInMinutes: 30, selfApproval: false } },
    ],
    [
      'that more people of fewer approve',
      { effect: 'require_approval', approval: { approvers: { roles: ['operator'], memberIds: ['mem_a'] } } },
      { effect: 'require_approval', approval: { quorum: 2, approvers: { roles: ['admin'] } } },
    ],
  ])('%s', (_, former, next) => {
    expect(isNoLooser(anOrder(former), anOrder(next))).toBe(true);
  });

  it.each<[string, Change, Change]>([
    ['that allows more action types', { match: mail }, { match: {} }],
    ['that allows for more domains', { match: { fields: acme } }, { match: {} }],
    ['that allows for longer', { expiresAt: 1 }, { expiresAt: null }],
    [
      'that allows at other hours',
      { when: { from: '08:00', to: '18:00' } },
      { when: { from: '08:00', to: '19:00' } },
    ],
    ['whose limit is higher', { limits: { maxPerDay: 5 } }, { limits: { maxPerDay: 6 } }],
    ['without its limit', { limits: { maxPerDay: 5 } }, { limits: { maxPerHour: 5 } }],
    ['whose budget is in another currency', { budget }, { budget: { ...budget, currency: 'USD' } }],
    [
      'that binds fewer work packets to its limit',
      { limits: { maxPerDay: 5 } },
      { limits: { maxPerDay: 5 }, match: mail },
    ],
    [
      'that throttles what it bound to a limit',
      { limits: { maxPerDay: 5 } },
      { limits: { maxPerDay: 5 }, effect: 'throttle' },
    ],
    ['that allows what it denied', { effect: 'deny' }, { effect: 'allow' }],
    ['that asks for what it denied', { effect: 'deny' }, { effect: 'require_approval' }],
    ['that denies less', { effect: 'deny', match: {} }, { effect: 'deny', match: mail }],
    ['that denies for a shorter time', { effect: 'deny' }, { effect: 'deny', expiresAt: 1 }],
    [
      'that escalates where an approval was rejected',
      { effect: 'require_approval' },
      { effect: 'require_approval', approval: { onExpiry: 'escalate' } },
    ],
    [
      'that gives more than the 72 hours of the default',
      { effect: 'require_approval' },
      { effect: 'require_approval', approval: { expiresInMinutes: 4_321 } },
    ],
    [
      'that escalates more work packets',
      { effect: 'require_approval', match: mail, approval: { onExpiry: 'escalate' } },
      { effect: 'require_approval', match: {}, approval: { onExpiry: 'escalate' } },
    ],
    [
      'that fewer people approve',
      { effect: 'require_approval', approval: { quorum: 3 } },
      { effect: 'require_approval', approval: { quorum: 2 } },
    ],
    [
      'that a lower role approves',
      { effect: 'require_approval', approval: { approvers: { roles: ['admin'] } } },
      { effect: 'require_approval', approval: { approvers: { roles: ['operator'] } } },
    ],
    [
      'that one more member approves',
      { effect: 'require_approval', approval: { approvers: { memberIds: ['mem_a'] } } },
      { effect: 'require_approval', approval: { approvers: { memberIds: ['mem_a', 'mem_b'] } } },
    ],
    [
      'that anybody approves',
      { effect: 'require_approval', approval: { approvers: { memberIds: ['mem_a'] } } },
      { effect: 'require_approval' },
    ],
    ['of another team', { teamId: null }, { teamId: 'team_a' }],
  ])('but not one %s', (_, former, next) => {
    expect(isNoLooser(anOrder(former), anOrder(next))).toBe(false);
  });

  it('lets nothing through that the former one stopped, whatever else there is', () => {
    const id = { standingOrderId: 'so_a' as const, status: 'active' as const, version: 1 };
    // Two versions that have most in common, so that one is often no looser than the other.
    const pair = fc
      .tuple(orders, orders, fc.uniqueArray(fc.constantFrom(...CHANGEABLE), { maxLength: 2 }))
      .map(([former, other, changed]) => {
        const change = Object.fromEntries(changed.map((name) => [name, other[name]]));
        return [
          { ...former, ...id },
          { ...former, ...change, ...id },
        ] as const;
      });
    let compared = 0;
    fc.assert(
      fc.property(inputs, pair, (input, [former, next]) => {
        if (!isNoLooser(former, next)) return;
        compared += 1;
        const others = input.orders.filter(({ standingOrderId }) => standingOrderId !== id.standingOrderId);
        const withOrder = (order: DecisionOrder) => ({ ...input, orders: [...others, order] });
        const [before, after] = [withOrder(former), withOrder(next)];
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
        // And where a person is asked, whoever could not have approved it cannot.
        if (evaluate(before).outcome !== 'require_approval' || evaluate(after).outcome === 'deny') return;
        const [was, is] = [evaluate(before).approval, evaluate(after).approval];
        expect(is.quorum ?? 1).toBeGreaterThanOrEqual(was.quorum ?? 1);
        for (const role of APPROVING_ROLES) {
          for (const memberId of ['mem_a', 'mem_z']) {
            const mayApprove = ({ approvers = [] }: Partial<Electorate>) =>
              approvers.every((named) => isNamed(named, { memberId, role }));
            if (!mayApprove(was)) expect(mayApprove(is)).toBe(false);
          }
        }
      }),
      { numRuns: 800 },
    );
    expect(compared).toBeGreaterThan(100);
  });
});

const CHANGEABLE = ['effect', 'match', 'capos', 'when', 'limits', 'budget', 'approval', 'expiresAt'] as const;
