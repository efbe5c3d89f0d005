import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
// First, because Nest brings the metadata that class-transformer's decorators need.
import { validationPipe } from '../../src/platform/http/validation.js';
import { fieldFaults } from '../../src/features/standing-orders/rule-faults.js';
import { CreateStandingOrderBody } from '../../src/features/standing-orders/standing-orders.dto.js';
import { DomainError, type Fault } from '../../src/platform/kernel/define-error.js';

const read = (body: unknown): Promise<CreateStandingOrderBody> =>
  validationPipe().transform(body, { type: 'body', metatype: CreateStandingOrderBody });

async function faultsOf(body: unknown): Promise<Fault[]> {
  try {
    await read(body);
    return [];
  } catch (error) {
    if (error instanceof DomainError) return error.details as Fault[];
    throw error;
  }
}

/** `path: rule` of each fault. */
async function faults(body: unknown): Promise<string[]> {
  return (await faultsOf(body)).map(({ path, rule }) => `${path}: ${rule}`);
}

const order = { name: 'Mail to customers', effect: 'allow', match: {} };
const BUDGET = { window: 'day', amount: 1, currency: 'EUR' };

describe('the body of POST /standing-orders', () => {
  it('takes an order with every field of the contract', async () => {
    const full = {
      ...order,
      text: 'Answer customers at night.',
      teamId: 'team_01arz3ndektsv4rrffq69g5fav',
      capos: ['capo_marketing', 'ceo'],
      match: {
        actionTypes: ['email.send'],
        reversibility: ['irreversible'],
        priorities: ['low', 'medium'],
        fields: { 'params.amount': { $lte: 500, $exists: true }, 'params.to': { $domainIn: ['bücher.de'] } },
      },
      when: { presence: ['away'], days: ['mon'], from: '22:00', to: '06:00', timezone: 'Europe/Berlin' },
      limits: { maxPerHour: 5, maxPerDay: 20, maxRecipients: 1, maxAmountPerDay: 0 },
      budget: { window: 'week', amount: 0.5, currency: 'EUR', warnPercent: 80, onExceed: 'deny' },
      approval: {
        expiresInMinutes: 60,
        onExpiry: 'escalate',
        selfApproval: false,
        quorum: 2,
        approvers: { roles: ['admin'], memberIds: ['mem_01arz3ndektsv4rrffq69g5fav'] },
      },
      expiresAt: 1_800_000_000_000,
    };
    expect(await faults(full)).toEqual([]);
    expect(await read(full)).toMatchObject(full);
  });

  it('takes the least order, and null where a field may be left out', async () => {
    const none = {
      text: null,
      teamId: null,
      capos: null,
      when: null,
      limits: null,
      budget: null,
      approval: null,
    };
    expect(await faults(order)).toEqual([]);
    expect(
      await faults({ ...order, ...none, expiresAt: null, match: { fields: null, priorities: null } }),
    ).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['no name', { name: undefined }, ['name: matches']],
    ['a blank name', { name: '  ' }, ['name: matches']],
    ['a name of two lines', { name: 'a\nb' }, ['name: matches']],
    ['no effect', { effect: undefined }, ['effect: isIn']],
    ['another effect', { effect: 'ask' }, ['effect: isIn']],
    ['no match', { match: undefined }, ['match: isObject']],
    ['a list for a match', { match: [] }, ['match: isObject']],
    ['an unknown property', { priority: 'high' }, ['priority: unknownProperty']],
    ['an unknown property within', { match: { team: 1 } }, ['match.team: unknownProperty']],
    ['no capo', { capos: [] }, ['capos: arrayNotEmpty']],
    ['an unknown capo', { capos: ['capo'] }, ['capos: isIn']],
    ['a capo twice', { capos: ['ceo', 'ceo'] }, ['capos: arrayUnique']],
    ['an id that is none', { teamId: 'team_1' }, ['teamId: matches']],
    ['an action type that is none', { match: { actionTypes: ['Email'] } }, ['match.actionTypes: matches']],
    ['an unknown class', { match: { reversibility: ['any'] } }, ['match.reversibility: isIn']],
    ['an unknown priority', { match: { priorities: ['urgent'] } }, ['match.priorities: isIn']],
    ['an unknown presence', { when: { presence: ['gone'] } }, ['when.presence: isIn']],
    ['an unknown day', { when: { days: ['monday'] } }, ['when.days: isIn']],
    ['25:61', { when: { from: '25:61', to: '09:00' } }, ['when.from: matches']],
    ['a warning beyond the budget', { budget: { ...BUDGET, warnPercent: 101 } }, ['budget.warnPercent: max']],
    ['a budget below zero', { budget: { ...BUDGET, amount: -5 } }, ['budget.amount: min']],
    ['recipients below zero', { limits: { maxRecipients: -1 } }, ['limits.maxRecipients: min']],
    ['24:00', { when: { from: '09:00', to: '24:00' } }, ['when.to: matches']],
    ['a time without a zero', { when: { from: '9:00', to: '10:00' } }, ['when.from: matches']],
    ['one end of a window', { when: { from: '09:00' } }, ['when.from: hasOtherEnd']],
    ['the other end of a window', { when: { to: '09:00' } }, ['when.to: hasOtherEnd']],
    [
      'a window of no length',
      { when: { from: '09:00', to: '09:00' } },
      ['when.from: hasOtherEnd', 'when.to: hasOtherEnd'],
    ],
    ['an offset for a zone', { when: { timezone: '+05:30' } }, ['when.timezone: isIanaZone']],
    ['a limit of none', { limits: { maxPerHour: 0 } }, ['limits.maxPerHour: min']],
    ['half a work packet', { limits: { maxPerDay: 1.5 } }, ['limits.maxPerDay: isInt']],
    ['an amount below zero', { limits: { maxAmountPerDay: -1 } }, ['limits.maxAmountPerDay: min']],
    [
      'an amount without end',
      { limits: { maxAmountPerDay: Infinity } },
      ['limits.maxAmountPerDay: isNumber'],
    ],
    [
      'a budget without its parts',
      { budget: {} },
      ['budget.window: isIn', 'budget.amount: isNumber', 'budget.currency: isCurrency'],
    ],
    [
      'an unknown currency',
      { budget: { window: 'day', amount: 1, currency: 'EURO' } },
      ['budget.currency: isCurrency'],
    ],
    [
      'going on beyond the budget',
      { budget: { window: 'day', amount: 1, currency: 'EUR', onExceed: 'allow' } },
      ['budget.onExceed: isIn'],
    ],
    [
      'an approval without end',
      { approval: { expiresInMinutes: 43_201 } },
      ['approval.expiresInMinutes: max'],
    ],
    ['an expiry that is no time', { expiresAt: 'tomorrow' }, ['expiresAt: isInt']],
  ])('refuses %s', async (_, given, expected) => {
    expect((await faults({ ...order, ...given })).toSorted()).toEqual(expected.toSorted());
  });

  it.each([
    '{"constructor":{"$eq":1}}',
    '{"__proto__":{"$eq":1}}',
    '{"amount":{"constructor":{"a":1}}}',
    '{"amount":{"__proto__":1}}',
  ])('refuses the conditions %s, of which the pipe leaves nothing', async (fields) => {
    const body = { ...order, match: { fields: JSON.parse(fields) as unknown } };
    expect(await faults(body)).toEqual(['match.fields: areFieldConditions']);
  });

  it.each([
    'UTC',
    'Europe/Berlin',
    'Asia/Kolkata',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'US/Eastern',
  ])('takes the zone %s', async (timezone) => {
    expect(await faults({ ...order, when: { days: ['mon'], timezone } })).toEqual([]);
  });

  it.each(['+05:30', 'EST', 'GMT', 'Z', 'Europe', 'Europe/Nowhere', 'Europe/Berlin ', '', 5])(
    'refuses the zone %j',
    async (timezone) => {
      expect(await faults({ ...order, when: { days: ['mon'], timezone } })).toEqual([
        'when.timezone: isIanaZone',
      ]);
    },
  );

  it('names every fault of the conditions in its message', async () => {
    const fields = { 'params.amount': { $lte: '500' }, 'param.to': { $in: [] } };
    expect(await faultsOf({ ...order, match: { fields } })).toEqual([
      {
        path: 'match.fields',
        rule: 'areFieldConditions',
        message:
          '"params.amount": $lte must be a number; ' +
          '"param.to": a path is target, recipients, amount, currency, engine or params.<name>, at most 8 names long; ' +
          '"param.to": $in must be a list of 1 to 100 texts, numbers or booleans',
      },
    ]);
  });
});

