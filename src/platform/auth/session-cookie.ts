import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseCookie, type SerializeOptions, stringifySetCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';

/** The header that carries the CSRF token of a session. */
export const CSRF_HEADER = 'X-CSRF-Token';

/** 256 bits: nobody guesses one, and each sign-in has a new one. */
export const newSessionSecret = (): string => randomBytes(32).toString('base64url');

/** True for a text that is written like the secret of a session. */
export const isSessionSecret = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** On https the browser itself holds the cookie to this host, and to https; plain http (a first look) can't have that. */
const nameFor = (publicUrl: string) =>
  isHttps(publicUrl) ? '__Host-consigliere_session' : 'consigliere_session';

const isHttps = (publicUrl: string) => publicUrl.startsWith('https:');

/** The session's secret, if the request carries the cookie. */
export function sessionSecretOf(
  { cookie }: Pick<IncomingHttpHeaders, 'cookie'>,
  publicUrl: string,
): string | undefined {
  return cookie === undefined ? undefined : parseCookie(cookie)[nameFor(publicUrl)];
}

/** `Set-Cookie` for a session; without a secret it takes the cookie away. */
export function sessionCookie(secret: string | undefined, publicUrl: string): string {
  const options: SerializeOptions = {
    httpOnly: true,
    sameSite: 'strict',
    path: '/',
    secure: isHttps(publicUrl),
    ...(secret === undefined && { maxAge: 0 }),
  };
  return stringifySetCookie({ name: nameFor(publicUrl), value: secret ?? '', ...options });
}

/** What a page of ours sends back with each change, and a page of another site cannot know: it follows from the cookie. */
export function csrfTokenOf(secret: string): string {
  return createHmac('sha256', secret).update('csrf').digest('base64url');
}

/** Whether the header's value is the CSRF token of this session; in constant time. */
export function isCsrfTokenOf(secret: string, value: string | string[] | undefined): boolean {
  const expected = Buffer.from(csrfTokenOf(secret));
  const given = Buffer.from(typeof value === 'string' ? value : '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
