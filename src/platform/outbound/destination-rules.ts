import { isIP } from 'node:net';
import { isPublicUnicast } from './address-rules.js';
import { isReceiverPort } from './control-ports.js';

/** Characters; longer ones are cut or refused along the way anyhow. */
const MAXIMUM_LENGTH = 2048;

/**
 * Why a destination is refused, and what a person is told; the key is `details.reason` of INVALID_DESTINATION
 * (CONTRACT, Errors). All but `address` can be seen from the URL alone. `address` says the same, whether a name does
 * not resolve or resolves to something that is not allowed: two answers would map a private network.
 */
export const DESTINATION_REASONS = {
  length: `The URL has more than ${MAXIMUM_LENGTH} characters.`,
  characters: 'The URL contains a control character, white space or a backslash.',
  syntax: 'This is not a URL of the form https://host/path.',
  scheme: 'The URL must start with https://.',
  user_info: 'The URL must not contain a user name or password.',
  own_address: 'This is an address of this service itself.',
  port: 'The port must be 443, 8443 or above 1023, and none of a well-known database or control service.',
  name: 'The host must be a public DNS name or a public address.',
  address: 'The host does not resolve, or not only to public addresses.',
} as const;

export type DestinationReason = keyof typeof DESTINATION_REASONS;

/** What cannot be read off a URL. Each entry is `host:port`, written as {@link hostPort} does. */
export interface DestinationRules {
  /** Receivers of the operator's own (`OUTBOUND_ALLOW`). */
  allow: readonly string[];
  /** Where this product itself is reached. */
  own: readonly string[];
}

export interface AllowedDestination {
  ok: true;
  url: URL;
  /** The operator allows this very host and port: any address will do, and plain http. */
  exempt: boolean;
}

export interface RefusedDestination {
  ok: false;
  reason: DestinationReason;
  message: string;
}

/**
 * Judges a destination by its URL alone, in the reading of the WHATWG URL standard, which is the one that is dialled:
 * 0x7f.1, 2130706433 and full-width digits are 127.0.0.1 there. A name that passes still has to resolve to public
 * addresses only. CONTRACT, Webhooks; SPECIFICATION, Authentication 8.
 */
export function checkDestination(
  text: string,
  { allow, own }: DestinationRules,
): AllowedDestination | RefusedDestination {
  if (text.length > MAXIMUM_LENGTH) return refused('length');
  // The parser would drop some of these without a word, and reads a backslash as a slash.
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) return refused('characters');
  const url = URL.parse(text);
  if (!url) return refused('syntax');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('scheme');
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) return refused('syntax');
  if (authority.includes('@')) return refused('user_info');

  const place = hostPort(url);
  if (own.includes(place)) return refused('own_address');
  if (allow.includes(place)) return { ok: true, url, exempt: true };

  if (url.protocol !== 'https:') return refused('scheme');
  if (url.port !== '' && !isReceiverPort(Number(url.port))) return refused('port');
  const literal = literalOf(url);
  if (literal === undefined && !isPublicName(url.hostname)) return refused('name');
  if (literal !== undefined && !isPublicUnicast(literal)) return refused('address');
  return { ok: true, url, exempt: false };
}

export function refused(reason: DestinationReason): RefusedDestination {
  return { ok: false, reason, message: DESTINATION_REASONS[reason] };
}

/** Host and port of an http or https URL, the port always written: `example.com:443`, `[::1]:8080`. */
export function hostPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
}

/** The address that a URL names itself, without brackets; undefined if it names a host. */
export function literalOf({ hostname }: URL): string | undefined {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * Top-level names that no public server answers for: RFC 6761, 6762 (with the names of private networks in its
 * appendix G), 7686, 8375 and 9476, and `internal`, which ICANN set aside. `example` is left out: documentation uses
 * it, and it does not resolve.
 */
const PRIVATE_TOP_LEVELS = new Set([
  ...['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan'],
  ...['arpa', 'test', 'invalid', 'onion', 'alt'],
]);

/** Two labels or more, letters, digits, hyphens and underscores, and no dot at the end, which certificates lack. */
function isPublicName(hostname: string): boolean {
  const labels = hostname.split('.');
  return (
    labels.length > 1 &&
    hostname.length <= 253 &&
    labels.every((label) => /^(?!-)[a-z\d_-]{1,63}(?<!-)$/.test(label)) &&
    !PRIVATE_TOP_LEVELS.has(labels.at(-1)!)
  );
}
