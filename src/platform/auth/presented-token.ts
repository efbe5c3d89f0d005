import type { Request } from 'express';

/** The token a request presents: `x-service-token`, or `Authorization: Bearer` as its alias. */
export function presentedToken({ headers }: Pick<Request, 'headers'>): string | undefined {
  const header = headers['x-service-token'];
  if (typeof header === 'string') return header.trim();
  return /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}
