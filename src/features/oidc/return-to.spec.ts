import { describe, expect, it } from 'vitest';
import { isLocalPath } from './oidc.dto.js';

describe('isLocalPath', () => {
  it.each([
    '/',
    '/app',
    '/app/approvals?status=pending&x=//a#b',
    '/ünïcode',
    '/a//b',
    '/%2f%2fevil.example',
    '/@evil',
  ])('takes %j', (path) => {
    expect(isLocalPath(path)).toBe(true);
  });

  it.each([
    '',
    'app',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/app\\..\\',
    '/\t/evil.example',
    '/\n/evil.example',
    '/app\r\nSet-Cookie: a=b',
    '/app\u0000',
    '/app\u2028',
    '/..//evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/%2e//evil.example',
    'https://evil.example',
    'https:evil.example',
    'https:/evil.example',
    'javascript:alert(1)',
    ' /app',
    '?a',
    '#a',
    `/${'a'.repeat(500)}`,
    undefined,
    null,
    ['/app'],
  ])('refuses %j', (path) => {
    expect(isLocalPath(path)).toBe(false);
  });
});
