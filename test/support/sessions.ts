import { newSessionSecret } from '../../src/platform/auth/session-cookie.js';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { sha256 } from '../../src/platform/kernel/canonical-json.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { sessionHeaders } from './client.js';

type Rows = (sql: string, values?: unknown[]) => Promise<unknown[]>;

/** A session that began at `at`, of this member or of the workspace's first owner; answers the secret of its cookie. */
export async function leaveSession(
  rows: Rows,
  { workspaceId, memberId }: { workspaceId: string; memberId?: string | undefined },
  at = Date.now(),
): Promise<string> {
  const secret = newSessionSecret();
  await rows(
    `insert into sessions (session_id, workspace_id, member_id, user_id, secret_hash, method, second_factor, address,
       created_at, last_seen_at, expires_at)
     select $1, workspace_id, member_id, user_id, $2, 'password', false, '127.0.0.1', $3, $3,
       $3::timestamptz + interval '12 hours' from members
     where member_id = coalesce($4, (select member_id from members where workspace_id = $5 and role = 'owner'
       order by joined_at, member_id limit 1))`,
    [newId('ses'), sha256(secret), new Date(at), memberId ?? null, workspaceId],
  );
  return secret;
}

/** What the owner of the first workspace shows at this path: a session in the admin area, elsewhere the operator token. */
export async function credentialsFor(
  path: string,
  { rows, token, workspaceId }: { rows: Rows; token: string; workspaceId: string },
): Promise<Record<string, string>> {
  if (!isAdminPath(path)) return { 'x-service-token': token };
  return sessionHeaders(await leaveSession(rows, { workspaceId }));
}
