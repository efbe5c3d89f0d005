import { validateSync } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { canonicalPassword, IsNewPassword, newPasswordFault } from './new-password.js';

const OWNER = {
  email: 'mira.novak@northwind.example',
  displayName: 'Mira Novák',
  workspaceNames: ['Brightwood Tea'],
};

class Body {
  @IsNewPassword()
  password!: unknown;
}
const faults = (password: unknown) =>
  validateSync(Object.assign(new Body(), { password })).flatMap(({ constraints }) =>
    Object.values(constraints!),
  );

describe('the length of a new password', () => {
  it.each([
    ['ten letters', 'abcdefghij'],
    ['ten emoji', '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵'],
    ['200 letters', 'ab'.repeat(100)],
    ['200 emoji, 400 code units', '🦊🐻'.repeat(100)],
    ['spaces at both ends, which stay', '  abcdef  '],
    // Two families of five code points each.
    ['a family of five code points, twice', '👨‍👩‍👧👨‍👩‍👧'],
  ])('is right: %s', (_case, password) => {
    expect(faults(password)).toEqual([]);
  });

  it.each([
    ['nine letters', 'abcdefghi', 'password must have 10 to 200 characters'],
    ['nine emoji, 18 code units', '🦊🐻🐼🐨🐯🦁🐮🐷🐸', 'password must have 10 to 200 characters'],
    ['nine letters with marks of their own', 'e\u0301'.repeat(9), 'password must have 10 to 200 characters'],
    ['201 letters', `${'ab'.repeat(100)}c`, 'password must have 10 to 200 characters'],
    ['one sign that NFKC makes longer', '\ufdfa'.repeat(12), 'password must have 10 to 200 characters'],
    ['half an emoji', `abcdefghij${'🦊'[0]}`, 'password must be text in Unicode'],
    ['a number', 1234567890123, 'password must be text'],
    ['nothing', undefined, 'password must be text'],
  ])('is wrong: %s', (_case, password, message) => {
    expect(faults(password)).toEqual([message]);
  });
});

describe('canonicalPassword', () => {
  it('makes one of what two keyboards write for the same', () => {
    expect(canonicalPassword('cafe\u0301 ｏｎ the corner')).toBe(canonicalPassword('café on the corner'));
  });

  it('changes neither case nor spaces', () => {
    expect(canonicalPassword('  Two  Words ')).toBe('  Two  Words ');
  });
});

describe('newPasswordFault', () => {
  it.each([
    'correct horse battery staple',
    'correct horse battery',
    '🦊🐻🐼🐨🐯🦁🐮🐷🐸🐵',
    'Novák buys nineteen pears',
    '84719304712 dog 58123904',
    'пароль который никто не знает',
  ])('takes %s', async (password) => {
    expect(await newPasswordFault(password, OWNER)).toBeUndefined();
  });

  it.each([
    ['1234567890', /tried first/],
    ['PASSWORD123', /tried first/],
    ['Manchester', /tried first/],
    ['christopher1987!', /tried first/],
    ['!!password2026', /tried first/],
    ['sunshinesunshine', /tried first/],
    ['ｐａｓｓｗｏｒｄ123', /tried first/],
    ['aaaaaaaaaaaa', /more than three different/],
    ['abababababab', /more than three different/],
    ['mira.novak@northwind.example', /besides the names/],
    ['MiraNovak2026', /besides the names/],
    ['northwind-26!', /besides the names/],
    ['Brightwood-26!', /besides the names/],
    ['Consigliere1!', /besides the names/],
  ])('refuses %s', async (password, fault) => {
    expect(await newPasswordFault(password, OWNER)).toMatch(fault);
  });
});
