import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { firstPending, partsOfPending, soonAfter } from '../approvals/index.js';
import { titleOf } from '../directives/index.js';
import { MOST_URGENT_ESCALATIONS } from '../escalations/index.js';
import type { CapoRole } from '../terms/index.js';
import { COUNTED_ACTIONS, type CountedReceipt, FiguresOfReceipts, MOST_LISTED } from '../verifier/index.js';
import type { ReportedApproval, ReportedDirective, ReportedEscalation, ReportedEvent } from './report.js';

/** What is open at one moment, with the last receipt of that moment. */
export interface OpenNow {
  head: { seq: number; hash: string };
  mode: string;
  pending: number;
  pendingMoves: number;
  queued: number;
  /** How many of the approvals are urgent, and the first of them by their ids. */
  urgent: number;
  urgentIds: string[];
  approvals: ReportedApproval[];
  escalationsOpen: number;
  escalations: ReportedEscalation[];
  directives: ReportedDirective[];
}

/** The receipts of a day, counted. */
export interface CountedDay {
  figures: FiguresOfReceipts;
  /** The first events of the day. */
  events: ReportedEvent[];
}

/** So many urgent approvals stand in the receipt of a report. */
const MOST_URGENT = 500;
const CHUNK = 10_000;

const PENDING = `workspace_id = $1 and status = 'pending'`;
const { always, soon, soonSinceKill } = partsOfPending(PENDING, '$2');

/**
 * Of each receipt only what is counted: the body of a draft with many decisions is large. What the database cannot read as JSON
 * has an escape in it (of a control character, or of half of a surrogate pair), and is answered whole.
 */
const COUNTED = /* sql */ `
select coalesce(c.body->>'action', r.action) as action, coalesce(c.body->>'capo', r.capo) as capo, r.entity_id,
  (c.body->>'at')::float8 as at, c.body->>'receiptId' as receipt_id, c.body->'entity' as entity, c.body->>'directiveId' as directive_id,
  c.body->>'summary' as summary, case when c.body is null then r.body end as whole,
  jsonb_build_object('amount', d->'amount', 'currency', d->'currency', 'packets', d->'packets', 'metric', d->'metric',
    'newConfidence', d->'newConfidence', 'cost', d->'cost', 'engine', d->'engine', 'model', d->'model',
    'actionType', d->'actionType', 'agent', d->'agent', 'tool', d->'tool', 'actionRequestId', d->'actionRequestId', 'again', d->'again', 'target', d->'target', 'code', d->'code',
    'result', jsonb_build_object('transport', d->'result'->'transport', 'recipients', d->'result'->'recipients'),
    'decisions', case when r.action = 'directive.drafted' and jsonb_typeof(d->'decisions') = 'array' then
      (select jsonb_agg(jsonb_build_object('outcome', one->'outcome')) from jsonb_array_elements(d->'decisions') one) end) as details
from receipts r
cross join lateral (select case when strpos(r.body, '\\u') = 0 then r.body::jsonb end as body offset 0) c
cross join lateral (select c.body->'details' as d offset 0) e
where r.workspace_id = $1 and r.seq between $2 and $3 and (r.action = any($4) or r.body like '%"cost":{%')
order by r.seq`;

/** One statement is one moment: the rows are what the receipts up to the head say. */
const OPEN = /* sql */ `
with urgent as materialized (
  ${[always, soon, soonSinceKill].map((part) => `select approval_id, requested_at from approvals where ${part}`).join(' union all ')}
),
listed as materialized (${firstPending(PENDING, '$2', MOST_LISTED)})
select
  (select json_build_object('seq', seq, 'hash', hash) from receipt_heads where workspace_id = $1) as head,
  (select mode from guardians where workspace_id = $1) as mode,
  (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
    where split_part(key, ' ', 1) in ('pending', 'ready')) as pending,
  (select coalesce(sum(n), 0) from app.tally_of($1, 'packets') where key = 'awaiting_approval') as pending_moves,
  (select coalesce(sum(n), 0) from app.tally_of($1, 'directives')
    where split_part(key, ' ', 1) in ('queued', 'executing', 'sending', 'halted')) as queued,
  (select count(*) from urgent) as urgent,
  (select coalesce(json_agg(approval_id), '[]') from
    (select approval_id from urgent order by requested_at, approval_id limit ${MOST_URGENT}) u) as urgent_ids,
  (select coalesce(json_agg(json_build_object('approvalId', a.approval_id, 'title', a.title, 'capo', a.capo, 'agent', case when a.directive_id is null then a.requested_by->>'name' end,
      'priority', a.priority, 'requestedAt', app.ms(a.requested_at), 'expiresAt', app.ms(a.expires_at))
      order by l.part, l.requested_at, l.approval_id), '[]')
    from listed l join approvals a on a.approval_id = l.approval_id) as approvals,
  (select count(*) from escalations where workspace_id = $1 and status = 'open') as escalations_open,
  (select coalesce(json_agg(e), '[]') from (
    select escalation_id as "escalationId", kind, reason, options, app.ms(created_at) as "createdAt", app.ms(due_at) as "dueAt"
    from escalations where workspace_id = $1 and status = 'open' order by ${MOST_URGENT_ESCALATIONS} limit ${MOST_LISTED}) e) as escalations,
  (select coalesce(json_agg(d), '[]') from (
    select directive_id as "directiveId", capo, text, app.ms(deadline) as deadline from directives
    where workspace_id = $1 and status in ('queued', 'executing', 'sending', 'halted')
    order by directives.deadline nulls last, created_at, directive_id limit ${MOST_LISTED}) d) as directives`;

