import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Licence, LicenceFault } from './licence.js';

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
