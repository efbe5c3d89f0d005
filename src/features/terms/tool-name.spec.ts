import { describe, expect, it } from 'vitest';
import { allowsTool, isToolName, isToolPattern } from './tool-name.js';

const EIGHT = 'a.b.c.d.e.f.g.h';

describe('isToolPattern', () => {
  it.each(['crm', 'crm.*', 'crm.contacts.*', 'crm.Contacts/v2.delete', EIGHT, 'a.b.c.d.e.f.g.*', 'a_-1.*'])(
    'takes %s',
    (text) => expect(isToolPattern(text)).toBe(true),
  );

  it.each([
    '',
    '*',
    '.*',
    'crm*',
    'crm.*.delete',
    'crm.con*',
    'crm.**',
    'crm.',
    'crm..*',
    'Crm.*',
    '9crm',
    'crm.ü',
    'crm.* ',
    'crm\n',
    `${EIGHT}.i`,
    `${EIGHT}.*`,
    `a.${'b'.repeat(128)}.${'c'.repeat(125)}`,
    `a.${'b'.repeat(129)}`,
  ])('refuses %j', (text) => expect(isToolPattern(text)).toBe(false));
});

describe('isToolName', () => {
  it('takes no pattern', () => {
    expect([isToolName('crm.*'), isToolName('crm.contacts')]).toEqual([false, true]);
  });
});

describe('allowsTool', () => {
  it.each([
    ['crm.contacts.delete', true],
    ['crm.contacts', true],
    ['crm', false],
    ['crmx.contacts', false],
    ['CRM.contacts', false],
    ['mail', true],
    ['mail.send', false],
  ])('of crm.* and mail says of %s: %s', (tool, allowed) => {
    expect(allowsTool(['crm.*', 'mail'], tool)).toBe(allowed);
  });
});
