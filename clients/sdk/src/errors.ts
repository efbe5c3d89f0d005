import type { ErrorBody, ErrorCode } from './generated/operations.js';

/** Everything that this package throws by itself is one of these. */
export class ConsigliereError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** No answer came: the service cannot be reached, or the connection broke. */
export class ConnectionError extends ConsigliereError {}

/** No complete response came within the time limit of the call. */
export class TimeoutError extends ConnectionError {}

/** Something answered that does not speak this API: `baseUrl` may be that of another service, or of a proxy before it. */
export class UnreadableAnswer extends ConsigliereError {
  constructor(
    message: string,
    /** The HTTP status. */
    readonly status: number,
  ) {
    super(message);
  }
}

/** It may have been done or not, so it must not be done again: a person has to look. */
export class OutcomeUnknown extends ConsigliereError {
  constructor(
    message: string,
    /** The request, which a person finds among the escalations. */
    readonly actionRequestId?: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The token belongs to a member. A guard takes only the token of an agent, which can do nothing but ask. */
export class NotAnAgentToken extends ConsigliereError {}

/** The service refused the request (CONTRACT, section 2). There is a class for each status that it uses. */
export class APIError extends ConsigliereError {
  /** The code, such as `APPROVAL_NOT_READY`. */
  readonly code: ErrorCode | (string & {});
  /** The code in lower case, or a narrower cause such as `expired_token`. */
  readonly reason: string;
  /** Names the request; quote it when you ask for support. */
  readonly requestId: string | null;
  /** What else there is to know, such as the faults of a body; its form goes by the code. */
  readonly details: unknown;

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The body as it came. With `body.error === 'rate_limited'`, say, its details have their own type. */
    readonly body: ErrorBody,
    /** After how many seconds it may be tried again, where the service says so. */
    readonly retryAfter: number | null,
  ) {
    const { error, reason, message, requestId, details } = body as ErrorBody & { details?: unknown };
    const faults = faultsOf(details);
    super(faults.length > 0 ? `${message} ${faults.join('; ')}` : message);
    this.code = error.toUpperCase();
    this.reason = reason;
    this.requestId = requestId;
    this.details = details;
  }
}

/** 400: the request cannot be read, or names an unknown version. */
export class BadRequestError extends APIError {}
/** 401: the token is missing, unknown, expired or revoked; `reason` says which. */
export class AuthenticationError extends APIError {}
/** 403: the member or the token may not do this. */
export class PermissionDeniedError extends APIError {}
/** 404: there is none, or none that this token may see. */
export class NotFoundError extends APIError {}
/** 409: what it is about has changed, or is not in a state that allows it. */
export class ConflictError extends APIError {}
/** 410: its time is over. */
export class GoneError extends APIError {}
/** 412: the content has changed since it was read; `details` holds the hash of now. */
export class ContentChangedError extends APIError {}
/** 422: the body has faults, which `details` lists, or the policy forbids it. */
export class UnprocessableError extends APIError {}
/** 423: the kill switch is engaged. */
export class HaltedError extends APIError {}
/** 428: a change needs the hash of what was read: `ifMatch`. */
export class PreconditionRequiredError extends APIError {}
/** 429: too many requests; the next may come after `retryAfter` seconds. */
export class RateLimitError extends APIError {}
/** 5xx: the service failed, or cannot be used at the moment. */
export class ServiceError extends APIError {}

const CLASSES: Record<number, typeof APIError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: ContentChangedError,
  422: UnprocessableError,
  423: HaltedError,
  428: PreconditionRequiredError,
  429: RateLimitError,
};

export function unreadable(status: number, more = ''): UnreadableAnswer {
  return new UnreadableAnswer(
    `The response (status ${status}) is not from Consigliere: check baseUrl.${more}`,
    status,
  );
}

/** The error for an answer that is none of 2xx. */
export function errorOf(status: number, body: unknown, headers: Headers): ConsigliereError {
  if (!isErrorBody(body)) {
    const location = headers.get('location');
    return unreadable(status, location ? ` It redirects to ${location}.` : '');
  }
  const ErrorClass = CLASSES[status] ?? (status >= 500 ? ServiceError : APIError);
  return new ErrorClass(status, body, retryAfterOf(headers));
}

/**
 * Whether the same call may succeed in a while (CONTRACT, section 2): no answer came, 408, 429, 5xx, or the same change is still
 * in progress.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  const { status = 0, code } = error as { status?: number; code?: string };
  return status === 408 || status === 429 || status >= 500 || code === 'IDEMPOTENCY_IN_PROGRESS';
}

/** `Retry-After` in seconds, also where it is a date. */
export function retryAfterOf(headers: Headers): number | null {
  const value = headers.get('retry-after');
  if (value === null) return null;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : null;
}

function isErrorBody(body: unknown): body is ErrorBody {
  const { error, message } = (body ?? {}) as Partial<ErrorBody>;
  return typeof error === 'string' && message !== undefined;
}

/** The faults of a request's body, each with its path, so that the message alone shows what to mend. */
function faultsOf(details: unknown): string[] {
  if (!Array.isArray(details)) return [];
  return details
    .filter((one): one is { path: string; message: string } => typeof one?.message === 'string')
    .map(({ path, message }) => (path ? `${path}: ${message}` : message));
}
