import http from 'node:http';
import type pg from 'pg';
import { call } from './calls.js';
import { alone, compare, request } from './load.js';
import { start } from './processes.js';
import { addDestinations, asOwner, createWorkspaces } from './workspaces.js';

const WORKSPACES = 16;

/** All that a hand-in writes to. */
const TABLES = [
  'directives',
  'approvals',
  'receipts',
  'idempotency_keys',
  'work_items',
  'webhook_events',
  'webhook_deliveries',
];

/** Hand-ins and the context, of the service and of the bare handlers over the same database. */
export async function measureHandIns(environment: Record<string, string>) {
  // Workers draft what is handed in; here only the handing in is measured.
  const api = await start('../src/main.js', {
    ...environment,
    PROCESS_ROLE: 'api',
    RATE_LIMIT_STORE: 'memory',
  });
  const bare = await start('bare-handlers.js', environment);
  try {
    return await asOwner(environment['DATABASE_URL']!, async (owner) => {
      const workspaces = await createWorkspaces(owner, WORKSPACES);
      await addDestinations(owner, workspaces);
      const tokens = workspaces.map(({ token }) => token);
      await assertSameRows(owner, [api.url, bare.url], tokens[0]!);
      const compared = {
        'POST /directive, 16 workspaces': await compare(api.url, bare.url, 'directive', tokens),
        'POST /directive, one workspace': await compare(api.url, bare.url, 'directive', tokens.slice(0, 1)),
        // A workspace that has been worked in, as the planner knows it after a minute.
        'GET /context': await owner
          .query('analyze')
          .then(() => compare(api.url, bare.url, 'context', tokens.slice(0, 1))),
      };
      const single = await alone(api.url, bare.url, tokens[0]!);
      await assertChain(api.url, tokens[0]!);
      return { compared, single };
    });
  } finally {
    await bare.stop();
    await api.stop();
  }
}

/** A hand-in of each writes as many rows of each kind; else the ratio would say nothing. */
async function assertSameRows(owner: pg.Client, urls: readonly string[], token: string): Promise<void> {
  const agent = new http.Agent();
  const count = async () => {
    const counts = TABLES.map((table) => `(select count(*) from ${table})::int as ${table}`);
    return (await owner.query<Record<string, number>>(`select ${counts.join(', ')}`)).rows[0]!;
  };
  const written: string[] = [];
  for (const url of urls) {
    const before = await count();
    await request(agent, url, 'directive', token);
    const after = await count();
    written.push(TABLES.map((table) => `${table} ${after[table]! - before[table]!}`).join(', '));
  }
  if (written[0] !== written[1]) {
    throw new Error(`the service writes ${written[0]}; the bare handler writes ${written[1]}`);
  }
}

/** Both append to one chain, under load; what is compared is whole only if the service finds no fault in it. */
async function assertChain(url: string, token: string): Promise<void> {
  const { ok, faults } = await call<{ ok: boolean; faults: unknown[] }>(
    `${url}/api/pro/audit-feed/verify`,
    token,
  );
  if (!ok) throw new Error(`the chain is broken: ${JSON.stringify(faults.slice(0, 3))}`);
}
