import type { Tier } from '../../platform/auth/caller.js';

/** What a licence says. Once issued it is never changed: another is issued, under a higher number. */
export interface Licence {
  licenceId: string;
  /** Of two licences of a workspace the one with the higher number holds. */
  number: number;
  /** The only workspace that may use it. */
  workspaceId: string;
  tier: Tier;
  /** Further grants, in the issuer's words. */
  entitlements: readonly string[];
  /** Unix milliseconds. */
  issuedAt: number;
  expiresAt: number;
}

/** `none`: no licence is installed, and the workspace has the tier that it was set up with. */
export type SubscriptionStatus = LicenceStatus | 'none';
export type LicenceStatus = 'active' | 'grace' | 'expired';

/** How long everything goes on after the end of a licence, so that a late invoice stops nobody's work. */
export const GRACE_DAYS = 14;
const GRACE_MS = GRACE_DAYS * 24 * 60 * 60 * 1000;

/** Clocks of issuers and servers differ; what is dated further ahead is a fault. */
const CLOCK_TOLERANCE_MS = 5 * 60 * 1000;

/** When the tier of a licence ends, Unix milliseconds. */
export function graceEnd({ expiresAt }: Pick<Licence, 'expiresAt'>): number {
  return expiresAt + GRACE_MS;
}

export function licenceStatus(licence: Pick<Licence, 'expiresAt'>, now: number): LicenceStatus {
  if (now < licence.expiresAt) return 'active';
  return now < graceEnd(licence) ? 'grace' : 'expired';
}

/** Why a licence is not valid, each with its sentence. */
export const LICENCE_FAULTS = {
  no_public_key: 'No licence can be checked here: LICENCE_PUBLIC_KEY is not set.',
  no_licence: 'No licence is installed; the workspace has the tier that it was set up with.',
  malformed: 'This is not a whole licence key: it was cut or changed.',
  unsupported_version: 'This licence key has a version that this release does not know.',
  unsupported_algorithm: 'This licence key is signed with another algorithm than Ed25519.',
  unknown_key: 'This licence key is signed with a key that is not in LICENCE_PUBLIC_KEY.',
  bad_signature: 'The signature does not match: the licence key was changed, or signed with another key.',
  other_workspace: 'This licence key was issued for another workspace.',
  not_yet_issued:
    'This licence key was issued at a time that is still to come. Check the clock of this server.',
  superseded: 'A licence with this number or a later one was installed before.',
  expired: `This licence ended more than ${GRACE_DAYS} days ago.`,
} as const;
export type LicenceFault = keyof typeof LICENCE_FAULTS;

/** What is wrong with an authentic licence in this workspace and at this time; undefined: nothing. */
export function faultIn(licence: Licence, workspaceId: string, now: number): LicenceFault | undefined {
  if (licence.workspaceId !== workspaceId) return 'other_workspace';
  if (licence.issuedAt > now + CLOCK_TOLERANCE_MS) return 'not_yet_issued';
  return licenceStatus(licence, now) === 'expired' ? 'expired' : undefined;
}

/** A licence that holds now, in one sentence. */
export function validitySentence(licence: Pick<Licence, 'expiresAt'>, now: number): string {
  const end = timeOf(licence.expiresAt);
  return licenceStatus(licence, now) === 'active'
    ? `The licence is valid until ${end}.`
    : `The licence ended at ${end}. The tier stays until ${timeOf(graceEnd(licence))}: install a new licence before then.`;
}

/** A time for a person, in UTC: `2027-12-01 00:00 UTC`. */
export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
