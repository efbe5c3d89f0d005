import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { definedErrors, MAX_DETAILS } from '../kernel/define-error.js';
import { Forbidden } from '../kernel/errors.js';
import { CSRF_HEADER } from '../auth/session-cookie.js';
import { isAdminPath } from './admin-path.js';
import { API_VERSION_HEADER, CURRENT_VERSION, SUPPORTED_VERSIONS } from './api-version.js';
import {
  detailNamesOf,
  errorExamples,
  errorResponses,
  errorSchemas,
  errorsOf,
  exampleOf,
  isAllOptional,
  type Schemas,
} from './documentation-errors.js';
import { HEADERS, headersOf, POSITION_EXAMPLE, POSITION_HEADER } from './documentation-headers.js';
import { positionOf, tagOf, usedTags } from './documentation-tags.js';
import { type RouteEntry, RouteTable } from './route-table.js';

type OperationObject = NonNullable<OpenAPIObject['paths'][string]['get']>;
type NamedOperation = OperationObject & { 'x-alias-of'?: string; 'x-internal'?: true };
type ParameterObject = Exclude<NonNullable<OperationObject['parameters']>[number], { $ref: string }>;
type ContentObject = ParameterObject['content'];
type Components = NonNullable<OpenAPIObject['components']>;

/** The names of the security schemes. */
const OPERATOR_TOKEN = 'operatorToken';
const SESSION = 'adminSession';
const SESSION_WITHOUT_HTTPS = 'adminSessionWithoutHttps';

/** The OpenAPI 3.1 document, made from the decorators and DTOs; errors, headers and limits from the route table. */
export function openApiDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Consigliere')
    .setDescription('Operator automation: directives, approvals, standing orders, receipts.')
    .setVersion('1')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/')
    .addApiKey({ type: 'apiKey', name: 'x-service-token', in: 'header' }, OPERATOR_TOKEN)
    .addApiKey({ type: 'apiKey', name: '__Host-consigliere_session', in: 'cookie' }, SESSION)
    .addApiKey({ type: 'apiKey', name: 'consigliere_session', in: 'cookie' }, SESSION_WITHOUT_HTTPS)
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, method) => method,
  });
  const schemas = { ...document.components?.schemas, ...errorSchemas(definedErrors()) };
  const { entries } = app.get(RouteTable);
  document.components = {
    ...document.components,
    schemas,
    headers: HEADERS,
    examples: errorExamples(new Set(entries.flatMap(errorsOf)), schemas),
    responses: {},
  };
  const positions = new Map<string, number>();
  const tags = new Set<string>();
  for (const entry of entries) {
    for (const path of entry.paths) {
      const template = path.replace(/:([^/]+)/g, '{$1}');
      const operation: NamedOperation | undefined =
        document.paths[template]?.[entry.method.toLowerCase() as 'get'];
      if (!operation) continue;
      positions.set(template, nameOperation(operation, entry, path));
      tags.add(operation.tags![0]!);
      describe(operation, entry, path, document.components);
    }
  }
  const inOrder = Object.keys(document.paths).toSorted((a, b) => positions.get(a)! - positions.get(b)!);
  document.paths = Object.fromEntries(inOrder.map((path) => [path, document.paths[path]!]));
  document.tags = usedTags(tags);
  return document;
}

/**
 * Gives the operation its name and its tag; answers its place in the document. A second spelling of a route is marked `x-internal`,
 * which generators of clients leave out, and so is what names another operation in `x-alias-of` itself.
 */
function nameOperation(operation: NamedOperation, { paths }: RouteEntry, path: string): number {
  const isAdmin = isAdminPath(path);
  const resource = uncapitalized(operation.tags![0]!);
  // Nest numbers the spellings of a route.
  const own = `${resource}.${operation.operationId!.replace(/\[\d+\]$/, '')}`;
  const spellings = paths.filter((other) => isAdminPath(other) === isAdmin);
  const id = isAdmin && spellings.length < paths.length ? `admin${capitalized(own)}` : own;
  const spelling = spellings.indexOf(path);
  operation.tags = [tagOf(resource, isAdmin)];
  operation.operationId = spelling === 0 ? id : `${id}Alias${spelling === 1 ? '' : spelling}`;
  if (spelling > 0) operation['x-alias-of'] = id;
  if (operation['x-alias-of'] !== undefined) operation['x-internal'] = true;
  return positionOf(resource, isAdmin) + (operation['x-internal'] ? 0.5 : 0);
}

const capitalized = (word: string) => word[0]!.toUpperCase() + word.slice(1);
const uncapitalized = (word: string) => word[0]!.toLowerCase() + word.slice(1);

