import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Metric } from './confidence-update.js';
import type { PartnerAvatar, PartnerIntelligence } from './partner.dto.js';
import { avatarOf, type BuyerFacts, intelligenceOf, type UpdateFacts } from './persona.js';

/** The section `trustIntelligence` of a report (SPECIFICATION, Daily Report). */
interface TrustFigures {
  /** Confidence updates that came in. */
  scoresCompleted: number;
  /** 0 to 1: the mean of the confidences they told; null without any. */
  averageScore: number | null;
  /** The metric, beside `overall`, whose confidences were the lowest on average. */
  topGap: Metric | null;
}

const TRUST_FIGURES = /* sql */ `
select coalesce(sum(scores), 0)::bigint as scores_completed, sum(total) / nullif(sum(scores), 0) as average_score,
  (array_agg(metric order by total / scores, metric) filter (where metric <> 'overall'))[1] as top_gap
from (
  select metric, count(*) as scores, sum(new_confidence) as total from partner_events
  where workspace_id = $1 and received_at >= $2 and received_at < $3 group by metric) m`;

@Injectable()
export class TrustFiguresReader {
  constructor(private readonly db: Db) {}

  /** What came in from `from` up to, and without, `to`: Unix milliseconds, by the time of receipt as in the receipts. */
  async read(scope: Scope, from: number, to: number): Promise<TrustFigures> {
    const [figures] = await this.db.read<TrustFigures>(scope, TRUST_FIGURES, [
      scope.workspaceId,
      new Date(from),
      new Date(to),
    ]);
    return figures!;
  }
}

/** `BuyerFacts` of the workspace $1, as JSON; a part of each statement that shows the buyers. */
export const BUYER_FACTS = /* sql */ `json_build_object(
  'persona', (
    select json_build_object('buyers', buyers, 'confidence', confidence_sum / buyers, 'updates', updates,
      'lastEventAt', app.ms(last_event_at))
    from personas where workspace_id = $1),
  'metrics', (
    select coalesce(json_agg(json_build_object('metric', metric, 'buyers', buyers, 'confidence', confidence_sum / buyers)),
      '[]')
    from persona_metrics where workspace_id = $1),
  'profiles', (select coalesce(json_agg(p), '[]') from (
    select buyer_id as "buyerId", confidence, top_gap as "topGap", app.ms(updated_at) as "updatedAt"
    from buyers where workspace_id = $1 order by updated_at desc, buyer_id limit 50) p))`;

/** `UpdateFacts` of the workspace $1 at the time $2, as JSON. */
export const UPDATE_FACTS = /* sql */ `json_build_object(
  'windows', (select coalesce(json_agg(json_build_object('metric', d7.metric, 'updates24h', coalesce(d1.n, 0),
      'updates7d', d7.n, 'delta24h', coalesce(d1.delta, 0), 'delta7d', d7.delta)), '[]')
    from app.partner_since($1, $2::timestamptz - interval '7 days') d7
    left join app.partner_since($1, $2::timestamptz - interval '24 hours') d1 using (metric)),
  'recent', (select coalesce(json_agg(r), '[]') from (
    select partner_event_id as "partnerEventId", customer_entitlement_id as "buyerId", metric, delta,
      new_confidence as "newConfidence", app.ms(fired_at) as "firedAt"
    from partner_events where workspace_id = $1 order by received_at desc, partner_event_id limit 20) r))`;

/** What the updates add up to (CONTRACT, Partner). */
@Injectable()
export class PersonaReader {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  async avatar(scope: Scope): Promise<PartnerAvatar> {
    const [row] = await this.db.read<{ buyers: BuyerFacts }>(scope, `select ${BUYER_FACTS} as buyers`, [
      scope.workspaceId,
    ]);
    return avatarOf(row!.buyers);
  }

  async intelligence(scope: Scope): Promise<PartnerIntelligence> {
    const [row] = await this.db.read<{ buyers: BuyerFacts; updates: UpdateFacts }>(
      scope,
      `select ${BUYER_FACTS} as buyers, ${UPDATE_FACTS} as updates`,
      [scope.workspaceId, new Date(this.clock.now())],
    );
    return intelligenceOf(row!.buyers, row!.updates);
  }
}
