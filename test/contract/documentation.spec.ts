import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { document, type MediaType, operations, type Schema } from './operations.js';

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addFormat('currency', /^[A-Z]{3}$/);
ajv.addSchema({ $id: 'document', components: document.components });

const compiled = new Map<string, ValidateFunction>();

/** What a schema has against a value. */
function faults(schema: Schema, value: unknown): unknown[] {
  // The references of the document start at its root, so the schema is compiled as a part of it.
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  const validate = compiled.get(text) ?? ajv.compile(JSON.parse(text));
  compiled.set(text, validate);
  return validate(value) ? [] : validate.errors!;
}

/** Every schema of the document with its place, properties of properties too. */
function* within(schema: Schema, place: string): Generator<[place: string, schema: Schema]> {
  yield [place, schema];
  for (const [name, property] of Object.entries<Schema>(schema.properties ?? {})) {
    yield* within(property, `${place}.${name}`);
  }
  if (schema.items) yield* within(schema.items, `${place}[]`);
}

const schemas = Object.entries(document.components.schemas).flatMap(([name, schema]) => [
  ...within(schema, name),
]);
const properties = schemas.flatMap(([place, schema]) =>
  Object.entries<Schema>(schema.properties ?? {}).map(([name, property]) => ({
    place: `${place}.${name}`,
    property,
    isRequired: (schema.required ?? []).includes(name),
  })),
);
const parameters = operations.flatMap(({ name, parameters: own }) =>
  own.map((parameter) => ({ place: `${name} ${parameter.name}`, ...parameter })),
);

/** Each body of the document: of a request, of an answer. */
const bodies: { place: string; media: MediaType }[] = operations.flatMap(
  ({ name, requestBody, responses }) => [
    ...Object.entries(requestBody?.content ?? {}).map(([type, media]) => ({
      place: `${name} ${type}`,
      media,
    })),
    ...Object.entries(responses).flatMap(([status, { content }]) =>
      Object.entries(content ?? {}).map(([type, media]) => ({ place: `${name} ${status} ${type}`, media })),
    ),
  ],
);

/** The examples of a body, those that are only named too. */
function examplesOf({ example, examples }: MediaType): unknown[] {
  return [
    ...(example === undefined ? [] : [example]),
    ...Object.values(examples ?? {}).map(({ $ref, value }) =>
      $ref === undefined
        ? value
        : document.components.examples[$ref.replace('#/components/examples/', '')]?.value,
    ),
  ];
}

const exampleOf = ({ example, schema }: { example?: unknown; schema: Schema }) => example ?? schema.example;
const isNullable = (schema: Schema) => [schema.type].flat().includes('null');
const hasFields = (schema: Schema) =>
  [schema, schema.items, ...['anyOf', 'oneOf', 'allOf'].flatMap((all) => schema[all] ?? [])].some(
    (one) => one?.$ref !== undefined || one?.properties !== undefined,
  );

describe('in the OpenAPI document', () => {
  it('every property is described', () => {
    expect(properties.length).toBeGreaterThan(400);
    expect(properties.filter(({ property }) => !property.description).map(({ place }) => place)).toEqual([]);
  });

  it('every property that is no record of its own has an example, or may be null', () => {
    const bare = properties.filter(
      ({ property }) => property.example === undefined && !isNullable(property) && !hasFields(property),
    );
    expect(bare.map(({ place }) => place)).toEqual([]);
  });

  it('every example of a property fits its schema', () => {
    const wrong = properties.flatMap(({ place, property }) =>
      property.example === undefined
        ? []
        : faults(property, property.example).map((fault) => ({ place, fault })),
    );
    expect(wrong).toEqual([]);
  });

  it('every parameter is described and has an example that fits', () => {
    expect(parameters.filter(({ description }) => !description).map(({ place }) => place)).toEqual([]);
    const wrong = parameters.filter(
      (one) => exampleOf(one) === undefined || faults(one.schema, exampleOf(one)).length > 0,
    );
    expect(wrong.map(({ place }) => place)).toEqual([]);
  });

  it('every operation says in a sentence what it does', () => {
    const silent = operations.filter(({ summary }) => !/^[A-Z].{8,}\.$/.test(summary ?? ''));
    expect(silent.map(({ name, summary }) => `${name}: ${summary}`)).toEqual([]);
  });

  it('every request and every answer has an example, and every example fits', () => {
    expect(bodies.length).toBeGreaterThan(500);
    expect(bodies.filter(({ media }) => examplesOf(media).length === 0).map(({ place }) => place)).toEqual(
      [],
    );
    const wrong = bodies.flatMap(({ place, media }) =>
      examplesOf(media).flatMap((example) =>
        faults(media.schema, example).map((fault) => ({ place, fault })),
      ),
    );
    expect(wrong).toEqual([]);
  });

  it('nothing that has a default is required', () => {
    const required = [
      ...parameters.filter((one) => one.required && one.schema.default !== undefined),
      ...properties.filter(({ isRequired, property }) => isRequired && property.default !== undefined),
    ];
    expect(required.map(({ place }) => place)).toEqual([]);
  });

  it('a body is required where an empty one, which is read as `{}`, would be refused, and no header but the signature and what an edit was made of', () => {
    const wrong = operations.filter(({ requestBody }) => {
      if (!requestBody) return false;
      const [{ schema }] = Object.values(requestBody.content) as [MediaType];
      return requestBody.required !== faults(schema, {}).length > 0;
    });
    expect(wrong.map(({ name }) => name)).toEqual([]);
    // Each change in the admin area has the session's CSRF token beside.
    const headers = parameters.filter(
      (one) => one.in === 'header' && one.required && one.name !== 'X-CSRF-Token',
    );
    expect(headers.map(({ place }) => place)).toEqual([
      'PATCH /api/pro/approvals/{approvalId} if-match',
      'POST /api/pro/partner/induction x-partner-signature',
    ]);
  });

  it('the forms of the audit feed are a page, lines and a table', () => {
    const { content } = operations.find(({ name }) => name === 'GET /api/pro/audit-feed')!.responses[200]!;
    expect(Object.keys(content!)).toEqual(['application/json', 'application/x-ndjson', 'text/csv']);
    expect(content!['application/x-ndjson']!.schema).toEqual({ type: 'string' });
    expect(content!['text/csv']!.schema).toEqual({ type: 'string' });
  });

  it('every answer names the headers that it carries', () => {
    const bare = operations.flatMap(({ name, responses }) =>
      Object.entries(responses)
        .filter(([, { headers }]) => headers?.['X-Request-Id'] === undefined)
        .map(([status]) => `${name} ${status}`),
    );
    expect(bare).toEqual([]);
  });

  it('every error that an operation answers has an example in both shapes', () => {
    const errors = readFileSync(join(import.meta.dirname, '../../docs/reference/errors.md'), 'utf8');
    const codes = [...errors.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code);
    const examples = Object.keys(document.components.examples);
    expect(examples.length).toBeGreaterThan(40);
    for (const name of examples) expect(codes, name).toContain(name.split('.')[0]);
    for (const { name, responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        const names = Object.keys(content!['application/json']!.examples!);
        expect(names.length % 2, `${name} ${status}`).toBe(0);
        const values = examplesOf(content!['application/json']!) as { error: unknown; status?: number }[];
        expect(new Set(values.map(({ error }) => typeof error))).toEqual(new Set(['object', 'string']));
      }
    }
  });
});