type CountedRow = CountedReceipt & { entityId: string; whole: string | null };

type OpenRow = Omit<OpenNow, 'approvals' | 'escalations' | 'directives'> & {
  escalations: (Omit<ReportedEscalation, 'createdAt' | 'dueAt'> & {
    createdAt: number;
    dueAt: number | null;
  })[];
  approvals: (Omit<ReportedApproval, 'requestedAt' | 'expiresAt'> & {
    requestedAt: number;
    expiresAt: number;
  })[];
  directives: { directiveId: string; capo: CapoRole | null; text: string; deadline: number | null }[];
};

@Injectable()
export class ReportFactsReader {
  constructor(private readonly db: Db) {}

  async open(scope: Scope, at: number): Promise<OpenNow> {
    const [row] = await this.db.read<OpenRow>(scope, OPEN, [scope.workspaceId, soonAfter(at)]);
    const { approvals, escalations, directives, ...counted } = row!;
    return {
      ...counted,
      approvals: approvals.map((one) => ({
        ...one,
        requestedAt: isoOf(one.requestedAt),
        expiresAt: isoOf(one.expiresAt),
      })),
      escalations: escalations.map((one) => ({
        ...one,
        createdAt: isoOf(one.createdAt),
        dueAt: one.dueAt === null ? null : isoOf(one.dueAt),
      })),
      directives: directives.map(({ directiveId, capo, text, deadline }) => ({
        directiveId,
        capo,
        title: titleOf(text),
        deadline: deadline === null ? null : isoOf(deadline),
      })),
    };
  }

  /** The number of the last receipt before this moment; 0 where there is none. */
  async lastBefore(scope: Scope, at: number): Promise<number> {
    const [row] = await this.db.read<{ seq: number }>(
      scope,
      'select seq from receipts where workspace_id = $1 and at < $2 order by at desc, seq desc limit 1',
      [scope.workspaceId, new Date(at)],
    );
    return row?.seq ?? 0;
  }

  /** Counts the receipts from one number to another, in pieces. */
  async day(scope: Scope, from: number, to: number): Promise<CountedDay> {
    const figures = new FiguresOfReceipts();
    const eventIds: string[] = [];
    for (let next = from; next <= to;) {
      const last = Math.min(to, next + CHUNK - 1);
      const values = [scope.workspaceId, next, last, COUNTED_ACTIONS];
      for (const { entityId, whole, ...picked } of await this.db.read<CountedRow>(scope, COUNTED, values)) {
        const receipt = whole === null ? picked : (JSON.parse(whole) as CountedReceipt);
        figures.receipt(receipt);
        if (receipt.action.startsWith('revenue.') && eventIds.length < MOST_LISTED) eventIds.push(entityId);
      }
      next = last + 1;
    }
    return { figures, events: await this.events(scope, eventIds) };
  }

  private async events(scope: Scope, eventIds: readonly string[]): Promise<ReportedEvent[]> {
    if (eventIds.length === 0) return [];
    const rows = await this.db.read<Omit<ReportedEvent, 'occurredAt'> & { occurredAt: number }>(
      scope,
      `select e.event_id, e.amount, e.currency, e.source, e.description, e.occurred_at
       from unnest($2::text[]) with ordinality as listed (event_id, n)
       join revenue_events e on e.workspace_id = $1 and e.event_id = listed.event_id order by listed.n`,
      [scope.workspaceId, eventIds],
    );
    return rows.map((row) => ({ ...row, occurredAt: isoOf(row.occurredAt) }));
  }
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
