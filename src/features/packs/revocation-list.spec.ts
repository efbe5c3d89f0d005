import { describe, expect, it } from 'vitest';
import type { Config } from '../../platform/config/config.js';
import { PublisherKeys } from './publisher-keys.js';
import {
  contradictions,
  newestLists,
  readRevocations,
  revocationOf,
  type SignedList,
} from './revocation-list.js';

const list = (number: number, ...revoked: SignedList['list']['revoked']): SignedList => ({
  list: { publisher: 'acme', number, revoked },
  publicKey: 'key',
});
const REFUNDED = { name: 'reminders', reason: 'Refunded.' };

describe('readRevocations', () => {
  const keys = new PublisherKeys({ skillPackPublishers: [] } as unknown as Config);

  it('takes a file without a list, for the time until there is one', () => {
    expect(readRevocations('[]', keys)).toEqual({ lists: [], complaints: [] });
  });

  it('refuses a file of something else', () => {
    expect(() => readRevocations('{}', keys)).toThrow('it is no signed list of revocations');
    expect(() => readRevocations('', keys)).toThrow('it is not JSON');
  });
});

describe('revocationOf', () => {
  const pack = { publisher: 'acme', name: 'reminders', version: '1.0.0' };

  it('means a version, or every one, of the publisher that signed the list', () => {
    const every = [list(1, REFUNDED)];
    expect(revocationOf(every, pack)).toBe('Refunded.');
    expect(revocationOf(every, { ...pack, publisher: 'globex' })).toBeUndefined();
    expect(revocationOf(every, { ...pack, name: 'others' })).toBeUndefined();
    const one = [list(1, { ...REFUNDED, versions: ['1.0.1'] })];
    expect(revocationOf(one, pack)).toBeUndefined();
    expect(revocationOf(one, { ...pack, version: '1.0.1' })).toBe('Refunded.');
  });
});

describe('newestLists', () => {
  it('has the list with the highest number of each publisher, and of two with one number the first', () => {
    const [older, newer] = [list(1), list(2, REFUNDED)];
    expect(newestLists([older, newer])).toEqual([newer]);
    expect(newestLists([newer, older])).toEqual([newer]);
    expect(newestLists([newer, list(2)])).toEqual([newer]);
    const other = { ...older, list: { ...older.list, publisher: 'globex' } };
    expect(newestLists([newer, other])).toEqual([newer, other]);
  });
});

describe('contradictions', () => {
  it('names a list that says something else than the one with its number', () => {
    expect(contradictions([list(2)], [list(2, REFUNDED)])).toEqual([
      'list 2 of acme says something else than the list 2 that is known: a change takes a higher number',
    ]);
    expect(contradictions([list(2)], [list(2)])).toEqual([]);
    expect(contradictions([list(2)], [list(3, REFUNDED)])).toEqual([]);
  });
});
