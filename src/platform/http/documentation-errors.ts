import type { OpenAPIObject } from '@nestjs/swagger';
import { z } from 'zod';
import { CURRENT_VERSION } from './api-version.js';
import { headersOf } from './documentation-headers.js';
import { renderError } from './render-error.js';
import type { RouteEntry } from './route-table.js';
import { DomainError, type ErrorDefinition, MAX_DETAILS } from '../kernel/define-error.js';
import * as common from '../kernel/errors.js';

type SchemaObject = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>[string];
export type Schemas = Record<string, SchemaObject>;
/** The keywords that examples are found by; the types of the library know JSON Schema less well than it writes it. */
interface Keywords {
  $ref?: string;
  type?: string | string[];
  example?: unknown;
  properties?: Schemas;
  required?: string[];
  items?: SchemaObject;
  anyOf?: SchemaObject[];
  oneOf?: SchemaObject[];
  allOf?: SchemaObject[];
}

/**
 * A value that fits the schema, put together from the examples that its properties declare beside themselves; what is
 * optional and declares none is left out, what may be null and declares none is null. Undefined when an example of
 * something required is missing.
 */
export function exampleOf(schema: SchemaObject, schemas: Schemas): unknown {
  const keywords = schema as Keywords;
  if (keywords.example !== undefined) return keywords.example;
  if (keywords.$ref !== undefined) return exampleOf(targetOf(keywords.$ref, schemas), schemas);
  const choices = keywords.anyOf ?? keywords.oneOf ?? keywords.allOf;
  if (choices)
    return choices.map((choice) => exampleOf(choice, schemas)).find((example) => example !== undefined);
  const types = [keywords.type ?? []].flat();
  if (keywords.properties) return objectOf(keywords, schemas);
  if (types.includes('null')) return null;
  if (types.includes('array') && keywords.items) {
    const item = exampleOf(keywords.items, schemas);
    return item === undefined ? undefined : [item];
  }
  return undefined;
}

function objectOf({ properties = {}, required = [] }: Keywords, schemas: Schemas): object | undefined {
  const example: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const value = exampleOf(property, schemas);
    const isRequired = required.includes(name);
    if (value === undefined && isRequired) return undefined;
    // An optional property that shows null would only say that it can be left out.
    if (value !== undefined && (isRequired || value !== null)) example[name] = value;
  }
  return example;
}

/** Whether a schema takes `{}`. */
export function isAllOptional(schema: SchemaObject, schemas: Schemas): boolean {
  const { $ref, required = [], oneOf, anyOf } = schema as Keywords;
  if ($ref !== undefined) return isAllOptional(targetOf($ref, schemas), schemas);
  const choices = oneOf ?? anyOf;
  if (choices) return choices.some((choice) => isAllOptional(choice, schemas));
  return required.length === 0;
}

function targetOf($ref: string, schemas: Schemas): SchemaObject {
  return schemas[$ref.replace('#/components/schemas/', '')] ?? {};
}

type ResponseObject = NonNullable<NonNullable<OpenAPIObject['components']>['responses']>[string];
type ExampleObject = NonNullable<NonNullable<OpenAPIObject['components']>['examples']>[string];

const REQUEST_ID = 'req_01khqw6q00wy74pjf1avkzwmgz';

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
interface ErrorResponse {
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
          schema: eitherShape(shapeA(alike), shapeB(alike)),
          examples: Object.fromEntries(
            alike.flatMap(namesOf).map((name) => [name, { $ref: `#/components/examples/${name}` }]),
          ),
        },
      },
    },
  }));
}

