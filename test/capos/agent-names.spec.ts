import { describe, expect, it } from 'vitest';
import { CAPOS } from '../../src/features/capos/capo.js';
import { passesForOurs } from '../../src/features/workspaces/agent-name.js';

const NAMES = Object.values(CAPOS).flatMap(({ role, name, domain: _domain, aliases }) => [
  role,
  name,
  ...aliases,
]);

describe('passesForOurs', () => {
  it.each(NAMES)('refuses %s, the name of a capo', (name) => expect(passesForOurs(name)).toBe(true));

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
  ])('refuses %s', (name) => expect(passesForOurs(name)).toBe(true));

  it.each([
    'CRM cleaner',
    'Sales follow-up',
    'Product photos',
    'Capoeira',
    'Invoice agent',
    'Möbel',
    '7',
    '🤖',
  ])('takes %s', (name) => expect(passesForOurs(name)).toBe(false));
});
