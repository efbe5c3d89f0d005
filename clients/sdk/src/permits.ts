import { fromBase64 } from './base64.js';
import { hashOf } from './canonical.js';
import { ConsigliereError } from './errors.js';
import type { PermitPublicKey } from './generated/types.js';

/** The permit is not one of this service for exactly this call, now, once: the tool must not act. */
export class PermitRefused extends ConsigliereError {}

/** What a permit says (CONTRACT, section 7). */
export interface Permit {
  /** The action request. */
  sub: string;
  /** The service: its `PUBLIC_URL`. */
  iss: string;
  /** The tool's audience. */
  aud: string;
  /** The workspace of the agent. */
  workspace_id: string;
  /** The tool. */
  tool: string;
  /** Lower-case hex SHA-256 of RFC 8785 `{ tool, params }`. */
  params_sha256: string;
  /** The member who approved it, or `guardian` for a standing order. */
  decided_by: string;
  /** Whether a person changed the parameters. */
  edited: boolean;
  /** The receipt of the consumption. */
  receipt_id: string;
  /** How often the kill switch had been used. */
  guardian_epoch: number;
  /** Unix seconds. */
  iat: number;
  /** Unix seconds. */
  exp: number;
  /** Its own id. */
  jti: string;
}

/** What a permit must be for. */
export interface VerifyOptions {
  /** The address of the service, `PUBLIC_URL`: the issuer, and where its key is fetched, whatever the permit says. */
  issuer: string;
  /** The workspace whose agents may call this tool. */
  workspaceId: string;
  /** The audience of the tool; its name unless it was registered with another. */
  audience?: string;
  /** The tool that is about to be called. */
  tool: string;
  /** The parameters that are about to be executed. */
  params: unknown;
  /**
   * Takes a `jti`, and answers false if it was taken before, until the permit expires (Unix seconds). A server of several
   * processes, or one that is restarted, gives its own: a unique column, say. Without it they are kept in memory.
   */
  takeOnce?: (jti: string, expiresAt: number) => boolean | Promise<boolean>;
  /** Instead of the key at the issuer's `/.well-known/jwks.json`. */
  keys?: PermitPublicKey[];
}

interface Header {
  alg: string;
  typ: string;
  kid: string;
}

/** Seconds that the clocks of the service and of the tool may differ. */
const CLOCK_TOLERANCE = 5;
const KEYS_KEPT_MS = 10 * 60_000;

const taken = new Map<string, number>();
const fetched = new Map<string, { keys: PermitPublicKey[]; at: number }>();

/**
 * Verifies a permit on the tool's side: signature, type, issuer, audience, workspace, time, the tool and the hash of exactly
 * these parameters; and takes it, once.
 * @throws PermitRefused
 */
export async function verify(permit: string, options: VerifyOptions): Promise<Permit> {
  const { tool, params, workspaceId, audience = tool, takeOnce = takeInMemory } = options;
  const issuer = options.issuer.replace(/\/+$/, '');
  const [head, payload, signature, ...more] = typeof permit === 'string' ? permit.split('.') : [];
  const header = partOf(head) as Partial<Header>;
  const claims = partOf(payload) as Permit;
  if (more.length > 0 || header.alg !== 'EdDSA' || header.typ !== 'consigliere-permit+jwt') {
    throw new PermitRefused('This is no permit of Consigliere.');
  }
  const key = await keyOf(header.kid, issuer, options.keys);
  const signed = new TextEncoder().encode(`${head}.${payload}`);
  if (!key || !(await crypto.subtle.verify('Ed25519', key, bytesOf(signature), signed))) {
    throw new PermitRefused('The permit is not signed by this service.');
  }
  const now = Date.now() / 1_000;
  const isFresh =
    claims.iat <= now + CLOCK_TOLERANCE &&
    now <= claims.exp + CLOCK_TOLERANCE &&
    claims.exp - claims.iat <= 60;
  if (!isFresh) throw new PermitRefused('The permit has expired, or the clocks differ.');
  const expected: Partial<Permit> = {
    iss: issuer,
    aud: audience,
    workspace_id: workspaceId,
    tool,
    params_sha256: await hashOf({ tool, params }),
  };
  for (const [name, value] of Object.entries(expected)) {
    if (claims[name as keyof Permit] !== value)
      throw new PermitRefused(`The permit is for another call: its ${name} differs.`);
  }
  if (!claims.jti || !(await takeOnce(claims.jti, claims.exp + CLOCK_TOLERANCE))) {
    throw new PermitRefused('The permit has been used before.');
  }
  return claims;
}

function takeInMemory(jti: string, expiresAt: number): boolean {
  for (const [old, until] of taken) if (until < Date.now() / 1_000) taken.delete(old);
  if (taken.has(jti)) return false;
  taken.set(jti, expiresAt);
  return true;
}

/** A key that is not known yet may be a new one, so they are fetched again, but not for every stranger's permit. */
async function keyOf(
  kid: string | undefined,
  issuer: string,
  given: PermitPublicKey[] | undefined,
): Promise<CryptoKey | undefined> {
  let known = given ?? fetched.get(issuer)?.keys;
  const age = Date.now() - (fetched.get(issuer)?.at ?? 0);
  const isMissing = !known?.some((jwk) => jwk.kid === kid);
  if (!given && (age > KEYS_KEPT_MS || (isMissing && age > 10_000))) {
    known = await keysAt(issuer);
    fetched.set(issuer, { keys: known, at: Date.now() });
  }
  const jwk = known?.find((one) => one.kid === kid);
  return jwk && crypto.subtle.importKey('jwk', { ...jwk, key_ops: ['verify'] }, 'Ed25519', false, ['verify']);
}

async function keysAt(issuer: string): Promise<PermitPublicKey[]> {
  try {
    const signal = AbortSignal.timeout(10_000);
    const response = await fetch(`${issuer}/.well-known/jwks.json`, { redirect: 'error', signal });
    const { keys } = (await response.json()) as { keys: PermitPublicKey[] };
    if (response.ok && Array.isArray(keys)) return keys;
    throw new Error(`status ${response.status}`);
  } catch (cause) {
    throw new PermitRefused(`The key of permits cannot be fetched from ${issuer}.`, { cause });
  }
}

/** @throws PermitRefused for what is no JSON object in base64url */
function partOf(part: string | undefined): object {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(part)));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Told below.
  }
  throw new PermitRefused('This is no permit.');
}

/** @throws PermitRefused for what is no base64url */
function bytesOf(part = ''): Uint8Array<ArrayBuffer> {
  if (!/^[\w-]+$/.test(part) || part.length % 4 === 1) throw new PermitRefused('This is no permit.');
  return new Uint8Array(fromBase64(part));
}
