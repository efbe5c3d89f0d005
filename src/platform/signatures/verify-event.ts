import { timingSafeEqual } from 'node:crypto';
import { hmacSha256 } from './hmac.js';

/**
 * `t` without leading zeros, then one or more digests in lower-case hex; nothing before, between or after. Two digests
 * are the most that a rotation needs; the bound keeps the work, and the stack of the expression, small.
 */
const HEADER = /^t=(0|[1-9][0-9]{0,14})((?:,v1=[0-9a-f]{64}){1,16})$/;

/** What a receiver knows of one request. */
export interface ReceivedEvent {
  /** `X-Service-Signature` as it came; absent, repeated or malformed is refused, never an error. */
  header: string | readonly string[] | undefined;
  /** The bytes as received, before any parsing. */
  body: string | Uint8Array;
  secret: string;
  /** Unix milliseconds. */
  now: number;
  /** How far the time of signing may be from `now`, before or after, in whole seconds. */
  toleranceSeconds?: number;
}

/**
 * The receiver's side of `X-Service-Signature` (SPECIFICATION, Events: signature rules 1 to 4). Seconds are compared as
 * whole ones, as `t` is written: 300 are accepted and 301 refused, however far into its second the clock is. Constant
 * time: every digest of the header is compared, whichever fits.
 *
 * The header does not cover `webhook-id`; a receiver that deduplicates on it checks `webhook-signature`, which does.
 */
export function verifyEvent({ header, body, secret, now, toleranceSeconds = 300 }: ReceivedEvent): boolean {
  const [, seconds, digests] = (typeof header === 'string' && HEADER.exec(header)) || [];
  if (seconds === undefined || digests === undefined || secret === '') return false;
  const isFresh = Math.abs(Math.floor(now / 1000) - Number(seconds)) <= toleranceSeconds;
  const expected = hmacSha256(secret, `${seconds}.`, body);
  const isSigned = digests
    .split(',v1=')
    .slice(1)
    .map((digest) => timingSafeEqual(Buffer.from(digest, 'hex'), expected))
    .includes(true);
  return isFresh && isSigned;
}
