import { createHash } from 'node:crypto';
import type { AdmittedRequest } from '../http/admitted-request.js';
import { namedByIfMatch } from '../http/entity-tag.js';
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

/**
 * SHA-256 over what makes a request the same request: method, path, query, version, the content that If-Match names, and the
 * body's bytes.
 */
export function fingerprint(request: AdmittedRequest): string {
  const named = namedByIfMatch(request.headers['if-match']);
  const read = named === null ? '' : ` if-match ${named}`;
  return createHash('sha256')
    .update(`${request.method}\n${request.originalUrl}\n${request.askedVersion ?? ''}${read}\n`)
    .update(request.rawBody ?? '')
    .digest('hex');
}
