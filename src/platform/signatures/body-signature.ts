import { randomBytes, timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from './hmac.js';

/**
 * Lower-case hex only, as GitHub and its libraries write it: one digest has one spelling, so that every changed bit of
 * the header is refused, a flipped case bit included.
 */
const HEADER = /^sha256=[0-9a-f]{64}$/;

/** Tried where there is no secret, so that the time of the answer does not tell whether there is one. */
const NOBODYS_SECRET = randomBytes(32).toString('base64');

/** The header for these bytes: `sha256=<hex>`, HMAC-SHA256 keyed with the secret's UTF-8 text. */
export function signBody(rawBody: Uint8Array, secret: string): string {
  return `sha256=${hmacSha256(secret, rawBody).toString('hex')}`;
}

/**
 * True when the header is the signature of these very bytes under one of the secrets (SPECIFICATION, Authentication 5).
 * Takes the header as it came: absent, repeated or malformed is false, never an error. Constant time: every secret is
 * tried, whichever fits.
 *
 * @param rawBody the bytes as received, before any parsing
 * @param secrets current and, while a rotation overlaps, previous; none, or an empty one, fits nothing
 */
export function isBodySignature(
  header: string | readonly string[] | undefined,
  rawBody: Uint8Array,
  secrets: readonly string[],
): boolean {
  if (typeof header !== 'string' || !HEADER.test(header)) return false;
  const presented = Buffer.from(header);
  const usable = secrets.filter((secret) => secret !== '');
  return (usable.length > 0 ? usable : [NOBODYS_SECRET])
    .map((secret) => timingSafeEqual(presented, Buffer.from(signBody(rawBody, secret))))
    .includes(true);
}
