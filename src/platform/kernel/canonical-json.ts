import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** RFC 8785: one text for one value, whatever order its keys were written in. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('a value that JSON cannot hold has no canonical form');
  return text;
}

/** SHA-256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
