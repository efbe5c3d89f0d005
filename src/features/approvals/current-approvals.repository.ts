import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { CLOCKS_STOPPED_AT } from '../guardian/index.js';
import type { ApprovalEntity } from './approval.entity.js';
import { columnsOfApproval, FROZEN_MS } from './approvals.repository.js';

/** As much of an approval as decides who is told of it: of ten thousand at once, too. */
export type WaitingApproval = Pick<
  ApprovalEntity,
  'approvalId' | 'teamId' | 'contentHash' | 'kind' | 'priority' | 'risk' | 'expiresAt' | 'frozenMs'
> & {
  /** Requesters and editors, if somebody else has to decide. */
  mayNotApprove: string[];
  /** Who may approve it and has not; null: everybody with the role but those above. */
  mayApprove: string[] | null;
  /** Who edited it last, and so knows its content; nobody where a capo wrote it. */
  editedBy: string[];
};

/** One whose draft is ready and that can still be decided. While a kill has stopped its clock it does not expire. */
const CAN_BE_DECIDED = `status = 'pending' and ready and (expires_at > $3 or ${CLOCKS_STOPPED_AT} is not null)
  and (deadline is null or deadline > $3)`;

/** Approvals that somebody can decide now. */
@Injectable()
export class CurrentApprovals {
  constructor(private readonly db: Db) {}

  waiting(scope: Scope, approvalIds: readonly string[], at: number): Promise<WaitingApproval[]> {
    return this.db.read(
      scope,
      `with waiting as (
         select approval_id, team_id, content_hash, kind, priority, risk, expires_at, ${FROZEN_MS}, approvers, votes,
           quorum > 1 or approvers <> '[]' as has_electorate,
           case when self_approval then '{}' else requester_ids end as may_not_approve,
           case when revisions->-1->>'author' = 'person' then array[revisions->-1->'by'->>'id'] else '{}' end as edited_by
         from approvals where workspace_id = $1 and approval_id = any($2) and ${CAN_BE_DECIDED}
       ), electorates as materialized (
         select team_id, approvers, app.approvers_of($1, team_id, 'operator', approvers) as member_ids
         from (select distinct team_id, approvers from waiting where has_electorate) a
       )
       select approval_id, w.team_id, content_hash, kind, priority, risk, expires_at, frozen_ms, may_not_approve,
         case when has_electorate then array(select member_id from unnest(member_ids) member_id
           where member_id <> all(may_not_approve) and not votes ? member_id) end as may_approve, edited_by
       from waiting w left join electorates e
         on has_electorate and e.approvers = w.approvers and e.team_id is not distinct from w.team_id`,
      [scope.workspaceId, approvalIds, new Date(at)],
    );
  }

  /** The same with all that is approved. */
  whole(scope: Scope, approvalIds: readonly string[], at: number): Promise<ApprovalEntity[]> {
    return this.db.read(
      scope,
      `select ${columnsOfApproval()} from approvals
       where workspace_id = $1 and approval_id = any($2) and ${CAN_BE_DECIDED}`,
      [scope.workspaceId, approvalIds, new Date(at)],
    );
  }
}
