/**
 * Writes src/generated from the service's OpenAPI document: the types, and as methods every operation that an operator token may call,
 * and every one of the admin area. Runs before each build, so a client cannot drift from the service.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createClient } from '@hey-api/openapi-ts';

interface Parameter {
  in: 'path' | 'query' | 'header' | 'cookie';
  name: string;
  required?: boolean;
}

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean };
  responses: Record<string, unknown>;
  security?: Record<string, unknown>[];
  'x-internal'?: boolean;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { description?: string }>; responses: object; examples: object };
}

const SOURCE = new URL('../../docs/reference/openapi.json', import.meta.url);
const TARGET = new URL('src/generated/', import.meta.url);

const document = JSON.parse(await readFile(SOURCE, 'utf8')) as Document;

/** Errors are thrown, and headers are the client's own business: neither belongs to the types of a call. */
type Methods = Map<string, Map<string, { verb: string; path: string; operation: Operation }>>;
const methods: Methods = new Map();
const adminMethods: Methods = new Map();
for (const [path, item] of Object.entries(document.paths)) {
  for (const [verb, operation] of Object.entries(item)) {
    // A stream is no call with an answer: the client has a method of its own for it (src/feed.ts).
    const isStream = operation.operationId === 'feed.stream';
    const isAdmin = path.startsWith('/api/admin/');
    if (isStream || operation['x-internal']) {
      delete item[verb];
      continue;
    }
    operation.parameters = operation.parameters?.filter((parameter) => parameter.in !== 'header');
    operation.responses = Object.fromEntries(
      Object.entries(operation.responses).filter(([status]) => status.startsWith('2')),
    );
    const [resource = '', name = ''] = operation.operationId.split('.');
    const into = isAdmin ? adminMethods : methods;
    into.set(
      resource,
      (into.get(resource) ?? new Map()).set(name, { verb: verb.toUpperCase(), path, operation }),
    );
  }
  if (Object.keys(item).length === 0) delete document.paths[path];
}
// The client names its version, so errors reach it in the second shape alone (CONTRACT, section 2).
const { schemas } = document.components;
const codes: string[] = [];
const errorBodies: string[] = [];
for (const [name, { description }] of Object.entries(schemas)) {
  const [, code, shape] = /^`([A-Z_]+)` in shape (A|B)\.$/.exec(description ?? '') ?? [];
  if (shape !== 'B') continue;
  codes.push(code!);
  errorBodies.push(name);
}
document.components.responses = {};
document.components.examples = {};

await rm(TARGET, { recursive: true, force: true });
await mkdir(TARGET, { recursive: true });
await createClient({
  input: document as never,
  output: { path: new URL('types', TARGET).pathname },
  plugins: ['@hey-api/typescript'],
  logs: { level: 'silent' },
});
const types = (await readFile(new URL('types/types.gen.ts', TARGET), 'utf8')).replace(/^\/\/.*\n/, '');
await rm(new URL('types', TARGET), { recursive: true });
await writeFile(new URL('types.ts', TARGET), types);
await writeFile(
  new URL('operations.ts', TARGET),
  [...operations(methods, 'OPERATIONS', 'Resources'), ...errors()].join('\n'),
);
await writeFile(
  new URL('admin-operations.ts', TARGET),
  operations(adminMethods, 'ADMIN_OPERATIONS', 'AdminResources').join('\n'),
);

function operations(of: Methods, constant: string, resources: string): string[] {
  const table: string[] = [];
  const interfaces: string[] = [];
  for (const [resource, named] of of) {
    const rows: string[] = [];
    const members: string[] = [];
    for (const [name, { verb, path, operation }] of named) {
      const id = pascal(`${resource}.${name}`);
      const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      const inQuery = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const { requestBody } = operation;
      if (inQuery.length > 0 && requestBody)
        throw new Error(`${operation.operationId} takes a query and a body`);
      const takes = requestBody ? ' {}' : inQuery.length > 0 ? ' ?' : '';
      rows.push(`    ${name}: '${verb} ${path.replace(/^\/api\/pro\//, '')}${takes}',`);
      const isOptional = requestBody ? !requestBody.required : !inQuery.some(({ required }) => required);
      const args = [
        ...inPath.map((parameter) => `${parameter.name}: string`),
        ...(takes === ' {}' ? [`body${isOptional ? '?' : ''}: NonNullable<T.${id}Data['body']>`] : []),
        ...(takes === ' ?' ? [`query${isOptional ? '?' : ''}: NonNullable<T.${id}Data['query']>`] : []),
        'options?: CallOptions',
      ];
      members.push(
        `  /**\n${[operation.summary, '', ...operation.description.split('\n')].map((line) => `   * ${line}`.trimEnd()).join('\n')}\n   */`,
        `  ${name}(${args.join(', ')}): Call<T.${id}Response>;`,
      );
    }
    table.push(`  ${shown(resource)}: {`, ...rows, '  },');
    interfaces.push(`export interface ${pascal(resource)} {`, ...members, '}', '');
  }
  return [
    "import type { Call, CallOptions } from '../call.js';",
    "import type * as T from './types.js';",
    '',
    '/**',
    ' * Every operation as `<verb> <path>`, followed by `{}` where it takes a body and `?` where it takes a query. A path without a',
    ' * leading slash is below `/api/pro/`.',
    ' */',
    `export const ${constant} = {`,
    ...table,
    '} as const;',
    '',
    ...interfaces,
    `export interface ${resources} {`,
    ...[...of.keys()].map((resource) => `  readonly ${shown(resource)}: ${pascal(resource)};`),
    '}',
    '',
  ];
}

/** In the admin area its own word says nothing more: `adminTokens.list` is `admin.tokens.list`. */
function shown(resource: string): string {
  const own = resource.replace(/^admin(?=[A-Z])/, '');
  return own[0]!.toLowerCase() + own.slice(1);
}

function errors(): string[] {
  return [
    '/** The codes of errors that the service documents; a later service may have others. */',
    `export type ErrorCode = ${codes
      .toSorted()
      .map((code) => `'${code}'`)
      .join(' | ')};`,
    '',
    '/** The body of an error, which narrows by its `error`. */',
    `export type ErrorBody = ${errorBodies.map((name) => `T.${name}`).join(' | ')};`,
    '',
  ];
}

/** The name that the types plugin gives: `directives.create` is `DirectivesCreate`. */
function pascal(id: string): string {
  return id
    .split('.')
    .map((part) => part[0]!.toUpperCase() + part.slice(1))
    .join('');
}
