import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { domainsIn, fieldsMatch } from '../../src/features/standing-orders/match.js';
import { valueAt } from '../../src/platform/kernel/value-at.js';
import type { FieldCondition } from '../../src/features/standing-orders/standing-order.js';

/** What an order that allows, and one that tightens, make of the value at `params.value`. */
function reads(condition: FieldCondition, value: unknown): [allows: boolean, tightens: boolean] {
  const valueOf = (path: string) => valueAt({ params: { value } }, path);
  const fields = { 'params.value': condition };
  return [fieldsMatch(fields, valueOf, false), fieldsMatch(fields, valueOf, true)];
}

describe('a comparison with one value', () => {
  const cases: [FieldCondition, unknown, boolean][] = [
    [{ $eq: 5 }, 5, true],
    [{ $eq: 5 }, '5', false],
    [{ $eq: '' }, '', true],
    [{ $eq: false }, false, true],
    [{ $eq: false }, 0, false],
    [{ $ne: 5 }, 6, true],
    [{ $ne: 5 }, 5, false],
    [{ $ne: 5 }, '5', true],
    [{ $lt: 5 }, 4.999, true],
    [{ $lt: 5 }, 5, false],
    [{ $lte: 5 }, 5, true],
    [{ $lte: 5 }, 5.001, false],
    [{ $gt: 5 }, 5.001, true],
    [{ $gt: 5 }, 5, false],
    [{ $gte: 5 }, 5, true],
    [{ $gte: 5 }, 4.999, false],
    [{ $gte: 5, $lt: 10 }, 7, true],
    [{ $gte: 5, $lt: 10 }, 10, false],
    [{ $in: ['a', 1] }, 1, true],
    [{ $in: ['a', 1] }, '1', false],
    [{ $nin: ['a', 1] }, 'b', true],
    [{ $nin: ['a', 1] }, 'a', false],
    [{ $prefix: 'Re: ' }, 'Re: your order', true],
    [{ $prefix: 'Re: ' }, 're: your order', false],
    [{ $suffix: ' has shipped' }, 'Your order 4711 has shipped', true],
    [{ $suffix: ' has shipped' }, 'Your order 4711 Has Shipped', false],
    [{ $suffix: ' has shipped' }, 'Your order 4711 has shipped ', false],
    [{ $suffix: 'é' }, 'cafe\u0301', false],
    [{ $prefix: 'Your order ', $suffix: ' has shipped' }, 'Your order 4711 has shipped', true],
    [{ $prefix: 'Your order ', $suffix: ' has shipped' }, 'Your order 4711 is delayed', false],
    [{ $exists: true }, 0, true],
    [{ $exists: true }, '', true],
    [{ $exists: true }, {}, true],
    [{ $exists: false }, 0, false],
    [{ $domainIn: ['example.com'] }, 'ann@example.com', true],
    [{ $domainIn: ['example.com'] }, 'ann@other.com', false],
    [{ $domainIn: ['other.com', 'Example.COM'] }, 'ann@EXAMPLE.com', true],
  ];
  it.each(cases)('reads %j over %j as %s', (condition, value, expected) => {
    expect(reads(condition, value)).toEqual([expected, expected]);
  });

  it.each<[FieldCondition, unknown]>([
    [{ $ne: 5 }, {}],
    [{ $lte: 5 }, '4'],
    [{ $lte: 5 }, true],
    [{ $nin: ['a', 1] }, { a: 1 }],
    [{ $prefix: '1' }, 12],
    [{ $suffix: '2' }, 12],
    [{ $later: 1 } as FieldCondition, 1],
    [{ constructor: 1 } as FieldCondition, 1],
    [{ $domainIn: ['example.com'] }, 5],
    [{ $domainIn: [''] }, 'no address'],
    [{ $domainIn: ['example.com'] }, 'example.com'],
    [{ $gt: 500 }, '501'],
    [{ $gt: 500 }, { value: 501 }],
    [{ $eq: 5 }, {}],
    [{ $domainIn: ['evil.example'] }, 'x@[evil.example]'],
  ])('is in doubt with %j over %j, which cannot be compared', (condition, value) => {
    expect(reads(condition, value)).toEqual([false, true]);
  });

  it.each([undefined, null, [], [null], [[]]])(
    'is satisfied by no operator but $exists: false over %j',
    (nothing) => {
      const conditions: FieldCondition[] = [
        { $eq: 1 },
        { $ne: 1 },
        { $lt: 1 },
        { $lte: 1 },
        { $gt: 1 },
        { $gte: 1 },
        { $in: [1] },
        { $nin: [1] },
        { $prefix: 'a' },
        { $suffix: 'a' },
        { $later: 'a' } as FieldCondition,
        { $domainIn: ['example.com'] },
        { $exists: true },
      ];
      for (const condition of conditions) expect(reads(condition, nothing)).toEqual([false, false]);
      expect(reads({ $exists: false }, nothing)).toEqual([true, true]);
    },
  );
});

