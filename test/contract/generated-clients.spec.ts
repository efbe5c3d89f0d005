import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compilerFaults, typesOf } from './client-types.js';
import { document, type Operation, operations } from './operations.js';
import { SPECIFIED } from './specification.js';

const PROJECT = join(import.meta.dirname, '../..');

/** What the document says of an operation beside what it answers. */
type Named = Operation & { tags: string[]; 'x-alias-of'?: string; 'x-internal'?: boolean };
const named = operations as Named[];
const ids = named.map(({ operationId }) => operationId);
const tags = (document as unknown as { tags: { name: string; description: string }[] }).tags;

describe('the names of operations', () => {
  it('are each a resource and a verb, and no two are the same', () => {
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+\.[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  it('are these, which programs rely on', () => {
    expect(ids).toEqual(
      expect.arrayContaining([
        'directives.create',
        'directives.get',
        'approvals.approve',
        'approvals.reject',
        'actions.request',
        'actions.consume',
        'standingOrders.create',
        'guardian.kill',
        'guardian.revert',
        'auditFeed.verify',
        'webhooks.create',
        'tokens.create',
        'session.createOperatorToken',
      ]),
    );
  });
});

describe('the tags', () => {
  it('are in the order of the table, directives first, and each is a sentence', () => {
    expect(tags.map(({ name }) => name).slice(0, 2)).toEqual(['directives', 'approvals']);
    expect(ids[0]).toBe('directives.create');
    expect(tags.filter(({ description }) => !/^[A-Z][^.]+\.$/.test(description))).toEqual([]);
    // Operations follow each other by tag.
    const inOrder = named.map(({ tags: own }) => own[0]).filter((tag, index, all) => tag !== all[index - 1]);
    expect(inOrder).toEqual(tags.map(({ name }) => name));
  });

  it('are one for each operation, and another for the admin area', () => {
    expect(named.filter(({ tags: own }) => own.length !== 1).map(({ name }) => name)).toEqual([]);
    const wrong = named.filter(
      ({ path, tags: [tag] }) => path.startsWith('/api/admin/') !== (tag === 'admin'),
    );
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });
});

describe('a second spelling', () => {
  const aliases = named.filter((operation) => operation['x-alias-of'] !== undefined);

  it('names the operation that it is, takes and answers the same, and is internal to the document', () => {
    expect(aliases.map(({ name }) => name)).toEqual([
      'POST /api/pro/guardian/killswitch',
      'GET /api/pro/partner/webhooks',
      'PATCH /api/pro/partner/webhooks/{id}',
      'DELETE /api/pro/partner/webhooks/{id}',
      'POST /api/pro/partner/webhooks/{id}/test',
      'POST /api/pro/partner/webhooks/{id}/rotate-secret',
      'POST /api/pro/partner/webhooks/{id}/resume',
      'GET /api/pro/partner/webhooks/{id}/deliveries',
    ]);
    for (const alias of aliases) {
      const { method, parameters, responses } = named.find(
        ({ operationId }) => operationId === alias['x-alias-of'],
      )!;
      expect(alias, alias.name).toMatchObject({ method, parameters, responses, 'x-internal': true });
    }
  });

  it('is all that is internal', () => {
    const internal = named.filter((operation) => operation['x-internal'] !== undefined);
    expect(internal).toEqual(aliases);
  });
});

describe('a client', () => {
  let folder: string;
  let client: Record<string, any>;
  let types: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-client-'));
    const file = join(folder, 'client.json');
    const redocly = join(PROJECT, 'node_modules/.bin/redocly');
    await promisify(execFile)(redocly, ['bundle', 'client', '--output', file], {
      cwd: PROJECT,
      env: { PATH: process.env.PATH, REDOCLY_TELEMETRY: 'off', CI: '1' },
    });
    client = JSON.parse(await readFile(file, 'utf8'));
    types = typesOf(client);
  }, 60_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('has every operation in one spelling, and one for each route of the specification', () => {
    const kept = Object.values<Record<string, Named>>(client['paths']).flatMap((item) => Object.values(item));
    expect(kept.map(({ operationId }) => operationId)).toEqual(
      named
        .filter((operation) => operation['x-internal'] === undefined)
        .map(({ operationId }) => operationId),
    );
    const shape = (path: string) => path.replace(/\{[^}]+\}/g, '{}');
    const there = new Set(Object.keys(client['paths']).map(shape));
    const missing = SPECIFIED.filter(
      ({ paths }) => paths.filter((path) => there.has(shape(path))).length !== 1,
    );
    expect(missing).toEqual([]);
  });

  it('has types that compile', () => {
    expect(compilerFaults(types)).toEqual([]);
  });

  it('knows the details of an error once it has compared the code, in both shapes and of each operation', () => {
    const program = `
      export function wait(body: Error): number {
        if (typeof body.error === 'object') {
          if (body.error.code === 'RATE_LIMITED') return body.error.details.windowSeconds;
          // @ts-expect-error -- not every error has these details
          return body.error.details.windowSeconds;
        }
        if (body.error === 'rate_limited') return body.details.windowSeconds;
        return 0;
      }

      export function approve(refused: Answers['approvals.approve'][409]): string {
        if (typeof refused.error !== 'object') return refused.error;
        switch (refused.error.code) {
          case 'APPROVAL_ALREADY_DECIDED':
            return refused.error.details.status;
          case 'INPUT_REQUIRED':
            return refused.error.details.map(({ workPacketId, message }) => workPacketId + message).join();
          // @ts-expect-error -- the operation does not answer this one
          case 'RATE_LIMITED':
            return '';
          default:
            return refused.error.message;
        }
      }
    `;
    expect(compilerFaults(types + program)).toEqual([]);
  });
});

describe('the errors of each operation', () => {
  it('are those of its examples, and no other fits', () => {
    const { schemas } = document.components;
    for (const { name, responses } of operations) {
      for (const [status, { content }] of Object.entries(responses)) {
        if (Number(status) < 400) continue;
        const { schema, examples } = content!['application/json']!;
        const [a, b] = schema['oneOf'];
        const error = a.properties.error;
        const codes: string[] = (error.oneOf ?? [error]).map(
          ({ $ref }: { $ref: string }) =>
            schemas[$ref.replace('#/components/schemas/', '')]!['properties'].code.const,
        );
        const flat = (b.oneOf ?? [b]).map(
          ({ $ref }: { $ref: string }) =>
            schemas[$ref.replace('#/components/schemas/', '')]!['properties'].error.const,
        );
        const shown = Object.keys(examples!).filter((example) => !example.includes('.'));
        expect(codes, `${name} ${status}`).toEqual(shown);
        expect(flat, `${name} ${status}`).toEqual(codes.map((code) => code.toLowerCase()));
      }
    }
  });
});
