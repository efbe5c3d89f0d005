import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { TRANSACTION_SECONDS } from './oidc-transaction.js';

const isHttps = (publicUrl: string) => publicUrl.startsWith('https:');

/** On https no other host and no plain connection can put a cookie of this name in its place. */
const nameFor = (publicUrl: string) => (isHttps(publicUrl) ? '__Host-consigliere_oidc' : 'consigliere_oidc');

/** The sealed sign-in that this browser has begun. */
export function oidcCookieOf(
  { cookie }: Pick<IncomingHttpHeaders, 'cookie'>,
  publicUrl: string,
): string | undefined {
  return cookie === undefined ? undefined : parseCookie(cookie)[nameFor(publicUrl)];
}

/**
 * `Set-Cookie` for a sign-in that has begun; without one it takes the cookie away. Lax, unlike the session's: it must come
 * along when the provider sends the browser back.
 */
export function oidcCookie(sealed: string | undefined, publicUrl: string): string {
  return stringifySetCookie({
    name: nameFor(publicUrl),
    value: sealed ?? '',
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: isHttps(publicUrl),
    maxAge: sealed === undefined ? 0 : TRANSACTION_SECONDS,
  });
}
