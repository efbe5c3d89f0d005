import type { OpenAPIObject } from '@nestjs/swagger';
import { API_VERSION_HEADER, CURRENT_VERSION, SUPPORTED_VERSIONS } from './api-version.js';

type HeaderObject = NonNullable<NonNullable<OpenAPIObject['components']>['headers']>[string];

/** Where the last commit of an act stands, and with a later read the position that it must not be older than. */
export const POSITION_HEADER = 'X-Service-Position';
export const POSITION_EXAMPLE = '0000000100000003A40DF00C';

const REQUEST_ID = 'X-Request-Id';
const RETRY_AFTER = 'Retry-After';

/** The headers that answers carry (CONTRACT section 1), errors included. */
export const HEADERS: Record<string, HeaderObject> = {
  [REQUEST_ID]: {
    required: true,
    description: 'The id of the request; quote it when you ask for support.',
    schema: { type: 'string', pattern: '^req_[0-9a-z]{26}$' },
    example: 'req_01khqw6q00wy74pjf1avkzwmgz',
  },
  [API_VERSION_HEADER]: {
    required: true,
    description: 'The version of the API that answered.',
    schema: { type: 'string', enum: [...SUPPORTED_VERSIONS] },
    example: CURRENT_VERSION,
  },
  'X-RateLimit-Limit': {
    required: true,
    description: 'How many requests the tightest window takes.',
    schema: { type: 'integer', minimum: 0 },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    required: true,
    description: 'How many of them are left.',
    schema: { type: 'integer', minimum: 0 },
    example: 59,
  },
  'X-RateLimit-Reset': {
    required: true,
    description: 'When that window ends, Unix seconds.',
    schema: { type: 'integer', minimum: 0 },
    example: 1_771_401_660,
  },
  [RETRY_AFTER]: {
    description: 'After how many seconds another try makes sense.',
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  [POSITION_HEADER]: {
    description: 'Where the change stands, if the service reads from a replica; to be sent with later reads.',
    schema: { type: 'string', pattern: '^[0-9A-F]{24}$' },
    example: POSITION_EXAMPLE,
  },
};

/** The headers of an answer: of an error by its status, which says when to try again, or of a success. */
export function headersOf(answer: number | 'read' | 'change'): Record<string, { $ref: string }> {
  const names = Object.keys(HEADERS).filter((name) => {
    if (name === RETRY_AFTER) return answer === 409 || answer === 429 || answer === 503;
    return name !== POSITION_HEADER || answer === 'change';
  });
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
