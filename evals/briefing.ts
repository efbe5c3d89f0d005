import type { Briefing } from '../src/features/capos/briefing.js';
import type { CapoRole } from '../src/features/terms/terms.js';
import type { Case } from './case.js';

/** Thursday, 3 December 2026, 10:00 in Berlin. */
const NOW = Date.UTC(2026, 11, 3, 9);
const HOUR = 3_600_000;

/** What the capo knows while it works on the instruction: a small shop in Berlin on an ordinary morning. */
export function briefingOf({ text, context, buyers = [] }: Case, capo: CapoRole): Briefing {
  return {
    workspace: { workspaceId: 'wks_1', name: 'Northwind', timezone: 'Europe/Berlin', locale: 'en-GB' },
    operator: { handle: 'mara', tier: 'pro' },
    sender: { name: 'Mara Klein', signature: null, replyTo: null },
    directive: {
      directiveId: 'dir_1',
      text,
      capo,
      priority: 'medium',
      context: context ?? null,
      deadline: null,
    },
    feedback: [],
    signals: [
      {
        signalId: 'sig_1',
        type: 'connector',
        severity: 'warning',
        title: 'Mail to two addresses bounced',
        body: 'The server of fernbank.example refused two mails since 6:40.',
        score: 0.4,
        createdAt: NOW - 2 * HOUR,
      },
      {
        signalId: 'sig_2',
        type: 'buyer',
        severity: 'info',
        title: 'A buyer came back after 90 days',
        body: 'Elm & Partners opened the price list again.',
        score: null,
        createdAt: NOW - 20 * HOUR,
      },
    ],
    targets: { destinations: [], operations: [] },
    standingOrders: [
      {
        name: 'Mail needs approval',
        text: 'Ask before any mail leaves.',
        effect: 'require_approval',
        capos: [],
      },
    ],
    buyerContext: {
      profiles: buyers.map(({ buyerId, name, email }) => ({
        buyerId,
        segment: null,
        stage: null,
        confidence: null,
        topGap: null,
        updatedAt: NOW - 24 * HOUR,
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email }),
      })),
      aggregate: { count: buyers.length, averageConfidence: null, topGap: null },
    },
    metrics: { currency: 'EUR', revenue24h: 1200, revenue24hByCurrency: { USD: 340 }, signalsScored: 4 },
    guardian: { mode: 'guardrailed', pending: 2 },
    recentPackets: [
      {
        workPacketId: 'pkt_1',
        title: 'Mail to the harbour office',
        type: 'email.send',
        status: 'executed',
        createdAt: NOW - 3 * HOUR,
      },
    ],
    skills: [],
    now: NOW,
  };
}
