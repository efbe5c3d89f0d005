import type { AddressInfo } from 'node:net';
import express from 'express';
import pg from 'pg';
import { CONTEXT } from '../src/features/context/context.reader.js';
import { newId } from '../src/platform/kernel/ids.js';

/**
 * What the service is measured against: Express and pg with nothing in between. It writes the same rows in one
 * statement, and reads the context by the same one; no roles, limits, idempotency, receipts or work that follows.
 */

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 16 });

const INSERT = /* sql */ `
with directive as (
  insert into directives (directive_id, workspace_id, text, routed_by, priority, requires_approval, context, status,
    approval_id, created_by, created_at)
  values ($1, $3, $4, 'consigliere', 'medium', true, '{}', 'pending_approval', $2, '{}', now())
)
insert into approvals (approval_id, workspace_id, directive_id, kind, round, status, ready, title, summary, priority,
  risk, reversibility, requested_by, requested_at, expires_at, on_expiry)
values ($2, $3, $1, 'output', 0, 'pending', false, $4, '', 'medium', 'low', 'read_only', '{}', now(),
  now() + interval '72 hours', 'reject')`;

/** Tokens are looked up once: who calls is not what is measured here. */
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

const app = express();
app.use(express.json());
app.post('/api/pro/directive', async (request, response) => {
  const workspaceId = await workspaceOf(request.headers['x-service-token'] as string);
  const [directiveId, approvalId] = [newId('dir'), newId('apr')];
  await pool.query({
    name: 'insert',
    text: INSERT,
    values: [directiveId, approvalId, workspaceId, request.body.text],
  });
  response.status(201).json({ directiveId, approvalId, status: 'pending_approval' });
});
app.get('/api/pro/context', async (request, response) => {
  const workspaceId = await workspaceOf(request.headers['x-service-token'] as string);
  const { rows } = await pool.query({ name: 'context', text: CONTEXT, values: [workspaceId, new Date()] });
  response.json(rows[0]);
});

const server = app.listen(0, '127.0.0.1', () => {
  console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close(() => void pool.end()).closeAllConnections());
