import { describe, expect, it } from 'vitest';
import { ActionReversibility } from './order-tools.js';

describe('ActionReversibility', () => {
  const registered = new ActionReversibility();
  registered.register(
    {
      'email.send': {
        classes: ['irreversible'],
        engines: ['ops', 'marketing'],
        params: { shape: { to: 1, subject: 1 } },
      },
      'document.file': {
        classes: ['reversible', 'read_only'],
        engines: ['ops', 'executive'],
        params: { shape: { title: 1 } },
      },
    },
    (capo) => (capo === 'ceo' ? 'executive' : 'ops'),
  );

  it('knows every type, or those of the capos that are named', () => {
    const all = { 'email.send': ['irreversible'], 'document.file': ['reversible', 'read_only'] };
    expect(registered.within(null)).toEqual(all);
    expect(registered.within(['capo_ops', 'ceo'])).toEqual(all);
    expect(registered.within(['ceo'])).toEqual({ 'document.file': ['reversible', 'read_only'] });
  });

  it('knows who can do what, and with which parameters', () => {
    const capos = ['capo_marketing', 'capo_revenue', 'capo_ops', 'capo_product'];
    expect(registered.known()).toEqual({
      'email.send': { classes: ['irreversible'], capos, parameters: ['to', 'subject'] },
      'document.file': {
        classes: ['reversible', 'read_only'],
        capos: [...capos, 'ceo'],
        parameters: ['title'],
      },
    });
  });

  it('refuses to answer before the registry is there, when all would seem harmless', () => {
    expect(() => new ActionReversibility().within(null)).toThrow('no action types are registered');
  });
});
