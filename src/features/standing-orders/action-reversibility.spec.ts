import { describe, expect, it } from 'vitest';
import { ActionReversibility } from './action-reversibility.js';

describe('ActionReversibility', () => {
  const registered = new ActionReversibility();
  registered.register(
    {
      'email.send': { reversibility: 'irreversible', engines: ['ops', 'marketing'] },
      'document.file': { reversibility: 'reversible', engines: ['ops', 'executive'] },
    },
    (capo) => (capo === 'ceo' ? 'executive' : 'ops'),
  );

  it('knows every type, or those of the capos that are named', () => {
    const all = { 'email.send': 'irreversible', 'document.file': 'reversible' };
    expect(registered.within(null)).toEqual(all);
    expect(registered.within(['capo_ops', 'ceo'])).toEqual(all);
    expect(registered.within(['ceo'])).toEqual({ 'document.file': 'reversible' });
  });

  it('refuses to answer before the registry is there, when all would seem harmless', () => {
    expect(() => new ActionReversibility().within(null)).toThrow('no action types are registered');
  });
});
