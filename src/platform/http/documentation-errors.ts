import type { OpenAPIObject } from '@nestjs/swagger';
import {
  DomainError,
  type ErrorDefinition,
  type ErrorOccurrence,
  MAX_DETAILS,
} from '../kernel/define-error.js';
import * as common from '../kernel/errors.js';
import { CURRENT_VERSION, SUPPORTED_VERSIONS } from './api-version.js';
import type { SchemaObject } from './documentation-examples.js';
import { headersOf } from './documentation-headers.js';
import { renderError } from './render-error.js';
import type { RouteEntry } from './route-table.js';

type ResponseObject = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>[string];
type ExampleObject = NonNullable<NonNullable<OpenAPIObject['components']>['examples']>[string];

const REQUEST_ID = 'req_01khqw6q00wy74pjf1avkzwmgz';

/** What these errors say more than their definition does. */
const OCCURRENCES = new Map<ErrorDefinition, ErrorOccurrence>([
  [common.UnsupportedApiVersion, { details: { supported: SUPPORTED_VERSIONS } }],
  [common.Unauthorized, { reason: 'invalid_token' }],
  [common.Forbidden, { details: { requiredRoles: ['admin', 'owner'] } }],
  [
    common.ValidationFailed,
    { details: [{ path: 'limit', rule: 'max', message: 'limit must not be greater than 100' }] },
  ],
  [common.RateLimited, { details: { policy: 'route', limit: 60, windowSeconds: 60, remaining: 0 } }],
]);

/** Every error that this route can answer: those of admission, as its policy has it, and its own. */
export function errorsOf({ policy, limit, transactional, method, paths }: RouteEntry): ErrorDefinition[] {
  const own = policy.errors ?? [];
  const hasPathId = paths.some((path) => path.includes(':'));
  return [
    common.UnsupportedApiVersion,
    ...(limit.neverRefused ? [] : [common.RateLimited]),
    common.Internal,
    common.Unavailable,
    ...(policy.auth === 'member' ? [common.Unauthorized] : []),
    ...(policy.auth === 'signature' ? [common.InvalidSignature] : []),
    ...(policy.auth === 'member' ? [common.Forbidden] : []),
    ...(hasPathId ? [common.NotFound] : []),
    ...(transactional && method !== 'GET'
      ? [common.InvalidIdempotencyKey, common.IdempotencyInProgress, common.IdempotencyKeyReused]
      : []),
    ...(transactional || policy.auth === 'signature' ? [common.WorkspaceReadOnly] : []),
    ...(method === 'GET' ? [] : [common.MalformedJson, common.PayloadTooLarge, common.UnsupportedMediaType]),
    common.ValidationFailed,
    ...own,
  ];
}

/** One answer for all errors of a status, with an example of each in both shapes. */
export interface ErrorResponse {
  status: number;
  /** Operations that answer the same errors share the answer by this name. */
  name: string;
  response: ResponseObject;
}

export function errorResponses(errors: Iterable<ErrorDefinition>): ErrorResponse[] {
  const byStatus = Map.groupBy(new Set(errors), (error) => error.status);
  return [...byStatus].map(([status, alike]) => ({
    status,
    name: alike.map(({ code }) => code).join('-'),
    response: {
      headers: headersOf(status),
      description: alike.map((error) => `\`${error.code}\` ${error.message}`).join('\n'),
      content: {
        'application/json': {
          schema: { $ref: '#/components/schemas/Error' },
          examples: Object.fromEntries(
            alike.flatMap(namesOf).map((name) => [name, { $ref: `#/components/examples/${name}` }]),
          ),
        },
      },
    },
  }));
}

/** One example for each error and shape, as the service renders it. */
export function errorExamples(errors: Iterable<ErrorDefinition>): Record<string, ExampleObject> {
  const examples: Record<string, ExampleObject> = {};
  for (const error of errors) {
    const occurred = new DomainError(error, OCCURRENCES.get(error));
    const [nested, flat] = namesOf(error);
    examples[nested] = {
      summary: 'Without a version header',
      value: renderError(occurred, REQUEST_ID, undefined),
    };
    examples[flat] = {
      summary: `With X-Service-API-Version: ${CURRENT_VERSION}`,
      value: renderError(occurred, REQUEST_ID, CURRENT_VERSION),
    };
  }
  return examples;
}

function namesOf({ code }: ErrorDefinition): [nested: string, flat: string] {
  return [code, `${code}.${CURRENT_VERSION}`];
}

const CODE = { type: 'string', description: 'The code of the error.', example: 'NOT_FOUND' } as const;
const MESSAGE = {
  type: 'string',
  description: 'What is wrong, for a person.',
  example: common.NotFound.message,
} as const;
const STATUS = { type: 'integer', description: 'The HTTP status.', example: 404 } as const;
const REASON = {
  type: 'string',
  description: 'The code in lower case, or a narrower cause such as `expired_token`.',
  example: 'not_found',
} as const;
const ID = {
  type: 'string',
  description: 'The id of this request; quote it when you ask for support.',
  example: REQUEST_ID,
} as const;
const DETAILS = {
  description: `What else there is to know: for \`VALIDATION_FAILED\` the faults, at most ${MAX_DETAILS}; for other errors an object.`,
  oneOf: [
    { type: 'array', maxItems: MAX_DETAILS, items: { $ref: '#/components/schemas/Fault' } },
    { type: 'object', additionalProperties: true },
  ],
  example: { limit: 60 },
} as const;
const OMITTED = {
  type: 'integer',
  minimum: 1,
  description: `How many details there are beside the ${MAX_DETAILS} that are listed; left out when all are.`,
  example: 12,
} as const;

/** The two documented shapes (SPECIFICATION, Errors), widened so that a reader of either finds its fields. */
export const ERROR_SCHEMAS = {
  Error: {
    description: `Shape A for a client that names no version, shape B with \`X-Service-API-Version: ${CURRENT_VERSION}\`.`,
    oneOf: [{ $ref: '#/components/schemas/ErrorA' }, { $ref: '#/components/schemas/ErrorB' }],
  },
  ErrorA: {
    type: 'object',
    description: 'Shape A: the error is an object.',
    required: ['error', 'reason', 'requestId'],
    additionalProperties: false,
    properties: {
      error: {
        type: 'object',
        description: 'What went wrong.',
        required: ['code', 'message', 'status'],
        additionalProperties: false,
        properties: {
          code: CODE,
          message: MESSAGE,
          status: STATUS,
          details: DETAILS,
          detailsOmitted: OMITTED,
        },
      },
      reason: REASON,
      requestId: ID,
    },
  },
  ErrorB: {
    type: 'object',
    description: 'Shape B: the error is its code in lower case.',
    required: ['error', 'reason', 'requestId', 'message', 'status'],
    additionalProperties: false,
    properties: {
      error: { ...CODE, description: 'The code of the error in lower case.', example: 'not_found' },
      reason: REASON,
      requestId: ID,
      message: MESSAGE,
      status: STATUS,
      details: DETAILS,
      detailsOmitted: OMITTED,
    },
  },
  Fault: {
    type: 'object',
    description: 'One fault of a request.',
    required: ['path', 'rule', 'message'],
    additionalProperties: false,
    properties: {
      path: {
        type: 'string',
        description: 'Where in the body, query or path.',
        example: 'packets.0.params.to',
      },
      rule: { type: 'string', description: 'The rule that does not hold.', example: 'isEmail' },
      message: {
        type: 'string',
        description: 'What is wrong, for a person.',
        example: 'to must be an email',
      },
    },
  },
} as unknown as Record<string, SchemaObject>;
