import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { definedErrors, type ErrorDefinition, MAX_DETAILS } from '../kernel/define-error.js';
import * as common from '../kernel/errors.js';
import { API_VERSION_HEADER, SUPPORTED_VERSIONS } from './api-version.js';
import { type RouteEntry, RouteTable } from './route-table.js';

type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type SchemaObject = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];

/** The OpenAPI 3.1 document, made from the decorators and DTOs; errors, headers and limits from the route table. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Consigliere')
    .setDescription('Operator automation: directives, approvals, standing orders, receipts.')
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addApiKey({ type: 'apiKey', name: 'x-service-token', in: 'header' }, 'operatorToken')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}_${method}`,
  });
  document.components ??= {};
  document.components.schemas = { ...document.components.schemas, Error: ERROR_SCHEMA };
  for (const entry of app.get(RouteTable).entries) {
    for (const [spelling, path] of entry.paths.entries()) {
      const item = document.paths[path.replace(/:([^/]+)/g, '{$1}')];
      const operation = item?.[entry.method.toLowerCase() as 'get'];
      if (operation) describe(operation, entry, spelling);
    }
  }
  return document;
}

function describe(operation: OperationObject, entry: RouteEntry, spelling: number): void {
  // Nest numbers the spellings of a route as `Guardian_kill[0]`, which is no name in any language.
  operation.operationId = operation.operationId?.replace(
    /\[\d+\]$/,
    spelling === 0 ? '' : `_${spelling + 1}`,
  );
  operation.summary ??= operation.operationId ?? '';
  // The compiler plugin takes every POST to answer 201; the policy knows.
  for (const status of Object.keys(operation.responses)) {
    if (status.startsWith('2') && !(status in entry.policy.returns)) delete operation.responses[status];
  }
  if (operation.security === undefined && entry.policy.auth !== 'token') operation.security = [];
  operation.parameters = [
    ...(operation.parameters ?? []),
    {
      name: API_VERSION_HEADER,
      in: 'header',
      required: false,
      description: 'The API version spoken; also chooses the shape of errors.',
      schema: { type: 'string', enum: [...SUPPORTED_VERSIONS] },
    },
  ];
  if (entry.transactional) {
    operation.parameters.push({
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: 'Replaying a key within 24 hours answers the first result without executing again.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    });
  }
  const byStatus = Map.groupBy(new Set(errorsOf(entry)), (error) => error.status);
  for (const [status, errors] of byStatus) {
    operation.responses[status] ??= {
      description: errors.map((error) => `\`${error.code}\` ${error.message}`).join('\n'),
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    };
  }
}

/** Every error that this route can answer: those of admission, as its policy has it, and its own. */
function errorsOf({ policy, roles, transactional, method, paths }: RouteEntry): ErrorDefinition[] {
  const own = policy.errors ?? [];
  const hasPathId = paths.some((path) => path.includes(':'));
  return [
    common.UnsupportedApiVersion,
    common.RateLimited,
    common.Internal,
    common.Unavailable,
    ...(policy.auth === 'token' ? [common.Unauthorized] : []),
    ...(policy.auth === 'signature' ? [common.InvalidSignature] : []),
    ...(policy.auth === 'token' && roles.length < 4 ? [common.Forbidden] : []),
    ...(hasPathId ? [common.NotFound] : []),
    ...(transactional
      ? [common.InvalidIdempotencyKey, common.IdempotencyInProgress, common.IdempotencyKeyReused]
      : []),
    ...(method === 'GET' ? [] : [common.MalformedJson, common.PayloadTooLarge, common.UnsupportedMediaType]),
    common.ValidationFailed,
    ...own,
  ];
}

/** docs/reference/errors.md */
export function errorReference(): string {
  const rows = definedErrors().map(({ status, code, message }) => `| ${status} | \`${code}\` | ${message} |`);
  return [
    '# Errors',
    '',
    'A list of `details` stops at ' +
      String(MAX_DETAILS) +
      '; `detailsOmitted` beside it is the number of the rest.',
    '',
    '| status | code | meaning |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

/** docs/reference/routes.txt */
export function routeReference(entries: readonly RouteEntry[]): string {
  const rows = entries.flatMap(({ method, paths, policy, role, limit }) =>
    paths.map((path) =>
      [
        method.padEnd(6),
        path.padEnd(48),
        (policy.auth === 'token' ? role : policy.auth).padEnd(9),
        `${limit.limit}/${limit.windowSeconds}s`,
      ].join(' '),
    ),
  );
  return `${rows.join('\n')}\n`;
}

const OMITTED: SchemaObject = {
  type: 'integer',
  minimum: 1,
  description: `How many details there are beside the ${MAX_DETAILS} that are listed; absent when all are.`,
};

const ERROR_SCHEMA: SchemaObject = {
  description:
    'Shape A; with X-Service-API-Version the error member is the code in lower case and message, status and details stand beside it (shape B).',
  type: 'object',
  required: ['error', 'reason', 'requestId'],
  properties: {
    error: {
      oneOf: [
        {
          type: 'object',
          required: ['code', 'message', 'status'],
          properties: {
            code: { type: 'string' },
            message: { type: 'string' },
            status: { type: 'integer' },
            details: {},
            detailsOmitted: OMITTED,
          },
        },
        { type: 'string' },
      ],
    },
    reason: { type: 'string' },
    requestId: { type: 'string' },
    message: { type: 'string' },
    status: { type: 'integer' },
    details: {},
    detailsOmitted: OMITTED,
  },
};
