import { describe, expect, it } from 'vitest';
import { type KnownActions, ruleFaults } from '../../src/features/standing-orders/rule-faults.js';
import type { FieldCondition, StandingOrderRule } from '../../src/features/standing-orders/standing-order.js';
import { anOrder } from './factories.js';

/** A Wednesday at noon. */
const NOW = Date.UTC(2026, 6, 1, 12);
const HOUR = 3_600_000;

const KNOWN: KnownActions = {
  'email.send': {
    classes: ['irreversible'],
    capos: ['capo_marketing', 'capo_ops'],
    parameters: ['to', 'cc', 'subject', 'body'],
  },
  'revenue.record': {
    classes: ['reversible'],
    capos: ['capo_revenue'],
    parameters: ['amount', 'currency', 'source'],
  },
  'document.file': {
    classes: ['reversible'],
    capos: ['capo_marketing', 'capo_ops', 'capo_revenue', 'ceo'],
    parameters: ['title', 'body'],
  },
  'http.call': {
    classes: ['externally_reversible', 'read_only'],
    capos: ['capo_ops'],
    parameters: ['connector', 'operation', 'arguments'],
  },
};

function faults(rule: Partial<StandingOrderRule>): string[] {
  return ruleFaults(anOrder(rule), KNOWN, NOW).map(({ path, rule: name }) => `${path}: ${name}`);
}

function messageOf(rule: Partial<StandingOrderRule>): string {
  return ruleFaults(anOrder(rule), KNOWN, NOW)
    .map(({ message }) => message)
    .join('; ');
}

describe('a rule that could never apply', () => {
  it.each<[string, Partial<StandingOrderRule>, string[], string]>([
    [
      'an action type that does not exist',
      { match: { actionTypes: ['email.send', 'email.sned'] } },
      ['match.actionTypes.1: isKnownAction'],
      'email.sned is not an action type; there are email.send, revenue.record, document.file, http.call',
    ],
    [
      'a tool of agents in an order for capos',
      { capos: ['capo_ops'], match: { actionTypes: ['email.send', 'crm.refund'] } },
      ['match.actionTypes.1: isKnownAction'],
      'crm.refund is not an action type; there are email.send, revenue.record, document.file, http.call',
    ],
    [
      'agents in an order for capos',
      { capos: ['capo_ops'], match: { agents: ['refund-bot'] } },
      ['capos: isWithinScope'],
      'no capo uses the tools of agents from outside',
    ],
    [
      'a condition on a tool that contradicts itself',
      { match: { actionTypes: ['crm.refund'], fields: { amount: { $gt: 10, $lt: 5 } } } },
      ['match.fields.amount: isSatisfiable'],
      'the condition contradicts itself: $lt 5 and $gt 10 leave no number',
    ],
    [
      'capos that cannot do it',
      { capos: ['ceo', 'capo_marketing'], match: { actionTypes: ['revenue.record'] } },
      ['match.actionTypes: isWithinScope'],
      'none of the capos of the order can do any of its action types (revenue.record)',
    ],
    [
      'a class that none of the action types has',
      { match: { actionTypes: ['document.file', 'revenue.record'], reversibility: ['irreversible'] } },
      ['match.reversibility: isWithinScope'],
      'no action that the order is about is irreversible',
    ],
    [
      'a class that nothing the capos can do has',
      { capos: ['ceo'], match: { reversibility: ['irreversible', 'externally_reversible'] } },
      ['match.reversibility: isWithinScope'],
      'no action that the order is about is irreversible or externally_reversible',
    ],
    [
      'a parameter that no action has',
      { match: { fields: { 'params.too': { $exists: true } } } },
      ['match.fields.params.too: isKnownParameter'],
      'no action that the order is about has a parameter too; there are amount, arguments, body, cc, connector, currency, operation, source, subject, title, to',
    ],
    [
      'a parameter that only other actions have',
      { match: { actionTypes: ['email.send'], fields: { 'params.amount': { $lte: 5 } } } },
      ['match.fields.params.amount: isKnownParameter'],
      'no action that the order is about has a parameter amount; there are body, cc, subject, to',
    ],
    [
      'a parameter that only the actions of other capos have',
      { capos: ['ceo'], match: { fields: { 'params.amount': { $lte: 5 } } } },
      ['match.fields.params.amount: isKnownParameter'],
      'no action that the order is about has a parameter amount; there are body, title',
    ],
    [
      'a currency that is none',
      { match: { fields: { 'params.currency': { $in: ['EUR', 'XXQ'] } } } },
      ['match.fields.params.currency: isCurrency'],
      '"XXQ" is not a code of ISO 4217 in upper case, such as EUR',
    ],
    [
      'an end before the window opens',
      {
        when: { days: ['sat'], timezone: 'UTC' },
        expiresAt: NOW + 48 * HOUR,
      },
      ['expiresAt: isAfterOpening'],
      'the order expires before its window opens for the first time',
    ],
    [
      'a limit on a denial',
      { effect: 'deny', limits: { maxPerDay: 1 } },
      ['limits: onlyWithEffect'],
      'limits is only for an order whose effect is allow or throttle',
    ],
    [
      'a quorum for what is allowed',
      { effect: 'allow', approval: { quorum: 2 } },
      ['approval.quorum: onlyWithEffect'],
      'quorum is only for an order whose effect is require_approval',
    ],
    [
      'a throttle without a pace',
      { effect: 'throttle', limits: { maxPerDay: null } },
      ['effect: hasPaceToThrottle'],
      'an order that throttles needs at least one limit or a budget',
    ],
  ])('names %s', (_, rule, expected, message) => {
    expect(faults(rule)).toEqual(expected);
    expect(messageOf(rule)).toBe(message);
  });

  it('names every fault at once', () => {
    const rule: Partial<StandingOrderRule> = {
      effect: 'deny',
      match: {
        actionTypes: ['email.sned'],
        fields: { amount: { $gt: 10, $lt: 5 }, 'params.fax': { $eq: 1 } },
      },
      budget: { window: 'day', amount: 1, currency: 'EUR' },
    };
    expect(faults(rule)).toEqual([
      'match.actionTypes.0: isKnownAction',
      'match.fields.amount: isSatisfiable',
      'match.fields.params.fax: isKnownParameter',
      'budget: onlyWithEffect',
    ]);
  });
});

