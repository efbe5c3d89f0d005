/** The tables of SPECIFICATION.md, as far as they speak of routes. */

export interface SpecifiedRoute {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Every spelling; `{x}` as the specification writes a parameter. */
  paths: readonly [string, ...string[]];
  /** Requests and seconds; without it the route is not in the table of limits. */
  limit?: readonly [number, number];
  /** Called with a signature of the partner instead of the operator token. */
  signed?: true;
}

const route = (
  method: SpecifiedRoute['method'],
  paths: string | readonly [string, ...string[]],
  limit?: readonly [number, number],
): SpecifiedRoute => ({
  method,
  paths: typeof paths === 'string' ? [paths] : paths,
  ...(limit && { limit }),
});

const MINUTE = 60;

/** "Endpoints" with "Per-route limits": what is there. */
export const SPECIFIED: readonly SpecifiedRoute[] = [
  route('GET', '/api/pro/context', [60, MINUTE]),
  route('GET', '/api/pro/agents'),
  route('POST', '/api/pro/directives'),
  route('GET', '/api/pro/directives/{directive_id}'),
  route('POST', '/api/pro/directive', [20, MINUTE]),
  route('GET', '/api/pro/approvals', [30, MINUTE]),
  route('POST', '/api/pro/approvals', [30, MINUTE]),
  route('POST', '/api/pro/approvals/{approval_id}/approve'),
  route('POST', '/api/pro/approvals/{approval_id}/reject'),
  route('GET', '/api/pro/bootstrap', [20, MINUTE]),
  route('GET', '/api/pro/feed', [30, MINUTE]),
  route('GET', '/api/pro/metrics', [30, MINUTE]),
  route('GET', '/api/pro/kpi'),
  route('POST', '/api/pro/revenue-events', [30, MINUTE]),
  route('POST', '/api/pro/ack', [30, MINUTE]),
  route('POST', '/api/pro/escalations/decide', [20, MINUTE]),
  route('GET', '/api/pro/work-packets', [20, MINUTE]),
  route('GET', '/api/pro/audit-feed', [30, MINUTE]),
  route('POST', ['/api/pro/guardian/kill-switch', '/api/pro/guardian/killswitch'], [30, MINUTE]),
  route('POST', '/api/pro/guardian/revert', [20, MINUTE]),
  route('POST', '/api/pro/guardian/checkpoint', [30, MINUTE]),
  route('POST', '/api/pro/guardian/preflight', [60, MINUTE]),
  route('GET', '/api/pro/engines', [30, MINUTE]),
  route('GET', '/api/pro/profile', [20, MINUTE]),
  route('PUT', '/api/pro/settings'),
  route('GET', '/api/pro/standing-orders', [30, MINUTE]),
  route('POST', '/api/pro/standing-orders', [30, MINUTE]),
  route('GET', '/api/pro/skill-packs', [30, MINUTE]),
  route('POST', '/api/pro/skill-packs', [30, MINUTE]),
  { ...route('POST', '/api/pro/partner/induction', [60, MINUTE]), signed: true },
  route('GET', '/api/pro/partner/avatar', [5, MINUTE]),
  route('GET', '/api/pro/partner/intelligence', [5, MINUTE]),
  route('GET', '/api/pro/reports/daily'),
  route('GET', '/api/pro/reports'),
  route('PUT', '/api/pro/reports/config'),
  route('POST', '/api/pro/reports/custom-sections'),
  route('POST', '/api/pro/evals/run'),
  route('POST', '/api/pro/webhooks'),
  route('POST', '/api/pro/teams'),
  route('POST', '/api/pro/teams/{id}/members'),
  route('DELETE', '/api/pro/teams/{id}/members/{uid}'),
  route('POST', '/api/pro/partner/webhooks', [5, MINUTE]),
  route('POST', '/api/pro/subscription/verify', [60, 60 * MINUTE]),
  route('POST', '/api/pro/family/comment', [30, MINUTE]),
  route('POST', '/api/pro/consigliere/chat', [30, MINUTE]),
  route('POST', '/api/local/hydrate', [5, 60 * MINUTE]),
];

/** "Routes without a number" (CONTRACT section 3). */
export const UNNUMBERED = { read: [60, MINUTE], mutation: [30, MINUTE] } as const;