function describe(operation: OperationObject, entry: RouteEntry, path: string, components: Components): void {
  const schemas = components.schemas ?? {};
  const isAdmin = isAdminPath(path);
  const isChange = entry.method !== 'GET';
  // The compiler plugin takes every POST to answer 201; the policy knows.
  for (const status of Object.keys(operation.responses)) {
    if (status.startsWith('2') && !(status in entry.policy.returns)) delete operation.responses[status];
  }
  operation.description = [operation.description ?? [], accessOf(entry), limitOf(entry)].flat().join('\n\n');
  const isMembers = entry.policy.auth === 'member';
  const credentials = isAdmin ? [SESSION, SESSION_WITHOUT_HTTPS] : [OPERATOR_TOKEN];
  operation.security = isMembers ? credentials.map((credential) => ({ [credential]: [] })) : [];
  operation.parameters = [
    ...(operation.parameters ?? []),
    VERSION_PARAMETER,
    ...(entry.transactional && isChange ? [IDEMPOTENCY_PARAMETER] : []),
    ...(isMembers && isAdmin && isChange ? [CSRF_PARAMETER] : []),
    ...(entry.policy.replica && !isAdmin ? [POSITION_PARAMETER] : []),
  ];
  const { requestBody } = operation;
  if (requestBody && 'content' in requestBody) {
    // An empty body is read as `{}`, so it may be left out where `{}` is valid.
    requestBody.required = !Object.values(requestBody.content).some(
      ({ schema }) => schema && isAllOptional(schema, schemas),
    );
    giveExamples(requestBody.content, schemas);
  }
  for (const response of Object.values(operation.responses)) {
    if (!response || '$ref' in response) continue;
    giveExamples(response.content, schemas);
    response.headers = headersOf(isChange ? 'change' : 'read');
  }
  // A change that a page of another site asks for is refused to anyone, and most else to who lacks a second factor.
  const lacks = isMembers && !entry.policy.beforeSecondFactor;
  const errors = isAdmin && (isChange || lacks) ? [Forbidden, ...errorsOf(entry)] : errorsOf(entry);
  for (const { status, name, response } of errorResponses(errors)) {
    (components.responses ??= {})[name] = response;
    operation.responses[status] ??= { $ref: `#/components/responses/${name}` };
  }
}

function accessOf({ policy, role, scopes }: RouteEntry): string {
  if (policy.auth === 'public') return 'Open to anyone.';
  if (policy.auth === 'signature')
    return 'The body is signed with a secret that the sender shares with the workspace.';
  const where =
    policy.teamRole === true ? 'in the workspace or in the team of the record' : 'in the workspace';
  return `Needs the role ${role} or a higher one ${where}, and of a limited token the scope ${scopes.join(' or ')}.`;
}

function limitOf({ limit, policy }: RouteEntry): string {
  if (limit.neverRefused) return 'Counted, and never refused.';
  const requests = `Takes ${limit.limit} requests in ${limit.windowSeconds} s from one address`;
  if (policy.stops === undefined) return `${requests}.`;
  const which = policy.stops === true ? 'It' : 'A request that only stops work';
  return `${requests}, of each member who may call it. ${which} is never refused for the limits of the tier.`;
}

/** Examples that a route gives itself stay. */
function giveExamples(content: ContentObject, schemas: Schemas): void {
  for (const media of Object.values(content ?? {})) {
    if (media.example !== undefined || media.examples !== undefined || !media.schema) continue;
    const example = exampleOf(media.schema, schemas);
    if (example !== undefined) media.example = example;
  }
}

const VERSION_PARAMETER: ParameterObject = {
  name: API_VERSION_HEADER,
  in: 'header',
  required: false,
  description: 'The version of the API to speak, YYYY-MM. It also chooses the shape of errors.',
  schema: { type: 'string', enum: [...SUPPORTED_VERSIONS] },
  example: CURRENT_VERSION,
};

const CSRF_PARAMETER: ParameterObject = {
  name: CSRF_HEADER,
  in: 'header',
  required: true,
  description: "The session's CSRF token, which `GET /api/admin/session` answers.",
  schema: { type: 'string' },
  example: 'q2b7N0y6wXk3mV1tZ8rLpA5fHs9DcUeGiJoKyQxWz4M',
};

const IDEMPOTENCY_PARAMETER: ParameterObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Names this request, in 1 to 255 visible ASCII characters. Sent again within 24 hours, the same request answers the first result without executing again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: 'order-17-delivery-mail',
};

const POSITION_PARAMETER: ParameterObject = {
  name: POSITION_HEADER,
  in: 'header',
  required: false,
  description:
    'The greatest position that responses to your changes carried. The response shows those changes, whether a replica or the primary sends it. `latest`: the primary sends it.',
  schema: { type: 'string' },
  example: POSITION_EXAMPLE,
};

/** docs/reference/errors.md */
export function errorReference(): string {
  const byStatus = Map.groupBy(definedErrors(), ({ status }) => status);
  const sections = [...byStatus].flatMap(([status, errors]) => {
    const lines = errors.map((error) => {
      const details = detailNamesOf(error).join(', ');
      return `- \`${error.code}\`: ${error.message}${details && ` Details: ${details}.`}`;
    });
    return [`## ${status}`, '', ...lines, ''];
  });
  return [
    '# Errors',
    '',
    `Details with a \`?\` may be missing. A list of \`details\` stops at ${MAX_DETAILS}; \`detailsOmitted\` counts the rest.`,
    '',
    ...sections,
  ].join('\n');
}

/** docs/reference/routes.txt: method, path, what the caller shows, the least role, the scope that a limited token needs, limit. */
export function routeReference(entries: readonly RouteEntry[]): string {
  const rows = entries.flatMap(({ method, paths, policy, role, scope, limit }) =>
    paths.map((path) =>
      [
        method.padEnd(6),
        path.padEnd(48),
        credentialOf(policy.auth, path).padEnd(9),
        (policy.auth === 'member' ? role : '-').padEnd(8),
        (credentialOf(policy.auth, path) === 'token' && !policy.carries ? scope : '-').padEnd(7),
        `${limit.limit}/${limit.windowSeconds}s`,
      ].join(' '),
    ),
  );
  return `${rows.join('\n')}\n`;
}

function credentialOf(auth: RouteEntry['policy']['auth'], path: string): string {
  if (auth !== 'member') return auth;
  return isAdminPath(path) ? 'session' : 'token';
}
