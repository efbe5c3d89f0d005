import { describe, expect, it } from 'vitest';
import { mailDomain } from './mail-address.js';

describe('mailDomain', () => {
  it.each([
    ['example.com', 'example.com'],
    ['Example.COM', 'example.com'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['MU\u0308NCHEN.example', 'xn--mnchen-3ya.example'],
    ['xn--mnchen-3ya.example', 'xn--mnchen-3ya.example'],
    ['ｅｘａｍｐｌｅ.com', 'example.com'],
    ['example。com', 'example.com'],
    ['a.b.example', 'a.b.example'],
  ])('reads %j as %s', (text, domain) => {
    expect(mailDomain(text)).toBe(domain);
  });

  it.each([
    '',
    'example',
    'localhost',
    'example.com.',
    '.example.com',
    'exa mple.com',
    'example.com/evil.test',
    'example.com／evil.test',
    'evil@example.com',
    'example.com:25',
    'example.com#',
    '%65xample.com',
    'exam\u00adple.com',
    'exam\u200bple.com',
    'example.com\n',
    '127.0.0.1',
    '127.1',
    '[::1]',
    '-example.com',
    'example-.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(130)}com`,
  ])('takes %j for no domain', (text) => {
    expect(mailDomain(text)).toBeUndefined();
  });
});
