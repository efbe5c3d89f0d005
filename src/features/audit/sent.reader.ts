import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { type Listing, readPage, where } from '../../platform/database/listing.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { SentItem, SentQuery } from './sent.dto.js';

/** Receipts that say of an act that it took effect; of what stays inside, no row is wanted. */
const LEFT = /* sql */ `
  r.action in ('packet.executed', 'packet.partly_executed', 'packet.confirmed', 'action.completed', 'action.confirmed')
  and (r.entity_type = 'action_request'
    or exists (select from work_packets o where o.workspace_id = r.workspace_id and o.work_packet_id = r.entity_id
      and o.action_type in ('email.send', 'webhook.post', 'http.call')))`;

const SELECT = /* sql */ `r.receipt_id, r.seq, r.at, coalesce(p.title, q.title) as title,
  coalesce(p.action_type, q.tool) as type, left(p.target, 500) as target, p.result->>'transport' as transport,
  q.requested_by->>'name' as agent, r.directive_id, a.approval_id,
  case when a.approval_id is null then '[]' else coalesce(
    (select json_agg(v.value->'by'->>'name' order by v.value->>'at') from jsonb_each(a.votes) v),
    json_build_array(a.decided_by->>'name')) end as approved_by,
  (select coalesce(json_agg(json_build_object('standingOrderId', s.standing_order_id, 'name', s.name)), '[]')
    from jsonb_array_elements(x.decision->'matched') m
    join standing_orders s on s.workspace_id = r.workspace_id and s.standing_order_id = m.value->>'standingOrderId'
    where m.value->>'effect' = 'allow') as allowed_by`;

/** What it was, the approval that allowed it, and without one the last decision that did. */
const JOINS = /* sql */ `
  left join work_packets p on r.entity_type = 'work_packet' and p.workspace_id = r.workspace_id and p.work_packet_id = r.entity_id
  left join action_requests q on r.entity_type = 'action_request' and q.workspace_id = r.workspace_id
    and q.action_request_id = r.entity_id
  left join directives d on d.workspace_id = r.workspace_id and d.directive_id = p.directive_id
  left join approvals a on a.workspace_id = r.workspace_id and a.approval_id = coalesce(q.approval_id, d.approval_id)
    and a.status = 'approved' and p.allowed_by is distinct from 'policy'
  left join lateral (
    select y.decision from policy_decisions y
    where y.workspace_id = r.workspace_id and y.work_packet_id = r.entity_id and y.outcome = 'allow'
    order by y.at desc limit 1) x on a.approval_id is null`;

/** What a standing order counted of late, by a decision that it allowed, and that nobody approved. */
const letGoBy = (order: string) => /* sql */ `
  r.entity_id in (select u.work_packet_id from standing_order_uses u
    where u.workspace_id = $1 and u.standing_order_id = ${order} and u.at > now() - interval '30 days')
  and exists (select from policy_decisions y
    where y.workspace_id = r.workspace_id and y.work_packet_id = r.entity_id and y.outcome = 'allow'
      and y.decision->'matched' @> jsonb_build_array(jsonb_build_object('standingOrderId', ${order}::text, 'effect', 'allow')))
  and not exists (select from work_packets o
    where o.workspace_id = r.workspace_id and o.work_packet_id = r.entity_id and o.allowed_by <> 'policy')
  and not exists (select from action_requests o
    where o.workspace_id = r.workspace_id and o.action_request_id = r.entity_id and o.approval_id is not null)`;

/** Everything that reached the outside, of capos and of agents, with who let it go. */
@Injectable()
export class SentReader {
  constructor(private readonly db: Db) {}

  list(
    scope: Scope,
    { teamId, directiveId, standingOrderId, ...paging }: SentQuery,
  ): Promise<Page<SentItem>> {
    const all = where(
      { 'r.workspace_id': scope.workspaceId, 'r.team_id': teamId, 'r.directive_id': directiveId },
      LEFT,
    );
    const narrowed = standingOrderId !== undefined && {
      where: `${all.where} and ${letGoBy(`$${all.values.length + 1}`)}`,
      values: [...all.values, standingOrderId],
    };
    const listing: Listing = {
      name: 'sent',
      select: SELECT,
      from: 'receipts r',
      joins: JOINS,
      ...all,
      ...narrowed,
      order: [{ column: 'r.seq', kind: 'number', descending: true }],
    };
    return readPage(this.db, scope, listing, paging);
  }
}
