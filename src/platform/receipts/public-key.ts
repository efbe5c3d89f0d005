import { createPublicKey, type KeyObject } from 'node:crypto';

/** Undefined for a text that is no Ed25519 key: what it is said to have signed then counts as not signed. */
export function ed25519PublicKey(pem: string): KeyObject | undefined {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : undefined;
  } catch {
    return undefined;
  }
}
