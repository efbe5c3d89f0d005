import { z } from 'zod';
import { defineError, MAX_DETAILS } from './define-error.js';
import { CONTENT_HASH, count, FAULT, text, texts } from './error-details.js';

export const MalformedRequest = defineError('MALFORMED_REQUEST', 400, 'This is not a valid HTTP request.');
export const MalformedJson = defineError('MALFORMED_JSON', 400, 'The body is not valid JSON.');
export const UnsupportedApiVersion = defineError(
  'UNSUPPORTED_API_VERSION',
  400,
  'This API version is not supported.',
  { details: z.object({ supported: texts('The versions that there are.', ['2026-04']) }) },
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
export const Forbidden = defineError('FORBIDDEN', 403, 'Your role does not allow this.', {
  details: z
    .object({
      requiredRoles: texts('The roles that may.', ['admin', 'owner']).optional(),
      requiredScopes: texts('The scopes of a limited token that may.', ['decide']).optional(),
      tools: texts('The tools that the token names.', ['crm.*']).optional(),
    })
    .meta({ example: { requiredRoles: ['admin', 'owner'] } })
    .optional(),
});
export const NotFound = defineError('NOT_FOUND', 404, 'There is no such resource, or you may not see it.');
export const MethodNotAllowed = defineError(
  'METHOD_NOT_ALLOWED',
  405,
  'This route does not support that method.',
  { details: z.object({ allowed: texts('The methods that it supports.', ['GET', 'POST']) }) },
);
export const NotAcceptable = defineError(
  'NOT_ACCEPTABLE',
  406,
  'None of the formats in the Accept header is available.',
  { details: z.object({ available: texts('The formats that there are.', ['application/json']) }) },
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
  {
    details: z
      .object({
        status: text('The status that it has.', 'executed').nullable().optional(),
        mode: text("The guardian's mode.", 'recovering').optional(),
        epoch: count("The guardian's epoch.", 4).optional(),
        sending: count('How many work packets are being sent.', 1).optional(),
      })
      .meta({ example: { status: 'executed' } })
      .optional(),
  },
);
export const AlreadyExists = defineError('ALREADY_EXISTS', 409, 'A record with this name already exists.', {
  // What exists, in the words of its feature.
  details: z
    .record(z.string(), z.string())
    .meta({ description: 'What exists: names and ids.', example: { externalId: 'order-17' } })
    .optional(),
});
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
  {
    details: z
      .object({
        ...CONTENT_HASH.partial().shape,
        paramsHash: text('The hash of the parameters as decided.', 'ab'.repeat(32)).optional(),
        hash: text('The hash of the standing order as it is now.', 'ab'.repeat(32)).optional(),
        version: count('The version of the standing order now.', 3).optional(),
        fingerprint: text('The fingerprint of the tool as it is now.', 'ab'.repeat(32)).optional(),
      })
      .meta({ example: { contentHash: 'ab'.repeat(32) } })
      .optional(),
  },
);
export const PreconditionRequired = defineError(
  'PRECONDITION_REQUIRED',
  428,
  'If-Match must name the content hash of what was read.',
  {
    details: CONTENT_HASH.optional(),
  },
);
export const ValidationFailed = defineError(
  'VALIDATION_FAILED',
  422,
  'The request is not valid; the details say what is wrong.',
  { details: z.array(FAULT).max(MAX_DETAILS) },
);
export const IdempotencyKeyReused = defineError(
  'IDEMPOTENCY_KEY_REUSED',
  422,
  'This Idempotency-Key was used for another request.',
);
export const RateLimited = defineError('RATE_LIMITED', 429, 'Too many requests.', {
  retryAfterSeconds: 1,
  details: z.object({
    policy: text('The limit that was reached.', 'route'),
    limit: count('How many requests it takes.', 60),
    windowSeconds: count('In how many seconds; 0: at one time.', 60),
    remaining: count('How many are left.', 0).optional(),
    tierLimit: count(
      'Of an agent: what the tier allows to the whole workspace, of which agents together may use 80 %.',
      120,
    ).optional(),
  }),
});
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
