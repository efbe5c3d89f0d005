import type { Request } from 'express';
import type { Caller } from '../auth/caller.js';
import type { DomainError } from '../kernel/define-error.js';
import type { Window, WindowState } from '../rate-limit/windows.js';
import type { RequestContext } from '../kernel/request-context.js';
import type { ApiVersion } from './api-version.js';

/** A request on its way through admission, and what each step found out. */
export interface AdmittedRequest extends Request {
  requestId: string;
  /** What the client calls it itself, in `X-Request-Id`: kept beside ours, and believed in nothing. */
  clientRequestId: string | undefined;
  /** Where it comes from, as `TRUST_PROXY` has it: read at once, since a connection that is gone has no address. */
  address: string | undefined;
  /** Counts what the request costs the database. */
  context: RequestContext;
  /** What the client asked for; undefined when it named no version. */
  askedVersion?: ApiVersion;
  /** The body's exact bytes: signatures and fingerprints are made over them. */
  rawBody?: Buffer;
  caller?: Caller;
  /** The workspace whose secret signed the body, on a route with `auth: 'signature'`. */
  signedFor?: string;
  /** The refusal of a tier that is used up, unless the body turns out to be one that only stops work. */
  refusedUnlessItStops?: DomainError;
  /** The windows that it was counted in; the tightest of them is shown in the headers. */
  windows?: WindowState[];
  /** Where a request of a route that stops is counted if its caller turns out not to be one who may call it. */
  windowOfRefused?: Window | undefined;
}