describe('a comparison with a list', () => {
  const cases: [string, FieldCondition, unknown, [boolean, boolean]][] = [
    ['all of it', { $in: ['a', 'b'] }, ['a', 'b'], [true, true]],
    ['a part of it', { $in: ['a', 'b'] }, ['a', 'c'], [false, true]],
    ['none of it', { $in: ['a', 'b'] }, ['c', 'd'], [false, false]],
    ['all of it, negated', { $nin: ['a', 'b'] }, ['c', 'd'], [true, true]],
    ['a part of it, negated', { $nin: ['a', 'b'] }, ['a', 'c'], [false, true]],
    ['none of it, negated', { $ne: 'a' }, ['a', 'a'], [false, false]],
    ['numbers', { $lte: 5 }, [1, 2, 3], [true, true]],
    ['a number too large', { $lte: 5 }, [1, 9], [false, true]],
    ['a list in a list', { $in: ['a'] }, ['a', ['b', ['a']]], [false, true]],
    ['an object in it', { $in: ['a'] }, ['a', { a: 1 }], [false, true]],
    ['all that end so', { $suffix: 'x' }, ['ax', 'bx'], [true, true]],
    ['some that end so', { $suffix: 'x' }, ['ax', 'b'], [false, true]],
    ['all domains', { $domainIn: ['ours.com'] }, ['a@ours.com', 'b@ours.com'], [true, true]],
    ['a stranger', { $domainIn: ['ours.com'] }, ['a@ours.com', 'b@theirs.com'], [false, true]],
    ['what is no address', { $domainIn: ['ours.com'] }, ['a@ours.com', 'everyone'], [false, true]],
    ['strangers only', { $domainIn: ['ours.com'] }, ['b@theirs.com', 'c@theirs.com'], [false, false]],
  ];
  it.each(cases)('reads %s', (_, condition, value, expected) => {
    expect(reads(condition, value)).toEqual(expected);
  });
});

describe('a path', () => {
  const root = { target: 't', params: { a: { b: [{ c: 1 }, { c: 2 }], __proto__x: 1 }, text: 'abc' } };
  it.each([
    ['target', true],
    ['params.a.b.1.c', true],
    ['params.a.b.2.c', false],
    ['params.a.b.c', false],
    ['params.a.x.y', false],
    ['params.text.0', false],
    ['params.text.length', false],
    ['params.a.b.length', false],
    ['params.constructor', false],
    ['params.__proto__', false],
    ['params.__proto__.toString', false],
    ['params.a.b.constructor.name', false],
    ['', false],
    ['.', false],
    ['params..a', false],
  ])('%s is there: %s', (path, there) => {
    expect(fieldsMatch({ [path]: { $exists: true } }, (at) => valueAt(root, at), false)).toBe(there);
  });

  it('reads a key of JSON that is named like a prototype as the data it is', () => {
    const params = JSON.parse('{"__proto__":{"to":"x"}}') as object;
    const valueOf = (path: string) => valueAt({ params }, path);
    expect(fieldsMatch({ 'params.__proto__.to': { $eq: 'x' } }, valueOf, false)).toBe(true);
    expect(fieldsMatch({ 'params.to': { $exists: true } }, valueOf, false)).toBe(false);
  });
});

describe('the domains in a value', () => {
  it.each([
    ['ann@ours.com', ['ours.com']],
    ['Ann Lee <ann@Ours.com>', ['ours.com']],
    ['a@ours.com, b@theirs.com; c@ours.com', ['ours.com', 'theirs.com', 'ours.com']],
    ['"a@ours.com" <b@theirs.com>', ['ours.com', 'theirs.com']],
    ['b@theirs.com (a@ours.com)', ['theirs.com', 'ours.com']],
    ['a@mail.ours.com', ['mail.ours.com']],
    ['a@ours.com.', ['ours.com']],
    ['a@bücher.de', ['xn--bcher-kva.de']],
    ['a@ｏurs.com', ['ours.com']],
    ['a@b@ours.com', [undefined]],
    ['@ours.com', [undefined]],
    ['a@', [undefined]],
    ['a@ours.com/x', [undefined]],
    ['a@%6furs.com', [undefined]],
    ['a@theirs.com#@ours.com', [undefined]],
    ['https://hooks.ours.com/in?x=1', ['hooks.ours.com']],
    ['HTTPS://ours.com:8443', ['ours.com']],
    ['https://ours.com@theirs.com/', ['theirs.com', undefined]],
    ['https://ours.com/,b@theirs.com', ['ours.com', 'theirs.com']],
    ['https://ours.com/b@theirs.com', ['ours.com', undefined]],
    ['https://', [undefined]],
    ['ours.com', [undefined]],
    ['', [undefined]],
    [5, [undefined]],
  ])('of %j are %j', (value, domains) => {
    expect(domainsIn(value)).toEqual(domains);
  });

  it('are those of any mail address', () => {
    fc.assert(
      fc.property(fc.emailAddress(), (address) => {
        expect(domainsIn(address)).toContain(address.slice(address.indexOf('@') + 1).toLowerCase());
      }),
    );
  });
});
