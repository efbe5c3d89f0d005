import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { crm } from '../../../test/e2e/connectors/connector-desk.js';
import { ConnectorsFile } from '../../platform/config/connectors-file.js';
import { connectorsJsonSchema } from './connectors-schema.js';
import { ConnectorsInvalid, loadConnectors } from './load-connectors.js';
import { exactJson, redact } from './call-operation.js';
import { faultsOfArguments, requestOf, undoOf } from './operation.js';

const SECRET = 'a-secret-of-length';
const PATH = '/etc/consigliere/connectors.json';

interface Content {
  connectors: (Record<string, unknown> & {
    headers: Record<string, unknown>;
    operations: (Record<string, any> & { name: string })[];
  })[];
}

/** The file of the tests with a change. */
function content(change: (content: Content) => void = () => undefined): Content {
  const made = structuredClone(crm({ baseUrl: 'https://crm.example.com/v1' })) as Content;
  change(made);
  return made;
}

const operation = (name: string, change: (operation: Record<string, any>) => void) =>
  content(({ connectors }) => change(connectors[0]!.operations.find((each) => each.name === name)!));

function load(given: unknown, secrets: Record<string, string> = { CRM_TOKEN: SECRET }) {
  const file = new ConnectorsFile(PATH, given, new Map(Object.entries(secrets)));
  return loadConnectors(file, { outboundAllow: ['127.0.0.1:9000'] });
}

