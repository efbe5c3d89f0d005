import pg from 'pg';
import { newId } from '../src/platform/kernel/ids.js';
import { call, timed } from './calls.js';
import { start } from './processes.js';
import { isQuick } from './size.js';

const RECEIPTS = isQuick ? 200_000 : 1_000_000;
const SECONDS_BETWEEN = 20;
const PAGES = 60;

/** Milliseconds of each page of 50 receipts of a workspace with a million, by what is asked for. */
export async function measureAuditPages(
  environment: Record<string, string>,
  token: string,
): Promise<Record<string, number[]>> {
  const { workspaceId } = await fill(environment['DATABASE_URL']!, token);
  const day = 86_400_000;
  const begin = Date.now() - RECEIPTS * SECONDS_BETWEEN * 1000;
  const pages: Record<string, string> = {
    newest: '',
    'in the middle': `before=${RECEIPTS / 2}`,
    'one action, rare': 'action=guardian.killed',
    'one capo, rare': 'capo=ceo',
    'one actor, rare': `actor=${workspaceId}`,
    'one day, long ago': `from=${begin + 30 * day}&to=${begin + 31 * day}`,
    'until long ago': `to=${begin + 80 * day}`,
  };
  const service = await start('../src/main.js', {
    ...environment,
    PROCESS_ROLE: 'api',
    RATE_LIMIT_STORE: 'memory',
  });
  try {
    const figures: Record<string, number[]> = {};
    for (const [name, query] of Object.entries(pages)) {
      const page = () => call(`${service.url}/api/pro/audit-feed?limit=50&${query}`, token);
      await timed(5, page);
      figures[name] = await timed(PAGES, page);
    }
    return figures;
  } finally {
    await service.stop();
  }
}

/** A chain as long as a year of work makes it; in every 100,000 there are three receipts of a rare kind. */
async function fill(databaseUrl: string, token: string): Promise<{ workspaceId: string }> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const { rows } = await database.query<{ workspace_id: string; seq: string }>(
    `select t.workspace_id, h.seq from tokens t join receipt_heads h using (workspace_id)
     where t.token_hash = encode(sha256($1::bytea), 'hex')`,
    [token],
  );
  const { workspace_id: workspaceId, seq } = rows[0]!;
  await database.query(
    `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
       directive_id, team_id, capo, body, prev_hash, hash)
     select $1, $2::bigint + i, $3, now() - ($4::int - i) * $5 * interval '1 second', 'member',
       case when i % 100000 = 1 then $1 else 'mem_' || i % 20 end,
       case when i % 100000 = 2 then 'guardian.killed' when i % 3 = 0 then 'directive.created' else 'signal.raised' end,
       'directive', 'dir_' || i, null, null, case when i % 100000 = 3 then 'ceo' when i % 2 = 0 then 'capo_ops' end,
       '{"summary":"' || repeat('x', 400) || '"}', md5(i::text), md5((i + 1)::text)
     from generate_series(1, $4::int) i`,
    [workspaceId, seq, newId('rcp'), RECEIPTS, SECONDS_BETWEEN],
  );
  await database.query('analyze receipts');
  await database.end();
  return { workspaceId };
}
