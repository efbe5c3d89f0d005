import { randomBytes } from 'node:crypto';
import { sha256 } from '../../platform/kernel/canonical-json.js';

/** How long a link works. */
export const RESET_LASTS_MS = 1_800_000;

/** 256 random bits, and what is kept of them. */
export function newResetToken(): { token: string; tokenHash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: sha256(token) };
}

/** True for a text that is written like the token of a link. */
export function isResetToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** What the token is sealed for, so that it opens in no other row. */
export function tokenPurpose(resetId: string): string {
  return `password reset ${resetId}`;
}

export function isUsable(
  { isOpen, expiresAt }: { isOpen: boolean; expiresAt: number },
  now: number,
): boolean {
  return isOpen && expiresAt > now;
}
