import { fromBase64 } from './base64.js';
import { ConsigliereError } from './errors.js';

/** The event is not from Consigliere, was changed on its way, or is not fresh. */
export class WebhookVerificationError extends ConsigliereError {}

/** An event as it is sent (docs/webhooks.md). */
export interface WebhookEvent {
  /** Its type, such as `approval.requested` (SPECIFICATION, Events). */
  event: string;
  /** When it happened, Unix milliseconds. */
  timestamp: number;
  /** The workspace that it happened in. */
  workspaceId: string;
  /** What happened; its form goes by `event` (CONTRACT, section 5, Webhooks). */
  payload: Record<string, unknown>;
}

type Raw = string | Uint8Array | ArrayBuffer;
type ReceivedHeaders = { get(name: string): string | null } | Record<string, string | string[] | undefined>;

/** Seconds that the time of an event may differ from the clock of the receiver, either way. */
const TOLERANCE = 300;

/**
 * The event of a request, once its signature is verified: `webhook-signature` (Standard Webhooks) or `X-Service-Signature`, of
 * which a rotation sends two. Which of the two families came does not matter; one that came must be right.
 * @param raw the body as received, before anything has parsed it
 * @param now Unix milliseconds
 * @throws WebhookVerificationError
 */
export async function unwrap(
  raw: Raw,
  headers: ReceivedHeaders,
  secret: string,
  now: number = Date.now(),
): Promise<WebhookEvent> {
  const body = bytesOf(raw);
  const header = (name: string) => headerOf(headers, name);
  const [id, at, standard] = [header('webhook-id'), header('webhook-timestamp'), header('webhook-signature')];
  const own = header('x-service-signature');
  const signed: { time: string; prefix: string; key: Uint8Array; digests: Uint8Array[] }[] = [];
  if (own !== undefined) {
    const [, time = '', digests = ''] = /^t=([1-9]\d{0,11})((?:,v1=[0-9a-f]{64})+)$/.exec(own) ?? [];
    signed.push({
      time,
      prefix: `${time}.`,
      key: new TextEncoder().encode(secret),
      digests: digests.split(',v1=').slice(1).map(fromHex),
    });
  }
  if (standard !== undefined) {
    const digests = standard.split(' ').flatMap((one) => /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one)?.[1] ?? []);
    signed.push({
      time: at ?? '',
      prefix: `${id}.${at}.`,
      key: standardKey(secret),
      digests: digests.map(fromBase64),
    });
  }
  if (signed.length === 0) throw new WebhookVerificationError('The request has no signature.');
  for (const { time, prefix, key, digests } of signed) {
    if (!/^\d{1,12}$/.test(time)) throw new WebhookVerificationError('The signature cannot be read.');
    if (Math.abs(Math.floor(now / 1_000) - Number(time)) > TOLERANCE) {
      throw new WebhookVerificationError(
        'The event was signed more than five minutes from now: it may be a repeat, or a clock is wrong.',
      );
    }
    const imported = await hmacKey(key, 'verify');
    const data = joined(prefix, body);
    // Compared by the platform, in constant time.
    const matches = await Promise.all(
      digests.map((digest) => crypto.subtle.verify('HMAC', imported, digest as BufferSource, data)),
    );
    if (!matches.includes(true))
      throw new WebhookVerificationError('The signature is not of this body and secret.');
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as WebhookEvent;
  } catch (cause) {
    throw new WebhookVerificationError('The body is no JSON.', { cause });
  }
}

/**
 * The headers that the service would send with this body, for tests of a receiver.
 * @param now Unix milliseconds
 */
export async function sign(
  raw: string,
  secret: string,
  { id = 'evt_test', now = Date.now() }: { id?: string; now?: number } = {},
): Promise<Record<string, string>> {
  const time = String(Math.floor(now / 1_000));
  const body = new TextEncoder().encode(raw);
  const digest = async (key: Uint8Array, prefix: string) =>
    new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(key, 'sign'), joined(prefix, body)));
  const own = await digest(new TextEncoder().encode(secret), `${time}.`);
  const standard = await digest(standardKey(secret), `${id}.${time}.`);
  const { event } = JSON.parse(raw) as WebhookEvent;
  return {
    'Content-Type': 'application/json',
    'X-Service-Event': event,
    'X-Service-Signature': `t=${time},v1=${[...own].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`,
    'webhook-id': id,
    'webhook-timestamp': time,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...standard))}`,
  };
}

/** @throws TypeError for a body that something has parsed already */
function bytesOf(raw: Raw): Uint8Array {
  if (typeof raw === 'string') return new TextEncoder().encode(raw);
  if (raw instanceof Uint8Array) return raw;
  if (raw instanceof ArrayBuffer) return new Uint8Array(raw);
  throw new TypeError(
    'The signature is of the body as it was received: give its text or bytes, not what was parsed of it.',
  );
}

function headerOf(headers: ReceivedHeaders, name: string): string | undefined {
  if (typeof headers['get'] === 'function') return headers['get'](name) ?? undefined;
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value.join(',') : value;
}

/** The decoded bytes of `whsec_<base64>`, as the service makes secrets; of any other, the bytes of its text. */
function standardKey(secret: string): Uint8Array {
  const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
  try {
    if (encoded && btoa(atob(encoded)) === encoded) return fromBase64(encoded);
  } catch {
    // No base64: it is its own text.
  }
  return new TextEncoder().encode(secret);
}

function hmacKey(key: Uint8Array, use: 'sign' | 'verify'): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', key as BufferSource, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function joined(prefix: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const start = new TextEncoder().encode(prefix);
  const whole = new Uint8Array(start.length + body.length);
  whole.set(start);
  whole.set(body, start.length);
  return whole;
}

function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}
