import type { AllSections, DailyReport, WrittenSection } from '../../src/features/reports/report.js';
import { CAPO_ROLES } from '../../src/features/terms/terms.js';
import { FiguresOfReceipts } from '../../src/features/verifier/report-figures.js';

type Written = Omit<WrittenSection, 'directive'>;

/** A section that a capo has written. */
export function written(body: string, title = 'Pipeline'): Written {
  return {
    sectionId: 'sec_01khqw6q006hs686p8sr7arg9t',
    title,
    capo: 'capo_revenue',
    status: 'done',
    body,
    error: null,
  };
}

function act(index: number, type: string, summary: string, to: string | null = null) {
  return {
    receiptId: `rcp_${index}`,
    at: '2026-02-17T15:12:00.000Z',
    entity: { type, id: `${type}_${index}` },
    directiveId: type === 'guardian' ? null : 'dir_01khqw6q006hs686p8sr7arg9t',
    summary,
    to,
  };
}

/** A report of a day on which much happened, with as much in its lists as they hold. */
export function fullReport(customSections: Written[] = []): DailyReport & { sections: AllSections } {
  const figures = new FiguresOfReceipts().in('EUR');
  const n = Array.from({ length: 20 }, (_, index) => index);
  return {
    reportId: 'rpt_01khq1ntg0a5m3k4s8xw2v7c9d',
    date: '2026-02-17',
    timezone: 'Europe/Vienna',
    generatedAt: '2026-02-18T06:00:00.412Z',
    partial: false,
    currency: 'EUR',
    headline: '42 directives executed, 1,204.50 EUR earned, 31 approvals waiting (4 urgent).',
    sections: {
      revenue: {
        total: 1_204.5,
        currency: 'EUR',
        byCurrency: { USD: 99.9, JPY: 12_000 },
        eventsTotal: 31,
        events: n.map((index) => ({
          eventId: `rev_${index}`,
          amount: 40.15,
          currency: 'EUR',
          source: 'shop.northwind.example',
          description: `Order 47${index} of Jane Doe, Acme GmbH`,
          occurredAt: '2026-02-17T15:12:00.000Z',
        })),
      },
      agentActivity: {
        directivesExecuted: 42,
        movesApproved: 57,
        movesBlocked: 3,
        movesSent: 31,
        movesUndone: 20,
        notDoneTotal: 24,
        directivesFailed: 3,
        directivesRejected: 1,
        directivesExpired: 1,
        sent: n.map((index) =>
          act(index, 'packet', 'Ops sent the mail "The delivery arrives on Friday".', 'jane@acme.example'),
        ),
        undone: n.map((index) => act(index, 'packet', 'Ops withdrew "The delivery arrives on Friday".')),
        notDone: n.map((index) =>
          act(index, 'directive', '"Record revenue" ended as failed: Nothing was prepared.'),
        ),
        capos: Object.fromEntries(
          CAPO_ROLES.map((capo) => [
            capo,
            { directivesExecuted: 8, movesApproved: 11, movesBlocked: 1, cost: 0 },
          ]),
        ) as AllSections['agentActivity']['capos'],
      },
      approvalQueue: {
        pending: 31,
        urgent: 4,
        items: n.map((index) => ({
          approvalId: `apr_${index}`,
          title: `Mail to jane@acme.example: your order 47${index} arrives on Friday`,
          capo: 'capo_ops',
          priority: 'high',
          requestedAt: '2026-02-17T15:12:00.000Z',
          expiresAt: '2026-02-20T15:12:00.000Z',
        })),
      },
      trustIntelligence: { scoresCompleted: 4, averageScore: 0.62, topGap: 'price_fit' },
      costLedger: {
        ...figures.costLedger,
        byCurrency: { USD: 1.234567 },
        byCapo: [{ capo: 'capo_ops', currency: 'USD', amount: 1.234567 }],
        byModel: [
          {
            model: 'a-model',
            currency: 'USD',
            amount: 1.234567,
            tokensIn: 210_000,
            tokensOut: 38_000,
            calls: 31,
          },
        ],
        budget: { limit: 10, unit: 'amount', currency: 'USD' },
      },
      guardianState: {
        mode: 'guardrailed',
        pendingMoves: 35,
        blockedMoves: 3,
        kills: 2,
        reverts: 2,
        recoveries: 0,
        acts: [act(0, 'guardian', 'Ada engaged the kill switch: The prices are wrong.')],
      },
      tomorrowQueue: {
        total: 2,
        items: [
          {
            directiveId: 'dir_1',
            capo: 'capo_marketing',
            title: 'Draft the newsletter of March',
            deadline: '2026-02-20T15:00:00.000Z',
          },
          { directiveId: 'dir_2', capo: null, title: 'Answer the open questions of Globex', deadline: null },
        ],
      },
    },
    customSections,
    receiptRange: { from: 1_021, to: 1_204 },
    receiptHead: { seq: 1_236, hash: 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa' },
  };
}
