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
