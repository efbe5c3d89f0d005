import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The document as it is published; `npm run check` compares it with the source. */
export const DOCUMENT_FILE = join(import.meta.dirname, '../../docs/reference/openapi.json');

export type Schema = Record<string, any>;

interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}

export interface MediaType {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, { $ref?: string; value?: unknown }>;
}

interface Response {
  description: string;
  headers?: Record<string, unknown>;
  content?: Record<string, MediaType>;
}

export interface Operation {
  /** `POST /api/pro/approvals/{approvalId}/approve` */
  name: string;
  method: string;
  path: string;
  operationId: string;
  summary?: string;
  description?: string;
  parameters: Parameter[];
  requestBody?: { required?: boolean; description?: string; content: Record<string, MediaType> };
  responses: Record<string, Response>;
}

export interface Document {
  paths: Record<
    string,
    Record<
      string,
      Omit<Operation, 'name' | 'method' | 'path' | 'responses'> & {
        responses: Record<string, Response | { $ref: string }>;
      }
    >
  >;
  components: {
    responses: Record<string, Response>;
    schemas: Record<string, Schema>;
    examples: Record<string, { value: unknown }>;
  };
}

export const document = JSON.parse(readFileSync(DOCUMENT_FILE, 'utf8')) as Document;

export const operations: Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    ...operation,
    parameters: operation.parameters ?? [],
    responses: withoutReferences(operation.responses),
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
  })),
);

/** Operations that answer the same errors share the answers. */
function withoutReferences(responses: Record<string, Response | { $ref: string }>): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      '$ref' in response
        ? document.components.responses[response.$ref.replace('#/components/responses/', '')]!
        : response,
    ]),
  );
}

const patterns = operations.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '([^/]+)')}$`),
}));

/** The operation that a request calls; one without path parameters goes before one that would match as well. */
export function operationOf(method: string, path: string): Operation | undefined {
  const { pathname } = new URL(path, 'http://localhost');
  const matching = patterns.filter(
    ({ operation, pattern }) => operation.method === method && pattern.test(pathname),
  );
  return matching.toSorted((a, b) => a.operation.parameters.length - b.operation.parameters.length)[0]
    ?.operation;
}

/** What `$ref` points at. */
export function resolved(schema: Schema): Schema {
  return schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')]!);
}
