import type { Request, Response } from 'express';
import { negotiated } from '../../platform/http/negotiated.js';
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
export function formatFor(request: Request, response: Response, named: FeedFormat | undefined): FeedFormat {
  return named ?? BY_MEDIA_TYPE[negotiated(request, response, Object.keys(BY_MEDIA_TYPE))]!;
}
