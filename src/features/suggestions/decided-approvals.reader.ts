import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Id } from '../../platform/kernel/ids.js';
import type { CapoRole } from '../terms/index.js';

/** An approval that a person has decided, with what its work packets do, or what an agent from outside asked for. */
export interface DecidedApproval {
  approvalId: string;
  directiveId: string | null;
  teamId: Id<'team'> | null;
  /** Null where an agent from outside asked. */
  capo: CapoRole | null;
  /** As its token names it; null for a capo, and for a member's own token. */
  agent: string | null;
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
  /** Of an action request whose tool says whom it reaches: the parameter with that, and what stands there. */
  reaches?: { parameter: string; values: unknown };
}

/** The number of newest decisions that are read. */
const LOOKED_AT = 1_000;

/**
 * Of the parameters only a few facts are read: a mail may be 50 KB long. Those of an action request are the ones that were decided
 * by; one whose tool is not active now, or says where an amount or a recipient stands where none does, has no order in common
 * with others.
 */
const DECIDED = /* sql */ `
select a.approval_id, a.directive_id, a.team_id, a.capo, r.agent, a.status, a.decided_at, a.is_edited,
  case when a.action_request_id is not null then (
    select coalesce(jsonb_agg(jsonb_build_object('type', r.tool, 'target', null, 'destinationId', null, 'amount', f.packet -> 'amount',
        'currency', f.packet -> 'currency', 'recipients', f.packet -> 'recipients') || case when t.recipients_path is null then '{}'
        else jsonb_build_object('reaches', jsonb_build_object('parameter', 'params.' || t.recipients_path,
          'values', r.params #> string_to_array(t.recipients_path, '.'))) end), '[]')
    from (select input -> 'packet' as packet from policy_decisions where workspace_id = $1 and work_packet_id = r.action_request_id
      order by at desc limit 1) f join tools t on t.workspace_id = $1 and t.name = r.tool and t.status = 'active'
    where not (t.amount_path is not null and f.packet #> '{outside,unread}' ? 'amount'
      or t.recipients_path is not null and f.packet #> '{outside,unread}' ? 'recipients'))
  else (select coalesce(jsonb_agg(jsonb_build_object(
      'type', p #>> '{action,type}',
      'target', p #>> '{action,target}',
      'destinationId', case p #>> '{action,type}' when 'webhook.post' then p #>> '{action,params,destinationId}' end,
      'amount', case when jsonb_typeof(p #> '{action,params,amount}') = 'number' then p #> '{action,params,amount}' end,
      'currency', p #>> '{action,params,currency}',
      'recipients', jsonb_array_length(jsonb_path_query_array(p, '$.action.params.to[*]'))
        + jsonb_array_length(jsonb_path_query_array(p, '$.action.params.cc[*]')))), '[]')
    from jsonb_array_elements(a.packets) p) end as packets
from (
  select approval_id, directive_id, action_request_id, team_id, capo, status, decided_at, packets, jsonb_array_length(revisions) > 1 as is_edited
  from approvals
  where workspace_id = $1 and status in ('approved', 'rejected', 'changes_requested') and decided_at > $2
    and (kind = 'output' and capo is not null or kind = 'action')
  order by decided_at desc limit ${LOOKED_AT}
) a left join action_requests r on r.workspace_id = $1 and r.action_request_id = a.action_request_id
order by a.decided_at desc`;

/** What people have decided lately. */
@Injectable()
export class DecidedApprovals {
  constructor(private readonly db: Db) {}

  /** Newest first, of the teams that the scope sees. */
  since(scope: Scope, since: number): Promise<DecidedApproval[]> {
    return this.db.read(scope, DECIDED, [scope.workspaceId, new Date(since)]);
  }
}
