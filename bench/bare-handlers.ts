import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { CONTEXT } from '../src/features/context/context.reader.js';
import { bareAsk } from './bare-ask.js';
import { bareHandIn } from './bare-hand-in.js';

/**
 * What the service is measured against: Express and pg with nothing in between. It looks the token up, writes the same
 * rows in one statement, and reads the context by the same one; no roles, limits, replay of a key, isolation of
 * workspaces, validation or wake-up.
 */

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 16 });

/** For the read tokens are looked up once: who calls is not what is measured there. */
const workspaces = new Map<string, string>();

async function workspaceOf(token: string): Promise<string> {
  let workspaceId = workspaces.get(token);
  if (!workspaceId) {
    const { rows } = await pool.query(
      `select workspace_id from tokens where token_hash = encode(sha256($1::bytea), 'hex')`,
      [token],
    );
    workspaceId = rows[0].workspace_id as string;
    workspaces.set(token, workspaceId);
  }
  return workspaceId;
}

/** What a decision about one work packet depends on. */
const PREFLIGHT = /* sql */ `
select g.mode, g.epoch, w.presence,
  (select coalesce(max(epoch), 0) from standing_order_epochs where workspace_id = $1) as epoch_of_orders,
  (select json_agg(u) from app.order_usage($1,
    array(select standing_order_id from standing_orders where workspace_id = $1 and status = 'active'), 'UTC', now()) u) as usage
from guardians g join workspaces w using (workspace_id) where g.workspace_id = $1`;

const app = express();
app.use(express.json());
app.post('/api/pro/directive', async (request, response) => {
  const { query, answer } = bareHandIn(
    request.headers['x-service-token'] as string,
    request.headers['idempotency-key'] as string,
    request.body.text,
  );
  const { rowCount } = await pool.query(query);
  if (rowCount === 0) {
    response.status(401).end();
    return;
  }
  response.status(201).location(`/api/pro/directives/${answer.directiveId}`).json(answer);
});
app.get('/api/pro/context', async (request, response) => {
  const workspaceId = await workspaceOf(request.headers['x-service-token'] as string);
  const { rows } = await pool.query({ name: 'context', text: CONTEXT, values: [workspaceId, new Date()] });
  response.json(rows[0]);
});
app.post('/api/pro/guardian/preflight', async (request, response) => {
  const workspaceId = await workspaceOf(request.headers['x-service-token'] as string);
  const { rows } = await pool.query({ name: 'preflight', text: PREFLIGHT, values: [workspaceId] });
  response.json(rows[0]);
});
app.post('/api/pro/action-requests', async (request, response) => {
  const { rows } = await pool.query(
    bareAsk(request.headers['x-service-token'] as string, request.body.params.like),
  );
  response.status(201).json(rows[0]);
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close(() => void pool.end()).closeAllConnections());
