import { Consigliere } from '@consigliere/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { connectMcp } from '../../support/mcp-connection.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const POSITION = 'x-service-position';
const revenue = { amount: 1, currency: 'EUR', source: 'test', externalId: 'inv-1' };

describe('without a replica', () => {
  let test: TestApp;
  afterEach(() => test.close());

  it('carries no position, and asks for none', async () => {
    test = await startTestApp();
    const changed = await test.owner.post('/revenue-events', revenue);
    expect([changed.status, changed.headers.get(POSITION)]).toEqual([201, null]);
    const read = await test.owner.get('/revenue-events', { [POSITION]: 'latest' });
    expect([read.status, read.headers.get(POSITION)]).toEqual([200, null]);
    const metrics = await (await fetch(`${test.url}/metrics`)).text();
    expect(metrics).not.toContain('consigliere_replica');
  });
});

describe('a replica that is none', () => {
  let test: TestApp;
  let other: TestDatabase | undefined;
  afterEach(async () => {
    await test.close();
    await other?.drop();
  });

  it.each([
    ['nobody listens there', async () => 'postgres://127.0.0.1:1/consigliere'],
    ['it is a primary', async () => (other = await createTestDatabase()).url],
  ])('leaves every read to the primary where %s', async (_name, address) => {
    test = await startTestApp({ DATABASE_READ_URL: await address() });
    const { status, headers } = await test.owner.post('/revenue-events', revenue);
    expect(status).toBe(201);
    const position = headers.get(POSITION)!;
    expect(position).toMatch(/^[\dA-F]{24}$/);
    for (const sent of ['', position, 'latest']) {
      const { body } = await test.owner.get('/revenue-events', { [POSITION]: sent });
      expect(body.items).toHaveLength(1);
    }
    const later = await test.owner.post('/revenue-events', { ...revenue, externalId: 'inv-2' });
    expect(later.headers.get(POSITION)! > position).toBe(true);
    expect((await test.owner.get('/health/ready')).status).toBe(200);
    const metrics = await (await fetch(`${test.url}/metrics`)).text();
    expect(metrics).toContain('consigliere_replica_reads_total{outcome="down"} 2');
    expect(metrics).toContain('consigliere_replica_reads_total{outcome="replica"} 0');
  });
});

describe('where the primary alone answers', () => {
  let test: TestApp;
  let directiveId: string;
  beforeAll(async () => {
    test = await startTestApp({ DATABASE_READ_URL: 'postgres://127.0.0.1:1/consigliere' });
    const { body } = await test.owner.post('/directives', { directive: 'Note it.', capo: 'capo_ops' });
    directiveId = body.directiveId;
  });
  afterAll(() => test.close());

  /** How many reads a replica might have answered: each that it was asked for counts, whoever answered. */
  async function offeredDuring(act: () => Promise<unknown>): Promise<number> {
    const offered = async () => {
      const text = await (await fetch(`${test.url}/metrics`)).text();
      const counts = [...text.matchAll(/^consigliere_replica_reads_total\{.*\} (\d+)$/gm)];
      expect(counts).toHaveLength(4);
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    const before = await offered();
    await act();
    return (await offered()) - before;
  }

  it('keeps the admin area from the replica, also where the same route of the API may go there', async () => {
    const shared = test.app
      .get(RouteTable)
      .entries.filter(({ policy }) => policy.replica)
      .flatMap(({ paths }) => paths.filter((path) => path.startsWith('/api/admin/')))
      .map((path) => path.replace('deliveries/:id', `deliveries/${newId('dlv')}`))
      .map((path) => path.replace('webhooks/:id', `webhooks/${newId('whk')}`));
    expect(shared).not.toEqual([]);
    const session = await test.signIn();
    for (const path of shared) {
      const ofApi = path.replace('/api/admin', '/api/pro');
      const offered = {
        api: await offeredDuring(() => test.owner.get(ofApi)),
        admin: await offeredDuring(async () => {
          expect([200, 404], path).toContain((await session.get(path)).status);
        }),
      };
      expect({ path, offered }).toEqual({ path, offered: { api: expect.any(Number), admin: 0 } });
      expect(offered.api, ofApi).toBeGreaterThan(0);
    }
  });

  it('keeps what an assistant reads through /mcp from the replica', async () => {
    const { token } = test.owner as { token: string };
    const assistant = await connectMcp({ url: test.url, token, over: 'http', revision: '2026-07-28' });
    const throughMcp = await offeredDuring(async () => {
      const { structuredContent } = await assistant.callTool({
        name: 'service/directives/get',
        arguments: { directiveId },
      });
      expect(structuredContent).toMatchObject({ directiveId });
    });
    const byApi = await offeredDuring(() => test.owner.get(`/directives/${directiveId}`));
    await assistant.close();
    expect({ throughMcp, byApi }).toEqual({ throughMcp: 0, byApi: 1 });
  });
});

describe('the SDK', () => {
  it('sends with its reads the greatest position that it was answered, in whatever order', async () => {
    const positions = ['2', '10', '03'].map((end) => end.padStart(24, '0'));
    const sent: (string | null)[] = [];
    const answers = [...positions];
    const client = new Consigliere({
      token: 'token',
      fetch: async (_url, init) => {
        const headers = new Headers(init?.headers);
        if (init?.method === 'GET') sent.push(headers.get(POSITION));
        const position = init?.method === 'POST' ? answers.shift() : undefined;
        return Response.json({}, { headers: position ? { [POSITION]: position } : {} });
      },
    });
    await client.request('GET', '/api/pro/kpi');
    while (answers.length > 0) await client.request('POST', '/api/pro/ack', { body: {} });
    await client.request('GET', '/api/pro/kpi');
    await client.request('GET', '/api/pro/kpi', { headers: { [POSITION]: 'latest' } });
    expect(sent).toEqual([null, positions[1], 'latest']);
  });
});
