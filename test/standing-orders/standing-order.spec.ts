import { describe, expect, it } from 'vitest';
import {
  EFFECTS,
  relaxesIrreversible,
  tightens,
  type OrderMatch,
} from '../../src/features/standing-orders/standing-order.js';
import type { Reversibility } from '../../src/features/terms/terms.js';

const REGISTRY: Record<string, Reversibility> = {
  'document.file': 'reversible',
  'http.call': 'externally_reversible',
  'email.send': 'irreversible',
};

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
    expect(relaxesIrreversible({ effect: 'allow', match: {} }, { 'document.file': 'reversible' })).toBe(
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
