import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type LoggedReceipt, listedReceipt } from '../audit/index.js';
import {
  BUYER_FACTS,
  type BuyerFacts,
  UPDATE_FACTS,
  type UpdateFacts,
  buyerContextOf,
  personaOf,
} from '../partner/index.js';
import type { ContextView } from './context.dto.js';

/** How much of a text stands in a list, in characters; whole texts stand in the single records. */
const LISTED_TEXT = 1_000;

/** Each list holds the newest 50 that the caller may see; row-level security leaves out the rest. */
export const CONTEXT = /* sql */ `
select
  (select coalesce(json_agg(s), '[]') from (
    select signal_id as "signalId", type, severity, title, left(body, ${LISTED_TEXT}) as body, score, source, team_id as "teamId", capo, entity,
      app.ms(created_at) as "createdAt", app.ms(acknowledged_at) as "acknowledgedAt",
      acknowledged_by as "acknowledgedBy", app.ms(snoozed_until) as "snoozedUntil"
    from signals where workspace_id = $1 and withdrawn_at is null order by created_at desc limit 50) s) as signals,
  (select coalesce(json_agg(p), '[]') from (
    select work_packet_id as "workPacketId", directive_id as "directiveId", team_id as "teamId", capo, engine, title,
      kind, json_build_object('type', action_type, 'target', left(target, ${LISTED_TEXT})) as action, reversibility,
      status,
      case when decision is not null then json_build_object('outcome', decision->'outcome') end as decision,
      leverage_score as "leverageScore", multipliers, left(rationale, ${LISTED_TEXT}) as rationale, cost, attempts,
      case when status = 'queued' then app.ms(throttled_until) end as "throttledUntil",
      app.ms(created_at) as "createdAt", app.ms(executed_at) as "executedAt", receipt_id as "receiptId"
    from work_packets where workspace_id = $1 order by created_at desc, position limit 50) p) as work_packets,
  (select coalesce(json_agg(o), '[]') from (
    select standing_order_id as "standingOrderId", name, left(text, ${LISTED_TEXT}) as text, team_id as "teamId", capos, status, version, effect,
      limits, budget, app.ms(expires_at) as "expiresAt", held_because as "heldBecause", null as simulation,
      null as "evalRunId", hash, created_by as "createdBy", app.ms(created_at) as "createdAt",
      app.ms(updated_at) as "updatedAt", app.ms(activated_at) as "activatedAt"
    from standing_orders where workspace_id = $1 and status = 'active' order by created_at desc limit 50) o)
    as standing_orders,
  (select coalesce(json_agg(json_build_object('body', body, 'seq', seq, 'prevHash', prev_hash, 'hash', hash)), '[]')
    from (select body, seq, prev_hash, hash from receipts where workspace_id = $1 order by seq desc limit 50) r)
    as receipts,
  json_build_object(
    'revenue24h', (select coalesce(sum(amount), 0) from app.revenue_since($1, $2::timestamptz - interval '1 day') r
      where r.currency = (select currency from workspaces where workspace_id = $1)),
    'signalsScored', coalesce((select n from app.tally_of($1, 'signals') where key = 'scored'), 0)) as metrics,
  (select json_build_object('mode', mode, 'pending', (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
    where split_part(key, ' ', 1) in ('pending', 'ready'))) from guardians where workspace_id = $1) as guardian,
  (select json_build_object('seq', seq, 'hash', hash) from receipt_heads where workspace_id = $1) as receipt_head,
  ${BUYER_FACTS} as buyers,
  ${UPDATE_FACTS} as updates`;

type Row = Pick<
  ContextView,
  'signals' | 'workPackets' | 'standingOrders' | 'metrics' | 'guardian' | 'receiptHead'
> & { receipts: LoggedReceipt[]; buyers: BuyerFacts; updates: UpdateFacts };

/** `GET /context`: everything at once, in one statement and one round trip. */
@Injectable()
export class ContextReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async read(caller: Caller): Promise<ContextView> {
    const now = this.clock.now();
    const [row] = await this.db.read<Row>(scopeOf(caller), CONTEXT, [caller.workspaceId, new Date(now)]);
    const { receipts, buyers, updates, ...shared } = row!;
    return {
      generatedAt: new Date(now).toISOString(),
      // One token is one session: the same client finds the same id in each answer.
      sessionId: `ses_${caller.credentialId.slice('tok_'.length)}`,
      operator: { handle: caller.name, tier: caller.tier },
      ...shared,
      auditFeed: receipts.map(listedReceipt),
      buyerContext: buyerContextOf(buyers),
      partner: personaOf(buyers, updates),
    };
  }
}
