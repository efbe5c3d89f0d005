import { describe, expect, it } from 'vitest';
import {
  EFFECTS,
  relaxesIrreversible,
  strictest,
  tightens,
  type OrderMatch,
} from '../../src/features/standing-orders/standing-order.js';
import type { Reversibility } from '../../src/features/terms/terms.js';

const REGISTRY: Record<string, Reversibility[]> = {
  'document.file': ['reversible'],
  'http.call': ['externally_reversible', 'read_only'],
  'parcel.send': ['reversible', 'irreversible'],
  'email.send': ['irreversible'],
};

describe('strictest', () => {
  it('is the one that lets the least through, and none of none', () => {
    expect(strictest(['throttle', 'deny', 'allow'])).toBe('deny');
    expect(strictest(['allow', 'throttle', 'allow'])).toBe('throttle');
    expect(strictest([])).toBeUndefined();
  });
});

describe('tightens', () => {
  it('holds for every effect but allow', () => {
    expect(EFFECTS.filter((effect) => tightens({ effect }))).toEqual([
      'throttle',
      'require_approval',
      'deny',
    ]);
  });
});

describe('relaxesIrreversible', () => {
  it.each<[OrderMatch, boolean]>([
    [{}, true],
    [{ actionTypes: ['email.send'] }, true],
    [{ actionTypes: ['document.file', 'email.send'] }, true],
    [{ actionTypes: ['document.file', 'http.call'] }, false],
    // The strictest of its classes counts.
    [{ actionTypes: ['parcel.send'] }, true],
    [{ actionTypes: ['missile.launch'] }, true],
    [{ actionTypes: ['constructor'] }, true],
    [{ reversibility: ['irreversible'] }, true],
    [{ reversibility: ['reversible', 'externally_reversible'] }, false],
    [{ reversibility: ['reversible'], actionTypes: ['email.send'] }, false],
    [{ reversibility: ['irreversible'], actionTypes: ['document.file'] }, false],
    [{ actionTypes: null, reversibility: null, priorities: ['low'] }, true],
  ])('of an order that allows %j: %s', (match, expected) => {
    expect(relaxesIrreversible({ effect: 'allow', match }, REGISTRY)).toBe(expected);
  });

  it('is false within an engine scope that holds nothing irreversible', () => {
    expect(relaxesIrreversible({ effect: 'allow', match: {} }, { 'document.file': ['reversible'] })).toBe(
      false,
    );
  });

  it.each(EFFECTS.filter((effect) => effect !== 'allow'))(
    'is false for an order with the effect %s',
    (effect) => {
      expect(relaxesIrreversible({ effect, match: {} }, REGISTRY)).toBe(false);
    },
  );
});
