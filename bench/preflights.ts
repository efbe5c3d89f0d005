import type pg from 'pg';
import { newId } from '../src/platform/kernel/ids.js';
import { call, timed } from './calls.js';
import { start } from './processes.js';
import { isQuick } from './size.js';
import { asOwner, createWorkspaces } from './workspaces.js';

const ORDERS = 200;
/** What the orders have let through within the last month. */
const USES = isQuick ? 2_000 : 20_000;
const ROUNDS = isQuick ? 2 : 5;
const CALLS_PER_ROUND = 100;

const ACTION = {
  type: 'email.send',
  params: { to: ['jane@acme.example'], subject: 'Your order', body: 'It ships on Friday.' },
};

/** Milliseconds of each call. */
export interface PreflightTimes {
  ours: number[];
  /** Of a bare handler that reads the same facts in one statement, and decides nothing. */
  theirs: number[];
  ofDirectives: number[];
}

/** Preflights one at a time, in rounds of the service and the bare handler, under 200 active orders that have let much through. */
export async function measurePreflights(environment: Record<string, string>): Promise<PreflightTimes> {
  const service = await start('../src/main.js', { ...environment, RATE_LIMIT_STORE: 'memory' });
  const bare = await start('bare-handlers.js', environment);
  const path = '/api/pro/guardian/preflight';
  try {
    const { token } = await asOwner(environment['DATABASE_URL']!, prepare);
    const ask = (url: string, body: object) => () => call(`${url}${path}`, token, body);
    const body = { action: ACTION, capo: 'capo_ops' };
    const times: PreflightTimes = { ours: [], theirs: [], ofDirectives: [] };
    await timed(CALLS_PER_ROUND, ask(service.url, body));
    await timed(CALLS_PER_ROUND, ask(bare.url, body));
    for (let round = 0; round < ROUNDS; round++) {
      times.ours.push(...(await timed(CALLS_PER_ROUND, ask(service.url, body))));
      times.theirs.push(...(await timed(CALLS_PER_ROUND, ask(bare.url, body))));
    }
    const directive = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';
    await timed(5, ask(service.url, { directive }));
    times.ofDirectives = await timed(CALLS_PER_ROUND, ask(service.url, { directive }));
    return times;
  } finally {
    await bare.stop();
    await service.stop();
  }
}

async function prepare(owner: pg.Client): Promise<{ token: string }> {
  const [workspace] = await createWorkspaces(owner, 1);
  const { workspaceId, token } = workspace!;
  const ids = Array.from({ length: ORDERS }, () => newId('so'));
  await owner.query(
    `insert into standing_orders (standing_order_id, workspace_id, name, text, status, version, effect, match, limits, hash,
       created_by, created_at, updated_at)
     select id, $1, 'Order ' || n, '', 'active', 1, 'allow',
       jsonb_build_object('actionTypes', array['email.send'], 'fields',
         jsonb_build_object('params.to', jsonb_build_object('$domainIn',
           array['acme' || case when n % 10 = 0 then '' else n::text end || '.example']))),
       '{"maxPerHour": 1000000, "maxPerDay": 1000000}', md5(id), '{}', now(), now()
     from unnest($2::text[]) with ordinality o(id, n)`,
    [workspaceId, ids],
  );
  await owner.query(
    `insert into standing_order_uses (workspace_id, standing_order_id, work_packet_id, at, amount, currency)
     select $1, ($2::text[])[1 + n % $3], 'pkt_' || n, now() - (n % 43200) * interval '1 minute', 0, null
     from generate_series(1, $4::int) n`,
    [workspaceId, ids, ORDERS, USES],
  );
  // As the last use leaves it: what the orders have let through is counted.
  await owner.query(`select app.settle_order_usage($1, $2, 'UTC', now())`, [workspaceId, ids]);
  await owner.query('analyze');
  return { token };
}