function faults(given: unknown, secrets?: Record<string, string>): string[] {
  try {
    load(given, secrets);
  } catch (error) {
    if (!(error instanceof ConnectorsInvalid)) throw error;
    expect(error.message).toContain(`The connectors file ${PATH} cannot be used:\n`);
    expect(error.message).not.toContain(SECRET);
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
  return [];
}

describe('a file of connectors', () => {
  it('loads, and prints no secret', () => {
    const [connector] = load(content());
    expect([...connector!.operations.keys()]).toEqual(['create_contact', 'tag_contact', 'find_contact']);
    expect([...connector!.undos.keys()]).toEqual(['delete_contact', 'untag_contact']);
    expect(connector!.operations.get('create_contact')).toMatchObject({
      url: 'https://crm.example.com/v1/contacts',
      repeatable: false,
    });
    expect(connector!.workspaces).toBe('first');
    const file = new ConnectorsFile(PATH, content(), new Map([['CRM_TOKEN', SECRET]]));
    expect(inspect(file, { depth: 20, showHidden: true }) + JSON.stringify(file)).not.toContain(SECRET);
    expect(JSON.stringify([...connector!.operations.values()])).not.toContain(SECRET);
  });

  it.each<[string, unknown, string[]]>([
    ['is no object', [], ['the file: Invalid input: expected object, received array']],
    ['has a word of its own', { ...content(), version: 1 }, ['the file: Unrecognized key: "version"']],
    [
      'has a connector twice',
      content((all) => all.connectors.push(structuredClone(all.connectors[0]!))),
      ['connectors.1.name: "crm" is there twice'],
    ],
    [
      'has an operation twice',
      content(({ connectors: [one] }) => one!.operations.push(structuredClone(one!.operations[2]!))),
      ['connectors.0.operations.5.name: "find_contact" is there twice'],
    ],
    [
      'has a private address',
      content(({ connectors: [one] }) => Object.assign(one!, { baseUrl: 'https://10.0.0.1/' })),
      ['connectors.0.baseUrl: The host does not resolve, or not only to public addresses.'],
    ],
    [
      'has an address without https',
      content(({ connectors: [one] }) => Object.assign(one!, { baseUrl: 'http://crm.example.com' })),
      ['connectors.0.baseUrl: The URL must start with https://.'],
    ],
    [
      'is checked by an operation that there is not',
      content(({ connectors: [one] }) => Object.assign(one!, { check: 'ping' })),
      ['connectors.0.check: "ping" is not an operation of this connector'],
    ],
    [
      'is checked by an operation that changes something',
      content(({ connectors: [one] }) => Object.assign(one!, { check: 'create_contact' })),
      ['connectors.0.check: "create_contact" is not readOnly, and a check must change nothing'],
    ],
    [
      'is checked by an operation that needs to be told something',
      content(({ connectors: [one] }) => Object.assign(one!, { check: 'find_contact' })),
      ['connectors.0.check: "find_contact" requires parameters, and a check has none to give'],
    ],
    [
      'has a credential in its address',
      content(({ connectors: [one] }) => Object.assign(one!, { baseUrl: 'https://a:b@crm.example.com' })),
      ['connectors.0.baseUrl: The URL must not contain a user name or password.'],
    ],
    [
      'has a query in its address',
      content(({ connectors: [one] }) => Object.assign(one!, { baseUrl: 'https://crm.example.com/?key=1' })),
      ['connectors.0.baseUrl: must have no query, fragment or braces'],
    ],
    [
      'sets a header that is ours',
      content(({ connectors: [one] }) => Object.assign(one!.headers, { HOST: 'x', 'Idempotency-Key': 'x' })),
      [
        'connectors.0.headers.HOST: is a header that the service sets itself',
        'connectors.0.headers.Idempotency-Key: is a header that the service sets itself',
      ],
    ],
    [
      'has a header over two lines',
      content(({ connectors: [one] }) => Object.assign(one!.headers, { 'X-A': 'a\r\nX-B: b' })),
      ['connectors.0.headers.X-A: must be visible ASCII'],
    ],
    [
      "asks for a secret of the service's own",
      content(({ connectors: [one] }) => Object.assign(one!.headers, { 'X-A': { env: 'SECRETS_KEY' } })),
      ['connectors.0.headers.X-A.env: SECRETS_KEY belongs to this service and is not sent to others'],
    ],
    [
      'has no undo',
      operation('create_contact', (each) => delete each['undo']),
      expect.arrayContaining([
        'connectors.0.operations.0.undo: it declares no undo: name the operation that takes it back, or set readOnly if it changes nothing',
        'connectors.0.operations.3.onlyAsUndo: it is the undo of no operation',
      ]) as never,
    ],
    [
      'has an undo that there is not',
      operation('create_contact', (each) => (each['undo'].operation = 'drop_contact')),
      expect.arrayContaining([
        'connectors.0.operations.0.undo.operation: "drop_contact" is not an operation of this connector',
      ]) as never,
    ],
    [
      'has an undo that lacks what it requires',
      operation('create_contact', (each) => (each['undo'].params = {})),
      ['connectors.0.operations.0.undo.params.id: "delete_contact" requires it'],
    ],
    [
      'has an undo with what it does not take',
      operation('create_contact', (each) => (each['undo'].params.why = { value: 'x' })),
      ['connectors.0.operations.0.undo.params.why: is not a parameter of "delete_contact"'],
    ],
    [
      'has an undo from a parameter that there is not',
      operation('tag_contact', (each) => (each['undo'].params.tag = 'params.label')),
      ['connectors.0.operations.1.undo.params.tag: params.label is not a parameter of this operation'],
    ],
    [
      'undoes itself',
      operation('create_contact', (each) => (each['undo'] = { operation: 'create_contact', params: {} })),
      expect.arrayContaining([
        'connectors.0.operations.0.undo.operation: an operation cannot undo itself',
      ]) as never,
    ],
    [
      'says that it only reads, and deletes',
      operation('delete_contact', (each) => Object.assign(each, { readOnly: true, onlyAsUndo: false })),
      expect.arrayContaining([
        'connectors.0.operations.3.readOnly: an operation with DELETE changes something',
      ]) as never,
    ],
    [
      'says that it only reads, and has an undo',
      operation('create_contact', (each) => (each['readOnly'] = true)),
      ['connectors.0.operations.0.readOnly: an operation that changes nothing has no undo and is none'],
    ],
    [
      'has a path with a parameter that may be missing',
      operation('tag_contact', (each) => (each['params'].required = ['id'])),
      [
        'connectors.0.operations.1.path: {tag} must be a required parameter that is a text, number or boolean',
      ],
    ],
    [
      'has a path with dots',
      operation('find_contact', (each) => (each['path'] = '/contacts/../admin')),
      ['connectors.0.operations.2.path: must have no segment of dots'],
    ],
    [
      'has a path with a query',
      operation('find_contact', (each) => (each['path'] = '/contacts?all=1')),
      ['connectors.0.operations.2.path: must have no query, fragment, backslash or single brace'],
    ],
    [
      'has a list in the query',
      operation('find_contact', (each) => {
        each['params'].properties.email = { type: 'array', items: { type: 'string' } };
      }),
      [
        'connectors.0.operations.2.params.properties.email: must be a text, number or boolean: it stands in the query of GET',
      ],
    ],
    [
      'requires what it does not describe',
      operation('find_contact', (each) => (each['params'].required = ['email', 'id'])),
      ['connectors.0.operations.2.params.required.1: "id" is not among the properties'],
    ],
    [
      'moves an amount that it does not take',
      operation('create_contact', (each) => (each['amount'] = { value: 'params.total', currency: 'EUR' })),
      ['connectors.0.operations.0.amount.value: params.total is not a parameter of this operation'],
    ],
    [
      'moves a currency that there is not',
      operation('create_contact', (each) => (each['amount'].currency = 'XXY')),
      [
        'connectors.0.operations.0.amount.currency: must be a currency of ISO 4217, or a path such as params.currency',
      ],
    ],
    [
      'names a workspace that is no id',
      content(({ connectors: [one] }) => Object.assign(one!, { workspaces: ['Acme'] })),
      ['connectors.0.workspaces.0: must be the id of a workspace'],
    ],
  ])('that %s is refused with path and reason', (_what, given, expected) => {
    expect(faults(given)).toEqual(expected);
  });

  it.each<[string, Record<string, string>, string]>([
    ['is not set', {}, 'CRM_TOKEN is not set'],
    ['is short', { CRM_TOKEN: 'short' }, 'the value of CRM_TOKEN must have at least 8 characters'],
    [
      'has a line break',
      { CRM_TOKEN: 'long enough\r\nX: y' },
      'the value of CRM_TOKEN must be at most 4096 visible ASCII characters',
    ],
  ])('whose secret %s is refused', (_what, secrets, message) => {
    expect(faults(content(), secrets)).toEqual([`connectors.0.headers.Authorization.env: ${message}`]);
  });

  it('may name a receiver of the operator by plain http', () => {
    expect(
      faults(content(({ connectors: [one] }) => Object.assign(one!, { baseUrl: 'http://127.0.0.1:9000' }))),
    ).toEqual([]);
  });
});

describe('the definition of an operation', () => {
  const definition = (given: unknown, name = 'create_contact') =>
    load(given)[0]!.operations.get(name)!.definition;

  it.each<[string, unknown]>([
    [
      'its address',
      content(({ connectors: [one] }) => Object.assign(one!, { baseUrl: 'https://b.example' })),
    ],
    ['its method', operation('create_contact', (each) => (each['method'] = 'PUT'))],
    ['its path', operation('create_contact', (each) => (each['path'] = '/people'))],
    ['its headers', content(({ connectors: [one] }) => Object.assign(one!.headers, { 'X-Mode': 'live' }))],
    ['its undo', operation('create_contact', (each) => (each['undo'].params.id = 'response.id'))],
    ['what undoes it', operation('delete_contact', (each) => (each['path'] = '/people/{id}'))],
  ])('is another one when %s changes', (_what, given) => {
    expect(definition(given)).not.toBe(definition(content()));
  });

  it('is the same when another operation, or the value of a secret, changes', () => {
    const other = operation('find_contact', (each) => (each['description'] = 'Something else'));
    expect(definition(other)).toBe(definition(content()));
    expect(
      load(content(), { CRM_TOKEN: 'rotated-secret' })[0]!.operations.get('create_contact')!.definition,
    ).toBe(definition(content()));
  });
});

describe('the JSON Schema of the file', () => {
  const validate = new Ajv2020({ strict: false }).compile(connectorsJsonSchema());

  it('takes the file of the tests, and refuses a word that it does not know', () => {
    expect(validate(content()), JSON.stringify(validate.errors)).toBe(true);
    expect(validate(operation('create_contact', (each) => (each['undoo'] = 1)))).toBe(false);
    expect(validate({})).toBe(false);
  });

  it('is the one of docs/reference', () => {
    const written = readFileSync(
      new URL('../../../docs/reference/connectors.schema.json', import.meta.url),
      'utf8',
    );
    expect(JSON.parse(written)).toEqual(connectorsJsonSchema());
  });
});

describe('the request of an operation', () => {
  const [connector] = load(content());
  const tag = connector!.operations.get('tag_contact')!;

  it('keeps every value within its segment of the path', () => {
    for (const value of ['a/b', '%2e%2e', 'a?b', 'a#b', '..;/x', '../x', 'ä 🎩', "a'b"]) {
      expect(faultsOfArguments(tag, { id: value, tag: 'x' })).toEqual([]);
      const { url } = requestOf(tag, { id: value, tag: 'x' });
      const { pathname, search, hash } = new URL(url);
      expect(pathname.split('/')).toHaveLength(6);
      expect(decodeURIComponent(pathname.split('/')[3]!)).toBe(value);
      expect(search + hash).toBe('');
    }
  });

  it('refuses arguments that make an address without end', () => {
    const find = connector!.operations.get('find_contact')!;
    expect(faultsOfArguments(find, { email: 'x'.repeat(9_000) })).toMatchObject([{ rule: 'maxLength' }]);
  });

  it.each(['', '.', '..', '\ud800'])('refuses %j in a path', (id) => {
    expect(faultsOfArguments(tag, { id, tag: 'x' }).map(({ path }) => path)).toEqual(['id']);
  });
});

describe('the undo of a call', () => {
  const undo = {
    operation: 'delete',
    params: { id: 'response.items.0.id', why: { value: 'undone' } },
  } as const;
  const deletes = (type: 'string' | 'integer' | 'number'): Parameters<typeof undoOf>[1] => ({
    method: 'DELETE',
    url: 'https://crm.example/items/{id}',
    params: { type: 'object', properties: { id: { type }, why: { type: 'string' } }, required: ['id'] },
  });

  it.each<[string, unknown]>([
    ['is not there', { items: [] }],
    ['is an object', { items: [{ id: {} }] }],
    ['is null', { items: [{ id: null }] }],
    ['is longer than an id', { items: [{ id: 'x'.repeat(2_001) }] }],
    ['cannot be stored', { items: [{ id: 'a\0b' }] }],
    ['was no JSON', undefined],
    ['stands in a prototype', { items: 'text' }],
  ])('is missing where the value %s', (_what, response) => {
    expect(undoOf(undo, deletes('string'), {}, response)).toEqual({
      operation: 'delete',
      missing: ['response.items.0.id'],
    });
  });

  it('takes what was answered', () => {
    expect(undoOf(undo, deletes('integer'), {}, { items: [{ id: 7 }] })).toEqual({
      operation: 'delete',
      arguments: { id: 7, why: 'undone' },
    });
  });

  const undoOfAnswer = (type: 'string' | 'integer' | 'number', id: string) =>
    undoOf(undo, deletes(type), {}, exactJson(`{"items":[{"id":${id}}]}`));

  it.each([
    ['7', '7'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740993', '9007199254740993'],
    ['12345678901234567890', '12345678901234567890'],
    ['-9007199254740993', '-9007199254740993'],
    ['"c_42"', 'c_42'],
  ])('is called with exactly the id that was answered, %s, as the text that it takes', (id, text) => {
    const found = undoOfAnswer('string', id);
    expect(found).toMatchObject({ arguments: { id: text } });
    const given = 'arguments' in found ? found.arguments : {};
    expect(requestOf(deletes('string'), given).url).toContain(`/items/${text}`);
  });

  it.each(['integer', 'number'] as const)('takes no number that would be rounded, as %s', (type) => {
    for (const id of ['9007199254740993', '12345678901234567890', '1e400', '9007199254740993.0'])
      expect(undoOfAnswer(type, id), id).toEqual({
        operation: 'delete',
        unusable: expect.stringContaining('response.items.0.id cannot be its id: '),
      });
    expect(undoOfAnswer(type, '9007199254740991')).toMatchObject({ arguments: { id: 9007199254740991 } });
  });

  it.each(['', '.', '..'])('says at once that %j is no id', (id) => {
    expect(undoOfAnswer('string', JSON.stringify(id))).toMatchObject({
      unusable: expect.stringContaining('response.items.0.id cannot be its id: '),
    });
  });
});

describe('the JSON of an answer', () => {
  it.each([
    '0',
    '-0',
    '1',
    '1.0',
    '1e3',
    '0.1',
    '-12.5',
    '1234567.89',
    '9007199254740991',
    'true',
    'null',
    '"9"',
  ])('has %s as it is', (text) => expect(exactJson(`[${text}]`)).toEqual(JSON.parse(`[${text}]`)));

  it.each([
    '9007199254740992',
    '9007199254740993',
    '-1e21',
    '1e400',
    '0.12345678901234567',
    '1.00000000000000000001',
  ])('has %s as its text', (text) =>
    expect(exactJson(`{"a":{"b":[${text}]}}`)).toEqual({ a: { b: [text] } }),
  );

  it('is nothing where there is none', () => expect(exactJson('<html>')).toBeUndefined());
});

describe('redact', () => {
  it('takes the longer one of two secrets first', () => {
    expect(redact('x abcdefgh-more y abcdefgh z', ['abcdefgh', 'abcdefgh-more'])).toBe(
      'x [redacted] y [redacted] z',
    );
  });
});
