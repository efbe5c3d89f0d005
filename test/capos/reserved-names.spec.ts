import { describe, expect, it } from 'vitest';
import { CAPOS } from '../../src/features/capos/capo.js';
import { passesForOurs } from '../../src/features/workspaces/reserved-names.js';

const NAMES = Object.values(CAPOS).flatMap(({ role, name, domain: _domain, aliases }) => [
  role,
  name,
  ...aliases,
]);

describe('passesForOurs', () => {
  it.each(NAMES)('refuses %s, the name of a capo', (name) =>
    expect([passesForOurs(name, 'agent'), passesForOurs(name, 'member')]).toEqual([true, true]),
  );

  it.each([
    'Consigliere',
    'CONSIGLIERE 2',
    'Con-sigliere',
    'C0nsig1iere',
    'Consiglière',
    'The Consigliere assistant',
    'Capo Anna',
    'Our Ops Agent',
    'Sales & Marketing bot',
    'C E O',
    // In Cyrillic letters.
    '\u0421\u0415\u041e',
  ])('refuses %s', (name) => expect(passesForOurs(name, 'agent')).toBe(true));

  it.each([
    'CRM cleaner',
    'Sales follow-up',
    'Product photos',
    'Capoeira',
    'Invoice agent',
    'Möbel',
    '7',
    '🤖',
  ])('takes %s', (name) => expect(passesForOurs(name, 'agent')).toBe(false));

  it.each([
    ['The guardian', true],
    ['Consigliere', true],
    ['C0nsigliere AI', true],
    ['Our Ops Agent', true],
    ['System', true],
    ['Luca Capo', false],
    ['Angela Guardian', false],
    ['Jo Lind', false],
  ])('of a member called %s: %s', (name, passes) => expect(passesForOurs(name, 'member')).toBe(passes));
});
