import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { sha256 } from '../../platform/kernel/canonical-json.js';

/** How long a secret that was begun can be confirmed. */
export const BEGUN_LASTS_MS = 600_000;
const PERIOD_S = 30;
/** Time steps before and after the present one whose code is accepted too: clocks differ, and typing takes time. */
const WINDOW = 1;
const RECOVERY_CODES = 10;
/** Crockford's, which leaves out letters that are read as others. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** Five bits each, together 120: more than 112, so that a plain hash of it can be kept (ASVS 5.0, 6.5.2). */
const RECOVERY_CODE_LENGTH = 24;

/** A second factor as it is kept. */
export interface KeptSecondFactor {
  sealedSecret: string;
  begunAt: number;
  /** Null until its first code has been shown to be right. */
  confirmedAt: number | null;
  recoveryCodesLeft: number;
}

/** What somebody typed: the code of an authenticator, or a recovery code. */
export type TypedCode = { totp: string } | { recoveryHash: string };

/** 160 random bits in base32, as authenticators take them (RFC 4226, R6). */
export function newSecret(): string {
  return new Secret({ size: 20 }).base32;
}

/** What an authenticator reads from a QR code. */
export function otpauthUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

/** The time step whose code this is; undefined when it is none of those that are accepted now. */
export function stepOf(secret: string, code: string, now: number): number | undefined {
  const delta = totpOf(secret).validate({ token: code, timestamp: now, window: WINDOW });
  return delta === null ? undefined : Math.floor(now / 1000 / PERIOD_S) + delta;
}

/** What the sealed secret is for, so that it opens for no other account. */
export function secretPurpose(userId: string): string {
  return `second factor ${userId}`;
}

/** Whether it is asked for; what was only begun is not. */
export function isSetUp(
  factor: KeptSecondFactor | undefined,
): factor is KeptSecondFactor & { confirmedAt: number } {
  return factor !== undefined && factor.confirmedAt !== null;
}

export function canBeConfirmed(
  factor: KeptSecondFactor | undefined,
  now: number,
): factor is KeptSecondFactor {
  return factor?.confirmedAt === null && factor.begunAt > now - BEGUN_LASTS_MS;
}

/** Ten codes, and what is kept of them. */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const plain = Array.from({ length: RECOVERY_CODES }, () =>
    Array.from(randomBytes(RECOVERY_CODE_LENGTH), (byte) => ALPHABET[byte & 31]).join(''),
  );
  return {
    codes: plain.map((code) => code.match(/.{6}/g)!.join('-')),
    hashes: plain.map((code) => sha256(code)),
  };
}

/** Reads a code however it was typed: with spaces or dashes, in capitals, with an O for the 0. */
export function typedCode(text: string): TypedCode | undefined {
  const plain = text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s\p{Pd}]/gu, '');
  if (/^\d{6}$/.test(plain)) return { totp: plain };
  const code = plain.replaceAll('o', '0').replace(/[il]/g, '1');
  const isRecovery = code.length === RECOVERY_CODE_LENGTH && [...code].every((one) => ALPHABET.includes(one));
  return isRecovery ? { recoveryHash: sha256(code) } : undefined;
}

/** RFC 6238 with what every authenticator takes: SHA-1, six digits, 30 seconds. */
function totpOf(secret: string, label = ''): TOTP {
  return new TOTP({
    issuer: 'Consigliere',
    label,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_S,
    secret: Secret.fromBase32(secret),
  });
}
