import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import type { Tier } from '../../platform/auth/caller.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { isId } from '../../platform/kernel/ids.js';

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

/**
 * A licence key is `CLIC1.<payload>.<signature>`: the payload is canonical JSON (RFC 8785), the signature Ed25519 over
 * everything before it, both in base64url. The version fixes all of this, so there is nothing to negotiate; the payload
 * repeats the algorithm only to name it when it is another.
 */
const VERSION = 'CLIC1';
const ALGORITHM = 'Ed25519';
const SIGNATURE_BYTES = 64;
export const MAX_LICENCE_KEY = 8_000;

const YEAR_9999 = 253_402_300_799_999;
const MAX_ENTITLEMENTS = 50;

const WHOLE = 'must be a whole number from 1';
const time = z.int().min(0).max(YEAR_9999);

/** What stands in a licence besides the algorithm and the key: as strict for who issues it as for who reads it. */
export const licenceSchema = z
  .strictObject({
    licenceId: z.string().refine((text) => isId('lic', text), 'must be the id of a licence'),
    number: z.int({ error: WHOLE }).min(1, WHOLE),
    workspaceId: z.string().refine((text) => isId('wks', text), 'must be the id of a workspace: wks_...'),
    tier: z.enum(['free', 'pro', 'enterprise'], { error: 'must be one of free, pro, enterprise' }),
    entitlements: z
      .array(z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be up to 64 of a-z, 0-9, dot, _ and -'))
      .max(MAX_ENTITLEMENTS, `must be at most ${MAX_ENTITLEMENTS}`)
      .refine((names) => names.every((name, index) => index === 0 || name > names[index - 1]!), {
        error: 'must be in order, and each stand there once',
      }),
    issuedAt: time,
    expiresAt: time,
  })
  .refine(({ issuedAt, expiresAt }) => issuedAt < expiresAt, {
    path: ['expiresAt'],
    error: 'must be after the time of issue',
  });

/** How a licence names the key that signed it, so that one key can follow another. */
export function keyIdOf(publicKey: string): string {
  return sha256(Buffer.from(publicKey, 'base64url')).slice(0, 16);
}

/** The raw public half of an issuer's key, as LICENCE_PUBLIC_KEY has it. */
export function publicKeyOf(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ format: 'jwk' }).x!;
}

/** The issuers' keys by their ids. */
export type IssuerKeys = ReadonlyMap<string, KeyObject>;

export function issuerKeys(publicKeys: readonly string[]): IssuerKeys {
  return new Map(
    publicKeys.map((x) => [
      keyIdOf(x),
      createPublicKey({ key: { kty: 'OKP', crv: ALGORITHM, x }, format: 'jwk' }),
    ]),
  );
}

/** The key of this licence, signed by its issuer. */
export function signLicence(licence: Licence, privateKey: KeyObject): string {
  const payload = { ...licence, alg: ALGORITHM, key: keyIdOf(publicKeyOf(privateKey)) };
  const signed = `${VERSION}.${Buffer.from(canonicalJson(payload)).toString('base64url')}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

/** The licence that one of these issuers signed, or why this is none. Nothing of an unsigned payload is answered. */
export function readLicence(
  text: string,
  issuers: IssuerKeys,
): { licence: Licence } | { fault: LicenceFault } {
  if (text.length > MAX_LICENCE_KEY) return { fault: 'malformed' };
  const [, version, body, signature] = /^(CLIC[0-9]{1,3})\.([\w-]+)\.([\w-]+)$/.exec(text) ?? [];
  if (version === undefined) return { fault: 'malformed' };
  if (version !== VERSION) return { fault: 'unsupported_version' };
  const signatureBytes = bytesOf(signature!);
  const payload = payloadOf(body!);
  if (!payload || signatureBytes?.length !== SIGNATURE_BYTES) return { fault: 'malformed' };
  const { alg, key, ...rest } = payload;
  if (alg !== ALGORITHM) return { fault: typeof alg === 'string' ? 'unsupported_algorithm' : 'malformed' };
  const parsed = licenceSchema.safeParse(rest);
  if (!parsed.success || typeof key !== 'string') return { fault: 'malformed' };
  const issuer = issuers.get(key);
  if (!issuer) return { fault: 'unknown_key' };
  const isSigned = verify(null, Buffer.from(`${VERSION}.${body}`), issuer, signatureBytes);
  return isSigned ? { licence: parsed.data } : { fault: 'bad_signature' };
}

/** Undefined unless the text is the one way to write its bytes. */
function bytesOf(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : undefined;
}

/** Undefined unless the text is the one way to write a JSON object. */
function payloadOf(text: string): Record<string, unknown> | undefined {
  const json = bytesOf(text)?.toString();
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject && canonicalJson(value) === json ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