/** One example for each error and shape, as the service renders it. */
export function errorExamples(
  errors: Iterable<ErrorDefinition>,
  schemas: Schemas,
): Record<string, ExampleObject> {
  const examples: Record<string, ExampleObject> = {};
  for (const error of errors) {
    const details = detailsOf(error)?.schema;
    const occurred = new DomainError(error, {
      ...(error === common.Unauthorized && { reason: 'invalid_token' }),
      ...(details && { details: exampleOf(details, schemas) }),
    });
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

/**
 * The two documented shapes (SPECIFICATION, Errors), widened so that a reader of either finds its fields. Each error has a schema
 * in both, told apart by its code, so that a program that has compared the code knows the details.
 */
export function errorSchemas(errors: readonly ErrorDefinition[]): Schemas {
  const schemas: Record<string, object> = {
    Error: eitherShape(ref('ErrorA'), ref('ErrorB')),
    ErrorA: shapeA(errors, ref('ErrorObject')),
    ErrorB: shapeB(errors),
    ErrorObject: unionOf('code', errors, ({ code }) => [code, objectName(code)]),
  };
  for (const error of errors) {
    const { code, status, message } = error;
    const details = detailsOf(error);
    const shown = {
      message: { type: 'string', description: 'What is wrong, for a person.', example: message },
      status: { type: 'integer', const: status, description: 'The HTTP status.', example: status },
      ...(details && { details: { description: 'What else there is to know.', ...ref(detailsName(code)) } }),
      ...(details?.schema.type === 'array' && { detailsOmitted: OMITTED }),
    };
    const required = ['message', 'status', ...(details?.isRequired ? ['details'] : [])];
    if (details) schemas[detailsName(code)] = details.schema;
    schemas[objectName(code)] = object(`\`${code}\` in shape A.`, ['code', ...required], {
      code: { type: 'string', const: code, description: 'The code of the error.', example: code },
      ...shown,
    });
    const lowerCase = code.toLowerCase();
    schemas[flatName(code)] = object(
      `\`${code}\` in shape B.`,
      ['error', 'reason', 'requestId', ...required],
      {
        error: {
          type: 'string',
          const: lowerCase,
          description: 'The code of the error in lower case.',
          example: lowerCase,
        },
        reason: { ...REASON, example: lowerCase },
        requestId: ID,
        ...shown,
      },
    );
  }
  return schemas as Schemas;
}

function eitherShape(a: object, b: object): SchemaObject {
  return {
    description: `Shape A for a client that names no version, shape B with \`X-Service-API-Version: ${CURRENT_VERSION}\`.`,
    oneOf: [a, b],
  } as SchemaObject;
}

function shapeA(
  errors: readonly ErrorDefinition[],
  error: object = unionOf('code', errors, ({ code }) => [code, objectName(code)]),
): object {
  const described = { description: 'What went wrong.', ...error };
  return object('Shape A: the error is an object.', ['error', 'reason', 'requestId'], {
    error: described,
    reason: REASON,
    requestId: ID,
  });
}

function shapeB(errors: readonly ErrorDefinition[]): object {
  return unionOf('error', errors, ({ code }) => [code.toLowerCase(), flatName(code)]);
}

/** One of these errors, by the value that each has in `propertyName`. */
function unionOf(
  propertyName: string,
  errors: readonly ErrorDefinition[],
  nameOf: (error: ErrorDefinition) => [value: string, schema: string],
): object {
  const named = errors.map(nameOf);
  if (named.length === 1) return ref(named[0]![1]);
  return {
    oneOf: named.map(([, schema]) => ref(schema)),
    discriminator: {
      propertyName,
      mapping: Object.fromEntries(named.map(([value, schema]) => [value, ref(schema).$ref])),
    },
  };
}

function object(description: string, required: readonly string[], properties: object): object {
  return { type: 'object', description, required, additionalProperties: false, properties };
}

const ref = (schema: string) => ({ $ref: `#/components/schemas/${schema}` });
const pascal = (code: string) =>
  code.replace(/_?([A-Z])([A-Z]*)/g, (_, first: string, rest: string) => first + rest.toLowerCase());
const objectName = (code: string) => `${pascal(code)}Error`;
const detailsName = (code: string) => `${pascal(code)}Details`;
const flatName = (code: string) => `${pascal(code)}ErrorB`;

/** The details of an error as JSON Schema, and whether it always has them. */
function detailsOf({
  code,
  details,
}: ErrorDefinition): { schema: DetailsSchema; isRequired: boolean } | undefined {
  if (!details) return undefined;
  const { $schema: _draft, ...schema } = z.toJSONSchema(details, {
    unrepresentable: 'any',
    override: ({ jsonSchema }) => mergeNull(jsonSchema),
  });
  return {
    schema: { description: `What \`${code}\` says beside its message.`, ...schema } as DetailsSchema,
    isRequired: !details.safeParse(undefined).success,
  };
}

/** What an error says in its details; of a list, what is said of each. */
export function detailNamesOf(error: ErrorDefinition): string[] {
  const details = detailsOf(error);
  if (!details) return [];
  const { properties = {}, required = [] } = details.schema.items ?? details.schema;
  const always = details.isRequired ? required : [];
  return Object.keys(properties).map((name) => `\`${name}\`${always.includes(name) ? '' : '?'}`);
}

/** What may be null is written as DTOs have it: as one more type. */
function mergeNull(schema: { anyOf?: object[] }): void {
  const [own, none] = schema.anyOf ?? [];
  if (!own || !none || !('type' in own && 'type' in none && none.type === 'null')) return;
  delete schema.anyOf;
  Object.assign(schema, own, { type: [own.type, 'null'] });
}

interface DetailsSchema {
  type?: string;
  properties?: Schemas;
  required?: string[];
  items?: DetailsSchema;
}

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
const OMITTED = {
  type: 'integer',
  minimum: 1,
  description: `How many details there are beside the ${MAX_DETAILS} that are listed; left out when all are.`,
  example: 12,
} as const;
