import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.js';

const SIGNATURE_BYTES = 64;

/** The raw public half of a private key in base64url, as settings have it. */
export function rawPublicKey(privateKey: KeyObject): string {
  return createPublicKey(privateKey).export({ format: 'jwk' }).x!;
}

/** The key that settings have as raw bytes in base64url. */
export function publicKeyFrom(x: string): KeyObject {
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

/** Ed25519 over the canonical JSON of the document, in base64url. */
export function signDocument(document: unknown, privateKey: KeyObject): string {
  return sign(null, Buffer.from(canonicalJson(document)), privateKey).toString('base64url');
}

/** Whether one of these keys signed the document. A signature has one spelling. */
export function isSignedDocument(document: unknown, signature: string, keys: readonly KeyObject[]): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  if (bytes.length !== SIGNATURE_BYTES || bytes.toString('base64url') !== signature) return false;
  const signed = bytesOf(document);
  return signed !== undefined && keys.some((key) => verify(null, signed, key, bytes));
}

/** Undefined for what has no canonical form, such as the number 1e400: nobody can have signed it. */
function bytesOf(document: unknown): Buffer | undefined {
  try {
    return Buffer.from(canonicalJson(document));
  } catch {
    return undefined;
  }
}
