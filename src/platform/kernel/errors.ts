import { defineError } from './define-error.js';

export const MalformedRequest = defineError('MALFORMED_REQUEST', 400, 'This is not a valid HTTP request.');
export const MalformedJson = defineError('MALFORMED_JSON', 400, 'The body is not valid JSON.');
export const UnsupportedApiVersion = defineError(
  'UNSUPPORTED_API_VERSION',
  400,
  'This API version is not supported.',
);
export const InvalidIdempotencyKey = defineError(
  'INVALID_IDEMPOTENCY_KEY',
  400,
  'Idempotency-Key must have 1 to 255 visible ASCII characters.',
);
export const Unauthorized = defineError('UNAUTHORIZED', 401, 'A valid operator token is required.');
export const InvalidSignature = defineError(
  'INVALID_SIGNATURE',
  401,
  'The signature does not match the body.',
);
export const Forbidden = defineError('FORBIDDEN', 403, 'Your role does not allow this.');
export const NotFound = defineError('NOT_FOUND', 404, 'There is no such resource, or you may not see it.');
export const MethodNotAllowed = defineError(
  'METHOD_NOT_ALLOWED',
  405,
  'This route does not support that method.',
);
export const NotAcceptable = defineError(
  'NOT_ACCEPTABLE',
  406,
  'None of the formats in the Accept header is available.',
);
export const RequestTimeout = defineError('REQUEST_TIMEOUT', 408, 'The request did not arrive in time.');
export const PayloadTooLarge = defineError('PAYLOAD_TOO_LARGE', 413, 'The body is larger than 1 MB.');
export const UnsupportedMediaType = defineError(
  'UNSUPPORTED_MEDIA_TYPE',
  415,
  'The body must be uncompressed application/json in UTF-8.',
);
export const InvalidTransition = defineError(
  'INVALID_TRANSITION',
  409,
  'The current status does not allow this.',
);
export const AlreadyExists = defineError('ALREADY_EXISTS', 409, 'A record with this name already exists.');
export const IdempotencyInProgress = defineError(
  'IDEMPOTENCY_IN_PROGRESS',
  409,
  'The first request with this Idempotency-Key is still running.',
  { retryAfterSeconds: 1 },
);
export const ContentChanged = defineError(
  'CONTENT_CHANGED',
  412,
  'The content has changed since the version that If-Match names; read it again.',
);
export const PreconditionRequired = defineError(
  'PRECONDITION_REQUIRED',
  428,
  'If-Match must name the content hash of what was read.',
);
export const ValidationFailed = defineError(
  'VALIDATION_FAILED',
  422,
  'The request is not valid; the details say what is wrong.',
);
export const IdempotencyKeyReused = defineError(
  'IDEMPOTENCY_KEY_REUSED',
  422,
  'This Idempotency-Key was used for another request.',
);
export const RateLimited = defineError('RATE_LIMITED', 429, 'Too many requests.', { retryAfterSeconds: 1 });
export const WorkspaceReadOnly = defineError(
  'WORKSPACE_READ_ONLY',
  423,
  'This workspace is going to be deleted. It can be read and exported, and changed only once an owner takes the deletion back.',
);
export const HeadersTooLarge = defineError(
  'HEADERS_TOO_LARGE',
  431,
  'The request line and the headers are larger than 16 KB.',
);
export const Internal = defineError(
  'INTERNAL',
  500,
  'An unexpected error occurred. Quote the request id when you report it.',
);
export const Unavailable = defineError(
  'UNAVAILABLE',
  503,
  'The service is temporarily unavailable; try again.',
  {
    retryAfterSeconds: 1,
  },
);
