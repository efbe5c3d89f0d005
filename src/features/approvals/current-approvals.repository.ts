import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { ApprovalEntity } from './approval.entity.js';

/** As much of an approval as decides who is told of it: of ten thousand at once, too. */
export type WaitingApproval = Pick<
  ApprovalEntity,
  'approvalId' | 'teamId' | 'contentHash' | 'priority' | 'risk' | 'expiresAt' | 'frozenMs'
> & {
  /** Requesters and editors, if somebody else has to decide. */
  mayNotApprove: string[];
  /** Who may approve it and has not; null: everybody with the role but those above. */
  mayApprove: string[] | null;
  /** Who edited it last, and so knows its content; nobody where a capo wrote it. */
  editedBy: string[];
};

/** One whose draft is ready and that can still be decided. While a kill has stopped its clock it does not expire. */
const CAN_BE_DECIDED = `status = 'pending' and ready and (frozen_ms is not null or expires_at > $3)
  and (deadline is null or deadline > $3)`;

/** Approvals that somebody can decide now. */
@Injectable()
export class CurrentApprovals {
  constructor(private readonly db: Db) {}

  waiting(scope: Scope, approvalIds: readonly string[], at: number): Promise<WaitingApproval[]> {
    return this.db.read(
      scope,
      `select approval_id, team_id, content_hash, priority, risk, expires_at, frozen_ms,
         case when self_approval then '{}' else requester_ids end as may_not_approve,
         case when quorum > 1 or approvers <> '[]' then app.approvers_of(workspace_id, team_id, approvers,
           case when self_approval then '{}' else requester_ids end || array(select jsonb_object_keys(votes)))
         end as may_approve,
         case when revisions->-1->>'author' = 'person' then array[revisions->-1->'by'->>'id'] else '{}' end as edited_by
       from approvals where workspace_id = $1 and approval_id = any($2) and ${CAN_BE_DECIDED}`,
      [scope.workspaceId, approvalIds, new Date(at)],
    );
  }

  /** The same with all that is approved. */
  whole(scope: Scope, approvalIds: readonly string[], at: number): Promise<ApprovalEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOf(ApprovalEntity)} from approvals
       where workspace_id = $1 and approval_id = any($2) and ${CAN_BE_DECIDED}`,
      [scope.workspaceId, approvalIds, new Date(at)],
    );
  }
}
