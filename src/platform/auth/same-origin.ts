import { isIP } from 'node:net';
import type { Request } from 'express';
import { Forbidden } from '../kernel/errors.js';

/**
 * Refuses a change that a page of another site asks for, whatever cookie and CSRF token come with it. Browsers say where a
 * request comes from, and no page can make them say otherwise; a program that is no browser says nothing.
 * @throws Forbidden
 */
export function assertSameOrigin(request: Request, publicUrl: string): void {
  assertOwn(request.headers.origin, request, publicUrl);
}

/**
 * The same for a page whose own address is the secret. A browser that names no origin (`null`) has to say by Sec-Fetch-Site that the page
 * is ours: over plain http none says so, and any site can have its origin hidden.
 * @throws Forbidden
 */
export function assertNotFromElsewhere(request: Request, publicUrl: string): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  assertOwn(origin === 'null' && site === 'same-origin' ? undefined : origin, request, publicUrl);
}

function assertOwn(origin: string | undefined, request: Request, publicUrl: string): void {
  const isForeign = origin !== undefined && !ownOrigins(request, publicUrl).includes(origin);
  if (isForeign || comesFromElsewhere(request)) {
    throw new Forbidden({
      reason: 'foreign_origin',
      message:
        'The request comes from a page of another site. If the page is at an address of this service, set PUBLIC_URL to that address.',
    });
  }
}

/**
 * Refuses a request of a page of another site, and one that is sent to a name that is not ours: a page of another site can have its
 * own name lead to this address, so that its browser takes the two for one. It cannot do so with an address in numbers, or localhost.
 * @throws Forbidden
 */
export function assertOwnAddress(request: Request, publicUrl: string): void {
  const hostname = hostnameOf(request.host) ?? '';
  const isNumeric = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  const isOwn = isNumeric || hostname === 'localhost' || hostname === new URL(publicUrl).hostname;
  // Behind a proxy there are two of them, and what serves the request may read either.
  if (!isOwn || hostnameOf(request.headers.host) === undefined) {
    const message = `This service is not ${request.host}. If it is reached under that name, set PUBLIC_URL to its address.`;
    throw new Forbidden({ reason: 'foreign_host', message });
  }
  assertSameOrigin(request, publicUrl);
}

/** Of a Host header that names a host, and a port or none. */
function hostnameOf(host: string | undefined): string | undefined {
  return /^(?:[^:@/?#\\\s]+|\[[^\]@]*\])(?::\d+)?$/.test(host ?? '') && URL.canParse(`http://${host}`)
    ? new URL(`http://${host}`).hostname
    : undefined;
}

/** Whether the browser says that a page of another site leads here; `none`: a person typed the address. */
export function comesFromElsewhere({ headers }: Pick<Request, 'headers'>): boolean {
  const { 'sec-fetch-site': site } = headers;
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** PUBLIC_URL, and the address that was called: no page of another site can be at either. */
const ownOrigins = ({ protocol, host }: Request, publicUrl: string) => [
  new URL(publicUrl).origin,
  `${protocol}://${host}`,
];
