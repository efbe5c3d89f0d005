import { Injectable } from '@nestjs/common';
import { decodeTime } from 'ulid';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { type Listing, readPage, where } from '../../platform/database/listing.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { AuditFeedQuery, SentItem, SentQuery } from './audit.dto.js';

/** A receipt as a reader needs it: its place in the chain and the bytes that were hashed. */
export interface LoggedReceipt {
  seq: number;
  body: string;
  prevHash: string;
  hash: string;
}

/** What a reader of the log wants to see; what is left out does not narrow it. */
export type LogFilter = Omit<AuditFeedQuery, 'before' | 'limit' | 'format'>;

const EVERY_ACTION_OF = /\.\*$/;

/** Receipts have no index by id, but an id tells when it was made: only receipts of about that time are looked at. */
const NEAR_MS = 3_600_000;

/**
 * A plan that was made for any value walks the chain from its end, which is quick for what is frequent. What is rare
 * would cost the whole chain: 880 ms for ten receipts of a capo among a million, 0.3 ms by the index.
 */
const PLAN_FOR_THE_VALUES: Statement = { text: 'set local plan_cache_mode = force_custom_plan' };

/** The time itself is only compared, not looked up: the planner would sort every receipt of a long range. */
const AT = `(at + interval '0')`;

/** Receipts that say of an act that it took effect; of what stays inside, no row is wanted. */
const LEFT = /* sql */ `
  r.action in ('packet.executed', 'packet.partly_executed', 'packet.confirmed', 'action.completed', 'action.confirmed')
  and (r.entity_type = 'action_request'
    or exists (select from work_packets o where o.workspace_id = r.workspace_id and o.work_packet_id = r.entity_id
      and o.action_type in ('email.send', 'webhook.post', 'http.call')))`;

const SENT = /* sql */ `r.receipt_id, r.seq, r.at, coalesce(p.title, q.title) as title,
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
const SENT_JOINS = /* sql */ `
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

/** Reads receipts as row-level security shows them to the scope. The platform writes them with each act. */
@Injectable()
export class ReceiptLog {
  constructor(private readonly db: Db) {}

  /** The newest receipts that match, with a smaller number than `before` if that is given. */
  async listBefore(
    scope: Scope,
    filter: LogFilter,
    before: number | undefined,
    limit: number,
  ): Promise<LoggedReceipt[]> {
    const values: unknown[] = [scope.workspaceId];
    const conditions = ['workspace_id = $1'];
    // Only what is asked for stands in the statement: a condition that may be empty would keep the planner from the
    // index that serves it. The combinations are few, so each is prepared once.
    const narrow = (value: unknown, condition: (place: string) => string) => {
      if (value !== undefined) conditions.push(condition(`$${values.push(value)}`));
    };
    const { action, receipt } = filter;
    const made = receipt === undefined ? undefined : decodeTime(receipt.slice('rcp_'.length).toUpperCase());
    const { from = made && made - NEAR_MS, to = made && made + NEAR_MS } = filter;
    const isPrefix = action !== undefined && EVERY_ACTION_OF.test(action);
    narrow(before, (place) => `seq < ${place}`);
    narrow(filter.actor, (place) => `actor_id = ${place}`);
    narrow(isPrefix ? undefined : action, (place) => `action = ${place}`);
    // Not a range of texts: what lies between two of them depends on the database's collation.
    narrow(isPrefix ? action.slice(0, -1) : undefined, (place) => `starts_with(action, ${place})`);
    narrow(filter.capo, (place) => `capo = ${place}`);
    narrow(filter.teamId, (place) => `team_id = ${place}`);
    narrow(filter.entity, (place) => `entity_id = ${place}`);
    narrow(receipt, (place) => `receipt_id = ${place}`);
    narrow(
      from === undefined ? undefined : new Date(from),
      (place) => `${AT} >= ${place} and seq >= app.first_seq_from($1, ${place})`,
    );
    narrow(
      to === undefined ? undefined : new Date(to),
      (place) => `${AT} < ${place} and seq <= app.last_seq_to($1, ${place})`,
    );
    values.push(limit);
    const page: Statement = {
      text: `select seq, body, prev_hash, hash from receipts where ${conditions.join(' and ')}
             order by seq desc limit $${values.length}`,
      values,
    };
    const isFiltered = conditions.length > (before === undefined ? 1 : 2);
    const answers = await this.db.readAll(scope, isFiltered ? [PLAN_FOR_THE_VALUES, page] : [page]);
    return answers.at(-1) as LoggedReceipt[];
  }

  /** The receipts behind `after`, up to and with `upTo`, oldest first. */
  listAfter(scope: Scope, after: number, upTo: number, limit: number): Promise<LoggedReceipt[]> {
    return this.db.read<LoggedReceipt>(
      scope,
      `select seq, body, prev_hash, hash from receipts where workspace_id = $1 and seq > $2 and seq <= $3
       order by seq limit $4`,
      [scope.workspaceId, after, upTo, limit],
    );
  }

  /** Everything that reached the outside, of capos and of agents, with who let it go. */
  listSent(
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
      select: SENT,
      from: 'receipts r',
      joins: SENT_JOINS,
      ...all,
      ...narrowed,
      order: [{ column: 'r.seq', kind: 'number', descending: true }],
    };
    return readPage(this.db, scope, listing, paging);
  }
}
