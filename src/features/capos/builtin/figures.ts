import { dayOf, knownZone } from '../../../platform/kernel/local-day.js';
import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Briefing } from '../briefing.js';
import { oneLine } from './text.js';

/** Without grouping, so that nobody reads a comma for a point. */
const sums = (revenue: Readonly<Record<string, number>>) =>
  Object.entries(revenue).map(([currency, sum]) => `${Math.round(sum * 10_000) / 10_000} ${currency}`);
const counts = (kinds: Readonly<Record<string, number>>, noun: string) =>
  Object.entries(kinds).map(([kind, count]) => `${count} ${kind} ${noun}`);

/** All that the workspace has counted, as a document: whoever reads it picks what was asked for. */
export function figuresOf({
  workspace,
  now,
  metrics,
  guardian,
  figures,
  signals,
  recentPackets,
  ...rest
}: Briefing) {
  const zone = knownZone(workspace.timezone);
  const { count } = rest.buyerContext.aggregate;
  const newestFirst = (figures?.days ?? []).toReversed();
  const sections: [heading: string, lines: string[]][] = [
    [
      'Revenue of the last 24 hours',
      sums({ [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency }),
    ],
    [
      `By day${figures ? `, since ${figures.since}` : ''}`,
      newestFirst.map(
        ({ day, revenue, approvals, signals: raised }) =>
          `${day}: ${[...sums(revenue), ...counts(approvals, 'approvals'), ...counts(raised, 'signals')].join(', ')}`,
      ),
    ],
    [
      'Approvals',
      [
        `${guardian.pending} waiting for a decision`,
        ...(figures?.openApprovals ?? []).map(({ title }) => `“${title}”`),
      ],
    ],
    [
      'Open signals',
      signals.map(({ severity, title, createdAt }) => `${severity}: ${title} (${dayOf(createdAt, zone)})`),
    ],
    ['Buyers', [`${count} known`]],
    ['Standing orders', rest.standingOrders.map(({ name, effect }) => `${name} (${effect})`)],
    [
      'Newest work',
      recentPackets.map(({ title, status, createdAt }) => `${title}: ${status} (${dayOf(createdAt, zone)})`),
    ],
  ];
  const asOf = `${workspace.name}, as of ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  const parts = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => `## ${heading}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`);
  return cutText([asOf, ...parts].join('\n\n'), LIMITS.document);
}
