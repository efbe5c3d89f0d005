import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/terms.js';

/** An approval that a person has decided, with what its work packets do. */
export interface DecidedApproval {
  approvalId: string;
  directiveId: string | null;
  teamId: Id<'team'> | null;
  capo: CapoRole;
  status: 'approved' | 'rejected' | 'changes_requested';
  decidedAt: number;
  /** Whether a person changed what was sent. */
  isEdited: boolean;
  packets: DecidedAction[];
}

export interface DecidedAction {
  type: string;
  target: string | null;
  /** Of a post. */
  destinationId: string | null;
  amount: number | null;
  currency: string | null;
  recipients: number;
}

/** The number of newest decisions that are read. */
const LOOKED_AT = 1_000;

/** Of the parameters only a few facts are read: a mail may be 50 KB long. */
const DECIDED = /* sql */ `
select a.approval_id, a.directive_id, a.team_id, a.capo, a.status, a.decided_at, a.is_edited,
  (select coalesce(jsonb_agg(jsonb_build_object(
      'type', p #>> '{action,type}',
      'target', p #>> '{action,target}',
      'destinationId', case p #>> '{action,type}' when 'webhook.post' then p #>> '{action,params,destinationId}' end,
      'amount', case when jsonb_typeof(p #> '{action,params,amount}') = 'number' then p #> '{action,params,amount}' end,
      'currency', p #>> '{action,params,currency}',
      'recipients', jsonb_array_length(jsonb_path_query_array(p, '$.action.params.to[*]'))
        + jsonb_array_length(jsonb_path_query_array(p, '$.action.params.cc[*]')))), '[]')
    from jsonb_array_elements(a.packets) p) as packets
from (
  select approval_id, directive_id, team_id, capo, status, decided_at, packets, jsonb_array_length(revisions) > 1 as is_edited
  from approvals
  where workspace_id = $1 and status in ('approved', 'rejected', 'changes_requested') and decided_at > $2
    and kind = 'output' and capo is not null
  order by decided_at desc limit ${LOOKED_AT}
) a`;

/** What people have decided lately. */
@Injectable()
export class DecidedApprovals {
  constructor(private readonly db: Db) {}

  /** Newest first, of the teams that the scope sees. */
  since(scope: Scope, since: number): Promise<DecidedApproval[]> {
    return this.db.read(scope, DECIDED, [scope.workspaceId, new Date(since)]);
  }
}
