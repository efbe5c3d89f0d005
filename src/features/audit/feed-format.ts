import type { Request } from 'express';
import { NotAcceptable } from '../../platform/kernel/errors.js';
import type { FeedFormat } from './audit-feed.dto.js';

/** In the order of our own preference, for a client that takes several alike. */
const BY_MEDIA_TYPE: Record<string, FeedFormat> = {
  'application/json': 'json',
  'application/x-ndjson': 'jsonl',
  'text/csv': 'csv',
};

/**
 * The format to answer in: the one named in the query, else the best of the Accept header.
 * @throws NotAcceptable when the header takes none of ours
 */
export function formatFor(request: Request, named: FeedFormat | undefined): FeedFormat {
  if (named !== undefined) return named;
  const available = Object.keys(BY_MEDIA_TYPE);
  const best = request.accepts(available);
  if (best === false) throw new NotAcceptable({ details: { available } });
  return BY_MEDIA_TYPE[best as string]!;
}
