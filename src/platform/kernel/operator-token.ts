import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The grammar of an operator token (CONTRACT section 5, Tokens): `cons_`, 43 base62 characters that hold 256 random
 * bits, 6 base62 characters of checksum. The prefix lets secret scanners find a leaked token; the checksum lets them,
 * and us, tell a token from a typing error without a look-up.
 */
const PREFIX = 'cons_';
const RANDOM_CHARACTERS = 43; // 62^43 is just above 2^256
const CHECKSUM_CHARACTERS = 6; // 62^6 is above 2^32
const GRAMMAR = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new operator token. Show it once and store only its SHA-256. */
export function newOperatorToken(): string {
  const random = BigInt(`0x${randomBytes(32).toString('hex')}`);
  const body = PREFIX + base62(random, RANDOM_CHARACTERS);
  return body + checksum(body);
}

/** True when `text` is written like a token and its checksum holds; says nothing about whether anyone holds it. */
export function isOperatorToken(text: string): boolean {
  if (!GRAMMAR.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return text === body + checksum(body);
}

/** Guards against slips, not against forgery, so a CRC is enough. */
function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_CHARACTERS);
}

function base62(number: bigint, width: number): string {
  let text = '';
  for (let rest = number; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(width, DIGITS.charAt(0));
}
