import { afterAll, describe, expect, it } from 'vitest';
import { faultsOfAnyParams, type ParamsVerdict, ToolParams } from '../../src/features/tools/tool-params.js';

const params = new ToolParams();
afterAll(() => params.onApplicationShutdown());

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more });
const rulesOf = (verdict: ParamsVerdict) => {
  if (verdict.ok) return [];
  return verdict.timeout ? ['timeout'] : verdict.faults.map(({ path, rule }) => `${path}: ${rule}`);
};
const schemaFaults = async (schema: Record<string, unknown>) =>
  rulesOf(await params.checkSchema(schema, 'w', 'one'));
const paramFaults = async (paramsSchema: Record<string, unknown>, given: unknown) =>
  rulesOf(await params.validate({ paramsSchema, workspaceId: 'w' }, given, 'one'));

/** Twice as many ways at each of thirty levels. */
const DOUBLING = object(
  { x: { $ref: '#/$defs/d0' } },
  {
    $defs: Object.fromEntries(
      Array.from({ length: 31 }, (_, n) => [
        `d${n}`,
        n === 30
          ? { const: 'never' }
          : { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
      ]),
    ),
  },
);

describe('a schema', () => {
  it.each([
    object({ a: { type: 'string', format: 'email', pattern: '^[\\w.]+@acme\\.example$' } }),
    object({ a: { $ref: '#/$defs/a' } }, { $defs: { a: { type: 'integer', 'x-unit': 'EUR' } } }),
    object({ pattern: { type: 'string' }, $ref: { type: 'string' }, nested: { $ref: '#' } }),
    { type: 'object', $schema: 'https://json-schema.org/draft/2020-12/schema', minProperties: 1 },
  ])('may be %j', async (schema) => expect(await schemaFaults(schema)).toEqual([]));

  it.each([
    [{}, ['paramsSchema.type: type']],
    [{ type: ['object', 'null'] }, ['paramsSchema.type: type']],
    [
      { type: 'object', $schema: 'http://json-schema.org/draft-07/schema#' },
      ['paramsSchema.$schema: dialect'],
    ],
    [{ type: 'object', $id: 'https://evil.example/x' }, ['paramsSchema.$id: refused']],
    [object({ a: { $ref: 'https://evil.example/x' } }), ['paramsSchema.properties.a.$ref: localRef']],
    [object({ const: { $ref: 'https://evil.example/x' } }), ['paramsSchema.properties.const.$ref: localRef']],
    [object({ a: { $ref: '#/$defs/none' } }), ['paramsSchema: schema']],
    [object({ a: { requird: ['b'] } }), ['paramsSchema.properties.a.requird: keyword']],
    [object({ a: { format: 'iban' } }), ['paramsSchema.properties.a.format: format']],
    [object({ a: { pattern: '(?=a)b' } }), ['paramsSchema.properties.a.pattern: pattern']],
    [object({ a: { pattern: '(a)\\1' } }), ['paramsSchema.properties.a.pattern: pattern']],
    [{ type: 'object', patternProperties: { '(': {} } }, ['paramsSchema.patternProperties.(: pattern']],
    [{ type: 'object', allOf: [{ $ref: '#' }] }, ['paramsSchema: endless']],
    [object({ a: { anyOf: [{ $ref: '#/properties/a' }] } }), ['paramsSchema: endless']],
    [DOUBLING, ['timeout']],
  ])('may not be %j', async (schema, faults) => expect(await schemaFaults(schema)).toEqual(faults));

  it('is held against the meta-schema', async () => {
    expect(await schemaFaults(object({ a: { type: 'text' } }))).toContain(
      'paramsSchema.properties.a.type: enum',
    );
    expect(await schemaFaults(object({ a: { minLength: -1 } }))).toEqual([
      'paramsSchema.properties.a.minLength: minimum',
    ]);
    expect(await schemaFaults({ type: 'object', required: 'a' })).toEqual(['paramsSchema.required: type']);
  });
});

describe('parameters', () => {
  const schema = object(
    {
      amount: { type: 'integer', minimum: 1, default: 5 },
      to: { type: 'array', items: { type: 'string', format: 'email' } },
      address: object({ city: { type: 'string', pattern: '^[A-Z]' } }),
    },
    { required: ['amount'] },
  );

  it.each([
    [{ amount: 1, to: ['j@acme.example'], address: { city: 'Bern', more: 1 } }, []],
    [{}, ['params.amount: required']],
    [{ amount: '1' }, ['params.amount: type']],
    [{ amount: 0, other: 1 }, ['params.amount: minimum', 'params.other: unknownProperty']],
    [{ amount: 1, to: ['j'] }, ['params.to.0: format']],
    [{ amount: 1, address: { city: 'bern' } }, ['params.address.city: pattern']],
    [[], ['params: isObject']],
    [{ amount: 2 ** 53 }, ['params.amount: safeInteger']],
    [{ amount: 1, note: 'x'.repeat(65_536) }, ['params: maxJsonBytes']],
  ])('%j have the faults %j', async (given, faults) =>
    expect((await paramFaults(schema, given)).toSorted()).toEqual(faults),
  );

  it('of more than 32 levels are refused', () => {
    const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
    expect(faultsOfAnyParams(deep(32))).toEqual([]);
    expect(faultsOfAnyParams(deep(33))).toMatchObject([{ rule: 'maxDepth' }]);
  });

  it.each([
    ['says that anything goes', { additionalProperties: true }, ['params.b: unknownProperty']],
    ['says so with an empty schema', { unevaluatedProperties: {} }, ['params.b: unknownProperty']],
    ['declares them by a schema', { additionalProperties: { type: 'integer' } }, []],
    ['declares them in a part', { allOf: [{ properties: { b: {} } }] }, []],
  ])('that are not named, where the schema %s', async (_case, more, faults) =>
    expect(await paramFaults(object({ a: {} }, more), { a: 1, b: 2 })).toEqual(faults),
  );

  it('are not changed by defaults', async () => {
    const given = {};
    await paramFaults(object({ a: { default: 1 } }), given);
    expect(given).toEqual({});
  });

  it('have at most a hundred faults', async () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`p${n}`, n]));
    expect(await paramFaults(object({}), many)).toHaveLength(100);
  });

  it('are matched in linear time', async () => {
    const evil = object({ a: { type: 'string', pattern: '^(a+)+$' } });
    expect(await paramFaults(evil, { a: `${'a'.repeat(50_000)}!` })).toEqual(['params.a: pattern']);
  });

  it('that take exponential time are not known, and hold up neither the event loop nor another workspace', async () => {
    // Both processes are there.
    await Promise.all(['one', 'other'].map((workspaceId) => params.checkSchema(schema, workspaceId, 'one')));
    let ended = false;
    const tool = { paramsSchema: DOUBLING, workspaceId: 'slow' };
    const slow = params.validate(tool, { x: 'a' }, 'one').finally(() => {
      ended = true;
    });
    const again = params.validate(tool, { x: 'a' }, 'one');
    expect(await paramFaults(schema, { amount: 1 })).toEqual([]);
    expect(ended).toBe(false);
    expect(await slow).toEqual({ ok: false, timeout: true });
    expect(await again).toEqual({ ok: false, timeout: true });
  });

  it('are checked for the callers of a workspace in turn, and one caller has at most 64 of them waiting', async () => {
    const tool = { paramsSchema: DOUBLING, workspaceId: 'shared' };
    const ended: string[] = [];
    const check = (who: string, paramsSchema: Record<string, unknown>, given: object) =>
      params.validate({ ...tool, paramsSchema }, given, who).finally(() => ended.push(who));
    const slow = [1, 2].map(() => check('slow', DOUBLING, { x: 'a' }));
    const quick = Array.from({ length: 62 }, () => check('slow', schema, { amount: 1 }));
    await expect(check('slow', schema, { amount: 1 })).rejects.toMatchObject({
      name: 'RATE_LIMITED',
      headers: { 'Retry-After': '2' },
      details: { policy: 'tool-checks', limit: 64 },
    });
    ended.length = 0;
    expect(await check('other', schema, { amount: 1 })).toEqual({ ok: true });
    expect(ended).toEqual(['slow', 'other']);
    expect(await Promise.all(slow)).toEqual([1, 2].map(() => ({ ok: false, timeout: true })));
    expect(await Promise.all(quick)).toEqual(quick.map(() => ({ ok: true })));
    expect(await check('slow', schema, { amount: 1 })).toEqual({ ok: true });
  });
});
