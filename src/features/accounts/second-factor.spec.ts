import { Secret } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { newRecoveryCodes, newSecret, otpauthUri, stepOf, typedCode } from './second-factor.js';

/** The secret of RFC 6238, appendix B; its codes have eight digits, of which an authenticator shows the last six. */
const RFC_SECRET = Secret.fromLatin1('12345678901234567890').base32;

describe('stepOf', () => {
  it.each([
    [59, '94287082'],
    [1_111_111_109, '07081804'],
    [1_111_111_111, '14050471'],
    [1_234_567_890, '89005924'],
    [2_000_000_000, '69279037'],
    [20_000_000_000, '65353130'],
  ])('knows the code of RFC 6238 at %s', (seconds, code) => {
    expect(stepOf(RFC_SECRET, code.slice(-6), seconds * 1000)).toBe(Math.floor(seconds / 30));
  });

  it('accepts the step before and the one after, and tells which it was', () => {
    const at = 1_111_111_111_000;
    const step = Math.floor(at / 30_000);
    const code = '050471';
    expect(stepOf(RFC_SECRET, code, at + 30_000)).toBe(step);
    expect(stepOf(RFC_SECRET, code, at - 30_000)).toBe(step);
    expect(stepOf(RFC_SECRET, code, at + 60_000)).toBeUndefined();
    expect(stepOf(RFC_SECRET, code, at - 60_000)).toBeUndefined();
  });
});

describe('typedCode', () => {
  it.each(['123456', ' 123 456 ', '123-456', '１２３４５６', '123\u2009456'])(
    'reads %j as 123456',
    (text) => {
      expect(typedCode(text)).toEqual({ totp: '123456' });
    },
  );

  it('reads a recovery code in capitals, without dashes, with letters that look like digits', () => {
    const code = 'abc012-def010-gh0101-jkmnpq';
    const read = typedCode(code);
    expect(read).toHaveProperty('recoveryHash');
    expect(typedCode(' ABCO12 DEFO1O GHOIOL JKMNPQ')).toEqual(read);
  });

  it.each(['', '12345', '1234567', 'abcdef', '12345a', 'x'.repeat(25), 'u'.repeat(24), '🦊'.repeat(24)])(
    'reads nothing in %j',
    (text) => {
      expect(typedCode(text)).toBeUndefined();
    },
  );
});

describe('what is new', () => {
  it('has 160 bits, and a URI that names product and account', () => {
    const secret = newSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = new URL(otpauthUri(secret, 'mira@northwind.example'));
    expect(uri.protocol).toBe('otpauth:');
    expect(decodeURIComponent(uri.pathname)).toContain('Consigliere:mira@northwind.example');
    expect(Object.fromEntries(uri.searchParams)).toMatchObject({
      secret,
      issuer: 'Consigliere',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });

  it('is ten recovery codes that are read as what is kept of them', () => {
    const { codes, hashes } = newRecoveryCodes();
    expect(new Set(codes).size).toBe(10);
    expect(codes.map((code) => typedCode(code))).toEqual(hashes.map((recoveryHash) => ({ recoveryHash })));
  });
});
