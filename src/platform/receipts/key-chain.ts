import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { canonicalJson, sha256 } from '../kernel/canonical-json.js';

/** Undefined for a text that is no Ed25519 key: what it is said to have signed then counts as not signed. */
export function ed25519PublicKey(pem: string): KeyObject | undefined {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** A signing key as it is stored, without its private half. */
export interface KeyRecord {
  keyId: string;
  /** SPKI in PEM. */
  publicKey: string;
  /** Unix milliseconds. */
  createdAt: number;
  /** The key before it; null for the first. */
  signedBy: string | null;
  /** Ed25519 over {@link keyText} by the key before it, base64url; null for the first. */
  signature: string | null;
}

/** Why a key is not trusted. */
export interface KeyFault {
  keyId: string;
  message: string;
}

/** The keys that may sign and vouch for what they signed, oldest first; and the others. */
export interface KeyChain {
  trusted: KeyRecord[];
  faults: KeyFault[];
}

/** The id says which key it is, so a noted id shows that a key is another. */
export function keyIdOf(publicKey: string): string {
  return sha256(publicKey).slice(0, 16);
}

/** What a key's signature by the one before it covers. */
export function keyText({ keyId, publicKey, createdAt, signedBy }: Omit<KeyRecord, 'signature'>): string {
  return canonicalJson({ keyId, publicKey, createdAt, signedBy });
}

/**
 * Tells the keys of this service from others that were put into its table. A key is trusted when its private half opens
 * under SECRETS_KEY and belongs to its public half, which nobody without SECRETS_KEY can make; and when it is the first,
 * or signed by a trusted one, which lets anyone who noted an earlier key follow.
 *
 * @param openedPublicKey the public half of the private key that is stored with this id; undefined when that does not open
 */
export function examineKeys(
  keys: readonly KeyRecord[],
  openedPublicKey: (keyId: string) => string | undefined,
): KeyChain {
  const faults: KeyFault[] = [];
  const refuse = ({ keyId }: KeyRecord, why: string) =>
    faults.push({ keyId, message: `The signing key ${keyId} is refused: ${why}.` });

  const genuine = keys.filter((key) => {
    const opened = openedPublicKey(key.keyId);
    if (opened === undefined) refuse(key, 'its private key cannot be decrypted with SECRETS_KEY');
    else if (opened !== key.publicKey) refuse(key, 'its public key does not belong to its private key');
    else if (key.keyId !== keyIdOf(key.publicKey)) refuse(key, 'its id does not match its public key');
    else return true;
    return false;
  });

  const trusted: KeyRecord[] = [];
  const first = genuine.filter((key) => key.signedBy === null).toSorted(byAge)[0];
  for (let key = first; key;) {
    trusted.push(key);
    const signer: KeyRecord = key;
    key = genuine.find(
      (one) => one.signedBy === signer.keyId && !trusted.includes(one) && isSigned(one, signer),
    );
  }
  for (const key of genuine.toSorted(byAge)) {
    if (!trusted.includes(key)) refuse(key, 'it is not signed by an earlier trusted key');
  }
  return { trusted, faults };
}

function isSigned(key: KeyRecord, signer: KeyRecord): boolean {
  const publicKey = ed25519PublicKey(signer.publicKey);
  const signature = Buffer.from(key.signature ?? '', 'base64url');
  return publicKey !== undefined && verify(null, Buffer.from(keyText(key)), publicKey, signature);
}

const byAge = (a: KeyRecord, b: KeyRecord) => a.createdAt - b.createdAt || (a.keyId < b.keyId ? -1 : 1);
