import { newId } from '../../../src/platform/kernel/ids.js';

type Rows = (sql: string, values: unknown[]) => Promise<unknown>;

/** What a mail about an approval leaves, and what a member has chosen, in a workspace that has both; nobody is mailed. */
export async function leaveNotification(rows: Rows, workspaceId: string): Promise<void> {
  const told = `(select a.workspace_id, a.approval_id, a.team_id, m.member_id from approvals a
    join members m on m.workspace_id = a.workspace_id where a.workspace_id = $1 order by a.approval_id limit 1) told`;
  await rows(
    `insert into notifications (workspace_id, notification_id, member_id, kind, entity_id, revision, team_id, urgent,
       in_digest, status, due_at, mail_id, tries, created_at, ended_at)
     select workspace_id, $2, member_id, 'approval', approval_id, 'x', team_id, false, false, 'sent', now(), $2, 0, now(), now()
     from ${told}`,
    [workspaceId, newId('ntf')],
  );
  await rows(
    `insert into decision_links (workspace_id, link_id, member_id, approval_id, content_hash, mail_id, created_at)
     select workspace_id, $2, member_id, approval_id, 'x', 'ntf', now() from ${told}`,
    [workspaceId, newId('lnk')],
  );
  await rows(
    `insert into notification_choices (workspace_id, member_id, approvals, at_any_hour)
     select workspace_id, member_id, 'digest', false from ${told}`,
    [workspaceId],
  );
}
