import { describe, expect, it } from 'vitest';
import { type HeadlineFigures, headlineOf } from '../../src/features/verifier/daily-report.js';

function headline(revenue: HeadlineFigures['revenue']): string {
  return headlineOf({
    revenue,
    agentActivity: { directivesExecuted: 1, movesBlocked: 0 },
    approvalQueue: { pending: 0, urgent: 0 },
    guardianState: { mode: 'guardrailed' },
  });
}

describe('the headline of a report', () => {
  it.each([
    ['earned', { total: 120, currency: 'USD', byCurrency: {} }, '120.00 USD earned, '],
    ['reversed', { total: -120, currency: 'USD', byCurrency: {} }, '120.00 USD reversed, '],
    [
      'reversed in one currency and earned in another',
      { total: -0.5, currency: 'USD', byCurrency: { EUR: 7 } },
      '0.50 USD reversed, 7.00 EUR earned, ',
    ],
    ['neither', { total: 0, currency: 'USD', byCurrency: {} }, ''],
  ])('tells what was %s', (_what, revenue, told) => {
    expect(headline(revenue)).toBe(`1 directive executed, ${told}0 approvals waiting.`);
  });
});