describe('a condition that contradicts itself', () => {
  it.each<[string, FieldCondition, string]>([
    ['amount', { $gt: 10, $lt: 5 }, '$lt 5 and $gt 10 leave no number'],
    ['amount', { $gt: 5, $lt: 5 }, '$lt 5 and $gt 5 leave no number'],
    ['amount', { $gte: 5, $lt: 5 }, '$lt 5 and $gte 5 leave no number'],
    ['recipients', { $lt: 0 }, '$lt 0 leaves no number'],
    ['amount', { $eq: 3, $gt: 5 }, 'no value of $eq satisfies the whole condition'],
    ['params.to', { $eq: 'a', $in: ['b', 'c'] }, 'no value of $eq satisfies the whole condition'],
    ['params.to', { $eq: 'a', $ne: 'a' }, 'no value of $eq satisfies the whole condition'],
    ['params.to', { $in: ['a', 'b'], $nin: ['b', 'a'] }, 'no value of $in satisfies the whole condition'],
    [
      'params.to',
      { $in: ['a@b.com'], $domainIn: ['c.com'] },
      'no value of $in satisfies the whole condition',
    ],
    ['params.to', { $exists: false, $eq: 'a' }, '$exists: false contradicts every other operator'],
    ['params.to', { $prefix: 'a', $gt: 1 }, 'no value is a number and a text at once'],
    ['amount', { $prefix: '5' }, 'no value is a number and a text at once'],
    ['amount', { $suffix: '5' }, 'no value is a number and a text at once'],
    ['amount', { $eq: '5' }, 'no value of $eq satisfies the whole condition'],
    ['target', { $lt: 5 }, 'no value is a number and a text at once'],
  ])('is refused at %s: %j', (path, condition, because) => {
    const rule = { match: { fields: { [path]: condition } } };
    expect(faults(rule)).toEqual([`match.fields.${path}: isSatisfiable`]);
    expect(messageOf(rule)).toBe(`the condition contradicts itself: ${because}`);
  });

  it.each<[string, FieldCondition]>([
    ['amount', { $gte: 5, $lte: 5 }],
    ['amount', { $gt: 5, $lt: 6 }],
    ['amount', { $lt: 0 }],
    ['recipients', { $lte: 0 }],
    ['amount', { $eq: 5, $in: [4, 5], $gt: 4 }],
    ['params.to', { $exists: false }],
    ['params.to', { $exists: true, $domainIn: ['a.com'] }],
    ['params.to', { $ne: 'a', $nin: ['b'] }],
    ['params.to', { $in: ['a@b.com', 'a@c.com'], $domainIn: ['c.com'] }],
    ['currency', { $in: ['EUR', 'USD'] }],
  ])('is none at %s: %j', (path, condition) => {
    expect(faults({ match: { fields: { [path]: condition } } })).toEqual([]);
  });
});

describe('a rule that may apply', () => {
  it.each<[string, Partial<StandingOrderRule>]>([
    ['to everything', { match: {} }],
    [
      'to one of several action types',
      { capos: ['ceo'], match: { actionTypes: ['email.send', 'document.file'] } },
    ],
    [
      'to what only reads, where that depends on what is called',
      { match: { actionTypes: ['http.call'], reversibility: ['read_only'] } },
    ],
    ['to a parameter that one of the actions has', { match: { fields: { 'params.amount': { $lte: 5 } } } }],
    ['to what lies within a parameter', { match: { fields: { 'params.to.0': { $exists: true } } } }],
    [
      'until after its window has opened',
      { when: { days: ['sat'], timezone: 'UTC' }, expiresAt: NOW + 61 * HOUR },
    ],
    ['within its window', { when: { from: '11:00', to: '13:00', timezone: 'UTC' }, expiresAt: NOW + 1 }],
    [
      'within a window over midnight',
      { when: { days: ['tue'], from: '22:00', to: '13:00', timezone: 'UTC' }, expiresAt: NOW + 1 },
    ],
    ['while somebody is away', { when: { presence: ['away'] }, expiresAt: NOW + 1 }],
  ])('%s has no fault', (_, rule) => {
    expect(faults(rule)).toEqual([]);
  });
});
