import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type Buyer, type Metric, METRICS, weakestFirst } from './confidence-update.js';
import {
  type BuyerContextView,
  directionOf,
  type MetricConfidence,
  type MetricTrend,
  type PartnerAvatar,
  type PartnerIntelligence,
  type PartnerPersona,
  type RecentUpdate,
  stageOf,
} from './partner.dto.js';

/** Where the buyers stand. */
export interface BuyerFacts {
  /** Null until there was an update. */
  persona: {
    buyers: number;
    /** 0 to 1: the mean over the buyers. */
    confidence: number;
    /** Updates ever accepted. */
    updates: number;
    /** Unix milliseconds. */
    lastEventAt: number;
  } | null;
  metrics: MetricConfidence[];
  /** The 50 of whom something was told last. */
  profiles: (Buyer & { buyerId: string })[];
}

/** What came in within the last 24 hours and 7 days, with the sums of what it changed, and what came last. */
export interface UpdateFacts {
  windows: { metric: Metric; updates24h: number; updates7d: number; delta24h: number; delta7d: number }[];
  recent: RecentUpdate[];
}

/** The payload of `GET /context`; empty until the partner has told something. */
export function personaOf(facts: BuyerFacts, updates: UpdateFacts): PartnerPersona {
  if (!facts.persona) return { avatar: null, intelligence: null, lastEventAt: null };
  return {
    avatar: avatarOf(facts),
    intelligence: intelligenceOf(facts, updates),
    lastEventAt: facts.persona.lastEventAt,
  };
}

/** What a capo is told about the buyers (CONTRACT, Context). */
export function buyerContextOf(facts: BuyerFacts): BuyerContextView {
  const { confidence, weakest, buyers } = avatarOf(facts);
  return {
    profiles: facts.profiles.map((profile) => ({
      buyerId: profile.buyerId,
      segment: null,
      stage: stageOf(profile.confidence),
      confidence: rounded(profile.confidence),
      topGap: profile.topGap,
      updatedAt: profile.updatedAt,
    })),
    aggregate: { count: buyers, averageConfidence: confidence, topGap: weakest },
  };
}

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

/** The persona now: all buyers taken together. */
function avatarOf({ persona, metrics }: BuyerFacts): PartnerAvatar {
  const confidence = rounded(persona?.confidence ?? null);
  const ranked = weakestFirst(metrics);
  return {
    confidence,
    stage: confidence === null ? null : stageOf(confidence),
    metrics: metrics
      .toSorted((a, b) => METRICS.indexOf(a.metric) - METRICS.indexOf(b.metric))
      .map((known) => ({ ...known, confidence: rounded(known.confidence) })),
    strongest: ranked.at(-1) ?? null,
    weakest: ranked[0] ?? null,
    buyers: persona?.buyers ?? 0,
    lastEventAt: persona?.lastEventAt ?? null,
  };
}

/** What moves the buyers, and where to. */
function intelligenceOf(facts: BuyerFacts, { windows, recent }: UpdateFacts): PartnerIntelligence {
  const avatar = avatarOf(facts);
  const total = (count: 'updates24h' | 'updates7d') =>
    windows.reduce((sum, window) => sum + window[count], 0);
  return {
    counts: {
      buyers: avatar.buyers,
      updates: facts.persona?.updates ?? 0,
      updates24h: total('updates24h'),
      updates7d: total('updates7d'),
    },
    topGap: avatar.weakest,
    trends: avatar.metrics.map((known) =>
      trendOf(
        known,
        windows.find(({ metric }) => metric === known.metric),
      ),
    ),
    recent,
    lastEventAt: avatar.lastEventAt,
  };
}

function trendOf(
  { metric, confidence, buyers }: MetricConfidence,
  window: UpdateFacts['windows'][number] | undefined,
): MetricTrend {
  const change7d = rounded((window?.delta7d ?? 0) / buyers);
  return {
    metric,
    confidence,
    direction: directionOf(change7d),
    change24h: rounded((window?.delta24h ?? 0) / buyers),
    change7d,
    updates24h: window?.updates24h ?? 0,
    updates7d: window?.updates7d ?? 0,
  };
}

/** Four digits: what lies behind them is the error of doubles. */
function rounded(value: number): number;

function rounded(value: number | null): number | null;

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1e4) / 1e4;
}
