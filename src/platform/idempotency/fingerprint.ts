import { createHash } from 'node:crypto';
import type { AdmittedRequest } from '../http/admitted-request.js';
import { InvalidIdempotencyKey } from '../kernel/errors.js';

const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

/**
 * The key of a request; undefined without the header. `"k"` and `k` are the same key.
 * @throws InvalidIdempotencyKey
 */
export function idempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = typeof header === 'string' ? header : '';
  const key = /^"(.*)"$/.exec(text)?.[1] ?? text;
  if (!VISIBLE_ASCII.test(key)) throw new InvalidIdempotencyKey();
  return key;
}

/** SHA-256 over what makes a request the same request: method, path, query, version and the body's bytes. */
export function fingerprint(request: AdmittedRequest): string {
  return createHash('sha256')
    .update(`${request.method}\n${request.originalUrl}\n${request.askedVersion ?? ''}\n`)
    .update(request.rawBody ?? '')
    .digest('hex');
}
