import pg from 'pg';
import { sha256 } from '../src/platform/kernel/canonical-json.js';
import { newId } from '../src/platform/kernel/ids.js';
import { newOperatorToken } from '../src/platform/kernel/operator-token.js';

/** A workspace of the benchmark, and the token of its owner. */
export interface Workspace {
  workspaceId: string;
  token: string;
}

/** So many workspaces of the tier without limits, each with an owner. */
export async function createWorkspaces(client: pg.Client, count: number): Promise<Workspace[]> {
  const workspaces: Workspace[] = [];
  for (let index = 0; index < count; index++) {
    const [workspaceId, userId, memberId] = [newId('wks'), newId('usr'), newId('mem')];
    const token = newOperatorToken();
    await client.query(`insert into workspaces (workspace_id, name, tier) values ($1, $2, 'enterprise')`, [
      workspaceId,
      `bench ${index}`,
    ]);
    await client.query(
      `insert into users (user_id, email, display_name) values ($1, $1 || '@example.com', 'Bench')`,
      [userId],
    );
    await client.query(
      `insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, 'owner')`,
      [memberId, workspaceId, userId],
    );
    await client.query(
      `insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint) values ($1, $2, $3, 'bench', $4, $5)`,
      [newId('tok'), workspaceId, memberId, sha256(token), token.slice(-4)],
    );
    workspaces.push({ workspaceId, token });
  }
  return workspaces;
}

/** A destination for the event of a hand-in in each workspace, so that a hand-in leaves an event and its delivery. */
export async function addDestinations(client: pg.Client, workspaces: readonly Workspace[]): Promise<void> {
  for (const { workspaceId } of workspaces) {
    await client.query(
      `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
         sealed_secret, created_by, created_at)
       values ($1, $2, '', 'https://receiver.example/', '{directive.created}', 'active', '2026-04', '-', '{}', now())`,
      [newId('whk'), workspaceId],
    );
  }
}

/** Runs `work` with a connection of the database's owner. */
export async function asOwner<T>(databaseUrl: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  // A connection that breaks fails the next query.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
