import { derivedId, type Id } from '../../platform/kernel/ids.js';
import { counted, cutText, money, readableNumber } from '../../platform/kernel/text.js';
import type { ReportFigures } from './report-figures.js';

/** What follows from the day of a Daily Report and its numbers alone: the service and the verifier both compute it so. */

/** How many events, approvals and directives a report lists; of the others it says how many there are. */
export const MOST_LISTED = 20;

type EndedCount = 'directivesFailed' | 'directivesRejected' | 'directivesExpired';

/** The numbers that a headline tells. */
export interface HeadlineFigures {
  revenue: Pick<ReportFigures['revenue'], 'total' | 'currency' | 'byCurrency'>;
  agentActivity: Pick<ReportFigures['agentActivity'], 'directivesExecuted' | 'movesBlocked'> &
    Partial<Pick<ReportFigures['agentActivity'], EndedCount | 'movesUndone'>>;
  approvalQueue: { pending: number; urgent: number };
  guardianState: { mode: string; kills?: number };
}

const LONGEST_HEADLINE = 300;

/** The id of the report of a day; the day has it before its report is made, too. */
export function reportIdOf(workspaceId: string, date: string): Id<'rpt'> {
  return derivedId('rpt', Date.parse(date), `${workspaceId} ${date}`);
}

/** The day in one line: numbers alone, since all subscribers get it. */
export function headlineOf(figures: HeadlineFigures): string {
  const { revenue, agentActivity, approvalQueue, guardianState } = figures;
  const earned = [[revenue.currency, revenue.total] as const, ...Object.entries(revenue.byCurrency)].filter(
    ([, amount]) => amount !== 0,
  );
  const { directivesExecuted, movesBlocked, movesUndone = 0 } = agentActivity;
  const { directivesFailed = 0, directivesRejected = 0, directivesExpired = 0 } = agentActivity;
  const { kills = 0 } = guardianState;
  const { pending, urgent } = approvalQueue;
  const parts = [
    `${counted(directivesExecuted, 'directive')} executed`,
    ...earned.map(([currency, amount]) =>
      amount > 0 ? `${money(amount, currency)} earned` : `${money(-amount, currency)} reversed`,
    ),
    ...(directivesFailed > 0 ? [`${readableNumber(directivesFailed)} failed`] : []),
    ...(directivesRejected > 0 ? [`${readableNumber(directivesRejected)} rejected`] : []),
    ...(directivesExpired > 0 ? [`${readableNumber(directivesExpired)} expired`] : []),
    ...(movesUndone > 0 ? [`${counted(movesUndone, 'work packet')} undone`] : []),
    ...(kills > 0 ? [`kill switch engaged ${kills === 1 ? 'once' : `${readableNumber(kills)} times`}`] : []),
    ...(movesBlocked > 0 ? [`${counted(movesBlocked, 'work packet')} blocked`] : []),
    `${counted(pending, 'approval')} waiting${urgent > 0 ? ` (${urgent} urgent)` : ''}`,
    ...(guardianState.mode === 'killed' ? ['the kill switch is engaged'] : []),
  ];
  return cutText(`${parts.join(', ')}.`, LONGEST_HEADLINE);
}
