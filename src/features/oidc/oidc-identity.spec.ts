import type { IDToken } from 'openid-client';
import { describe, expect, it } from 'vitest';
import { identityOf, saysTooLittle } from './oidc-identity.js';

const DOMAINS = ['northwind.example'];
const token = (more: object = {}): IDToken => ({
  iss: 'https://login.northwind.example',
  sub: 'jo',
  aud: 'consigliere',
  iat: 0,
  exp: 1,
  email: 'jo@northwind.example',
  email_verified: true,
  name: 'Jo Lind',
  ...more,
});
const emailOf = (more: object, userInfo?: { sub: string; email?: string; email_verified?: boolean }) => {
  try {
    return identityOf(token(more), userInfo, DOMAINS).email;
  } catch (error) {
    return (error as Error).message;
  }
};

// Two providers whose issuers no test can be; everything else is in test/e2e/accounts/oidc-refused.spec.ts.

describe('an ID token of Microsoft Entra ID, which has no email_verified', () => {
  const iss = 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0';

  it.each([true, 1, '1', 'true'])('verifies its address by xms_edov %j', (edov) => {
    expect(emailOf({ iss, email_verified: undefined, xms_edov: edov })).toBe('jo@northwind.example');
  });

  it.each([undefined, false, 0, '0', 'false', null, 'yes'])('does not by xms_edov %j', (edov) => {
    expect(emailOf({ iss, email_verified: undefined, xms_edov: edov })).toMatch(/does not say .+ verified/);
  });

  it('is taken at its word when it says no', () => {
    expect(emailOf({ iss, email_verified: false, xms_edov: true })).toMatch(/does not say .+ verified/);
  });

  it('of another provider says nothing by that', () => {
    expect(emailOf({ email_verified: undefined, xms_edov: true })).toMatch(/does not say .+ verified/);
  });
});

describe('an ID token of Google', () => {
  const iss = 'https://accounts.google.com';

  it('is of an account that the organisation manages', () => {
    expect(emailOf({ iss, hd: 'Northwind.example' })).toBe('jo@northwind.example');
  });

  it.each([undefined, '', 'another.example', true])('is refused with hd %j', (hd) => {
    expect(emailOf({ iss, hd })).toMatch(/personal Google account/);
  });
});

describe('an ID token that says too little', () => {
  it('is one without the address, or without a word about it', () => {
    expect(saysTooLittle(token())).toBe(false);
    expect(saysTooLittle(token({ email_verified: false }))).toBe(false);
    expect(saysTooLittle(token({ email: undefined }))).toBe(true);
    expect(saysTooLittle(token({ email_verified: undefined }))).toBe(true);
  });

  it('does not lend its address to what the user info says about another', () => {
    const userInfo = { sub: 'jo', email: 'other@northwind.example', email_verified: true };
    expect(emailOf({ email_verified: undefined }, userInfo)).toBe('other@northwind.example');
    expect(emailOf({ email: undefined }, { sub: 'jo', email: 'jo@northwind.example' })).toMatch(/verified/);
  });
});
