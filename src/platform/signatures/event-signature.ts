import { randomBytes } from 'node:crypto';
import { hmacSha256 } from './hmac.js';

const GENERATED_PREFIX = 'whsec_';
const GENERATED_BYTES = 32;

/**
 * Both schemes sign `<something>.<something>.<body>`, and for a secret that the customer chose they do so under one
 * key. An id that begins with a letter and holds no dot keeps each text of one scheme from being a text of the other.
 */
const EVENT_ID = /^[a-z][0-9a-z_]*$/;

/** What is signed for one attempt to deliver. */
export interface UnsignedEvent {
  /** The exact bytes that are sent; text stands for its UTF-8 bytes. */
  body: string | Uint8Array;
  /** When this attempt is made, Unix milliseconds. */
  at: number;
  /** The event's id, the same at every attempt: receivers deduplicate on it. */
  id: string;
  /** The current secret first; while a rotation overlaps, the previous one too. */
  secrets: readonly string[];
}

/** One signature per secret in each of the two signature headers, the current secret's first. */
export interface EventSignatureHeaders {
  'X-Service-Signature': string;
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

/**
 * Signs one attempt (SPECIFICATION, Events: signature rules), for any Standard Webhooks library too (CONTRACT,
 * Webhooks).
 * - `X-Service-Signature: t=<seconds>,v1=<hex>`: over `<t>.<body>`; the key is the secret's text.
 * - `webhook-signature: v1,<base64>`: over `<id>.<timestamp>.<body>`; the key is described at `standardKey`.
 *
 * @throws {TypeError} without a secret to sign with, and for an id that is not lower-case letters, digits and `_`
 */
export function signEvent({ body, at, id, secrets }: UnsignedEvent): EventSignatureHeaders {
  if (secrets.length === 0 || secrets.includes(''))
    throw new TypeError('an event needs a secret to be signed');
  if (!EVENT_ID.test(id)) throw new TypeError('an event id is lower-case letters, digits and underscores');
  const seconds = String(Math.floor(at / 1000));
  const service = secrets.map((secret) => `v1=${hmacSha256(secret, `${seconds}.`, body).toString('hex')}`);
  const standard = secrets.map(
    (secret) => `v1,${hmacSha256(standardKey(secret), `${id}.${seconds}.`, body).toString('base64')}`,
  );
  return {
    'X-Service-Signature': [`t=${seconds}`, ...service].join(','),
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': standard.join(' '),
  };
}

/** A new secret, `whsec_` and 256 random bits in base64, as Standard Webhooks writes it. */
export function newSigningSecret(): string {
  return GENERATED_PREFIX + randomBytes(GENERATED_BYTES).toString('base64');
}

/**
 * False for `whsec_` followed by what is no padded base64: it would be signed as text, while some libraries would decode
 * it loosely, into another key.
 */
export function hasOneReading(secret: string): boolean {
  return !secret.startsWith(GENERATED_PREFIX) || standardKey(secret) !== secret;
}

/**
 * Standard Webhooks keys are bytes, written as `whsec_<base64>`: from a secret of that form (padded, standard alphabet)
 * they are decoded. Any other secret is its own UTF-8 bytes, which a receiver hands to a library as raw bytes or as
 * `whsec_<base64 of the text>`; guessing base64 in text without the prefix would change what a pass phrase means.
 */
function standardKey(secret: string): string | Uint8Array {
  if (!secret.startsWith(GENERATED_PREFIX)) return secret;
  const encoded = secret.slice(GENERATED_PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  // Node skips what is not base64; only what comes back the same was base64.
  return key.length > 0 && key.toString('base64') === encoded ? key : secret;
}