describe('the conditions of an order', () => {
  it.each([
    [{ target: { $prefix: 'https://', $suffix: '.example/' } }],
    [{ 'params.a.b.0': { $eq: '', $ne: false } }],
    [{ amount: { $gt: 0, $gte: 0, $lt: 1.5, $lte: -1 } }],
    [{ 'params.to': { $in: ['a'], $nin: [1, true], $exists: false, $domainIn: ['example.com'] } }],
  ])('may be %j', (fields) => {
    expect(fieldFaults(fields)).toEqual([]);
  });

  it.each<[unknown]>([
    [[]],
    [{}],
    ['x'],
    [{ params: { $exists: true } }],
    [{ 'params.': { $exists: true } }],
    [{ 'params.__proto__.x': { $exists: true } }],
    [{ 'params.a.constructor': { $exists: true } }],
    [JSON.parse('{"__proto__":{"$exists":true}}')],
    [{ 'params.a.b.c.d.e.f.g.h': { $exists: true } }],
    [{ capo: { $eq: 'ceo' } }],
    [{ amount: {} }],
    [{ amount: 5 }],
    [{ amount: null }],
    [{ amount: [] }],
    [{ amount: { $regex: '.*' } }],
    [{ amount: { constructor: 1 } }],
    [{ amount: { $lte: '5' } }],
    [{ amount: { $lte: Infinity } }],
    [{ amount: { $eq: null } }],
    [{ amount: { $eq: [1] } }],
    [{ amount: { $in: 'abc' } }],
    [{ amount: { $in: [{}] } }],
    [{ amount: { $in: Array.from({ length: 101 }, (_, index) => index) } }],
    [{ amount: { $exists: 'yes' } }],
    [{ target: { $prefix: '' } }],
    [{ target: { $suffix: '' } }],
    [{ target: { $suffix: ['a'] } }],
    [{ target: { $suffix: 'x'.repeat(501) } }],
    [{ target: { $prefix: 'x'.repeat(501) } }],
    [{ 'params.to': { $domainIn: ['a@example.com'] } }],
    [{ 'params.to': { $domainIn: ['example'] } }],
    [{ 'params.to': { $domainIn: ['*.example.com'] } }],
    [Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`params.a${index}`, { $eq: 1 }]))],
  ])('may not be %j', (fields) => {
    expect(fieldFaults(fields)).toHaveLength(1);
  });

  it('are judged, whatever JSON they are', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (fields) => {
        expect(fieldFaults(fields).every((fault) => fault.length < 300)).toBe(true);
      }),
    );
  });
});
