import type { Request, Response } from 'express';
import { NotAcceptable } from '../kernel/errors.js';

/**
 * The media type to answer in: that of ours which the Accept header prefers; of several alike, the first. `Vary`
 * tells caches that the answer depends on the header.
 *
 * @throws NotAcceptable when the header takes none of ours
 */
export function negotiated<Type extends string>(
  request: Request,
  response: Response,
  available: readonly Type[],
): Type {
  response.vary('Accept');
  const best = request.accepts([...available]);
  if (best === false) throw new NotAcceptable({ details: { available } });
  return best as Type;
}

/** What If-Match names, in quotes or bare; null: nothing, as with `*`. */
export function namedByIfMatch(ifMatch: string | undefined): string | null {
  if (ifMatch === undefined || ifMatch.trim() === '*') return null;
  return ifMatch.trim().replace(/^"(.*)"$/, '$1');
}

/**
 * Whether If-None-Match names this tag (RFC 9110, 13.1.2), weak or not. Express compares too, but answers in full to clients that send
 * `Cache-Control: no-cache`, as the `fetch` of Node does with every question of its own; that word is for caches on the way.
 */
export function isKnown(tag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const known = ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g);
  return [...known].some(([, opaque]) => opaque === tag.replace(/^W\//, ''));
}
