import type { Tier } from '../auth/caller.js';
import type { TierLimits } from './tier-limits.dto.js';

/** How often one address may call one route. */
export interface RouteLimit {
  limit: number;
  windowSeconds: number;
  /** Routes that name the same bucket are counted together. */
  bucket?: string;
  /** Counted in this process and shown in the headers, but never refused. */
  neverRefused?: boolean;
}

const perMinute = (limit: number) => ({ limit, windowSeconds: 60 });
const perHour = (limit: number) => ({ limit, windowSeconds: 3600 });

/** SPECIFICATION, Limits, "Per-route limits". Both spellings, and every method, of a route share its bucket. */
const SPECIFIED = {
  '/api/pro/context': perMinute(60),
  '/api/pro/profile': perMinute(20),
  '/api/pro/bootstrap': perMinute(20),
  '/api/pro/feed': perMinute(30),
  '/api/pro/metrics': perMinute(30),
  '/api/pro/revenue-events': perMinute(30),
  '/api/pro/ack': perMinute(30),
  '/api/pro/approvals': perMinute(30),
  '/api/pro/work-packets': perMinute(20),
  '/api/pro/audit-feed': perMinute(30),
  '/api/pro/standing-orders': perMinute(30),
  '/api/pro/skill-packs': perMinute(30),
  '/api/pro/directive': perMinute(20),
  '/api/pro/family/comment': perMinute(30),
  '/api/pro/guardian/checkpoint': perMinute(30),
  '/api/pro/guardian/killswitch': perMinute(30),
  '/api/pro/guardian/preflight': perMinute(60),
  '/api/pro/guardian/revert': perMinute(20),
  '/api/pro/consigliere/chat': perMinute(30),
  '/api/pro/engines': perMinute(30),
  '/api/pro/partner/avatar': perMinute(5),
  '/api/pro/partner/intelligence': perMinute(5),
  '/api/pro/partner/induction': perMinute(60),
  '/api/pro/partner/webhooks': perMinute(5),
  '/api/pro/escalations/decide': perMinute(20),
  '/api/pro/subscription/verify': perHour(60),
  '/api/local/hydrate': perHour(5),
} satisfies Record<string, RouteLimit>;

/** The limit that SPECIFICATION gives this path; routes that name it share one bucket. */
export function specified(path: keyof typeof SPECIFIED): RouteLimit {
  return { ...SPECIFIED[path], bucket: path };
}

/** Routes without a number in the specification (CONTRACT section 3). */
export const READS: RouteLimit = perMinute(60);
export const MUTATIONS: RouteLimit = perMinute(30);

/** What scrapers of the operator's own machines may do. */
export const SCRAPES: RouteLimit = perMinute(600);
/** A probe that is refused takes a healthy process out of service, and one that counts in the database depends on it. */
export const PROBES: RouteLimit = { ...perMinute(600), neverRefused: true };

/** SPECIFICATION, Limits, "Tier limits", per workspace; enterprise has none. */
export const TIER_LIMITS: Record<Tier, { minute: number; day: number } | undefined> = {
  free: { minute: 10, day: 100 },
  pro: { minute: 120, day: 10_000 },
  enterprise: undefined,
};

/** What agents together may use of the tier, in per cent: the rest is kept for people, who read, approve and revert. */
const AGENTS_PERCENT = 80;

/** The limit of the tier as it holds for a request of an agent. */
export function forAgents(limit: number): { limit: number; tierLimit: number } {
  return { limit: Math.floor((limit * AGENTS_PERCENT) / 100), tierLimit: limit };
}

/** The same as it is told to clients. */
export function tierLimitsOf(tier: Tier): TierLimits {
  const limits = TIER_LIMITS[tier];
  return { requestsPerMinute: limits?.minute ?? null, requestsPerDay: limits?.day ?? null };
}
