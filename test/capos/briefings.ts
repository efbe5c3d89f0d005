import type { Briefing, DirectiveBrief } from '../../src/features/capos/briefing.js';
import type { CapoRole } from '../../src/features/capos/capo.js';

/** Thursday, 3 December 2026, 10:00 in Berlin. */
const NOW = Date.UTC(2026, 11, 3, 9);

type Changes = Omit<Partial<Briefing>, 'directive' | 'feedback'> & {
  directive?: Partial<DirectiveBrief>;
  feedback?: string[];
};

export function briefing(
  text: string,
  capo: CapoRole,
  { directive, feedback = [], ...changes }: Changes = {},
): Briefing {
  return {
    workspace: { workspaceId: 'wks_1', name: 'Northwind', timezone: 'Europe/Berlin', locale: 'en-GB' },
    operator: { handle: 'mara', tier: 'pro' },
    sender: { name: 'Mara Klein', signature: null, replyTo: null },
    directive: {
      directiveId: 'dir_1',
      text,
      capo,
      priority: 'medium',
      context: null,
      deadline: null,
      ...directive,
    },
    feedback: feedback.map((request, at) => ({
      round: at + 1,
      text: request,
      previous: { summary: 'A mail is ready.', body: 'Hello', packets: [] },
    })),
    signals: [],
    standingOrders: [],
    buyerContext: { profiles: [], aggregate: { count: 0, averageConfidence: null, topGap: null } },
    metrics: { currency: 'EUR', revenue24h: 1200, revenue24hByCurrency: {}, signalsScored: 4 },
    guardian: { mode: 'guardrailed', pending: 2 },
    recentPackets: [],
    skills: [],
    targets: { destinations: [], operations: [] },
    now: NOW,
    ...changes,
  };
}
