import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Briefing } from '../briefing.js';
import { oneLine } from './text.js';

type Counts = Readonly<Record<string, number>>;
/** Without grouping, so that nobody reads a comma for a point. */
const sums = (revenue: Counts) =>
  Object.entries(revenue).map(([currency, sum]) => `${Math.round(sum * 10_000) / 10_000} ${currency}`);
const counts = (kinds: Counts, noun: string) =>
  Object.entries(kinds).map(([kind, count]) => `${count} ${kind} ${noun}`);

/** What the workspace has counted, as a document: the reader picks the requested figures. */
export function figuresOf({
  workspace,
  now,
  metrics,
  guardian,
  figures,
  signals,
  recentPackets,
}: Briefing): string {
  const today = { [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency };
  const days = (figures?.days ?? []).toReversed().map(({ day, revenue, approvals, signals: raised }) => {
    const parts = [sums(revenue), counts(approvals, 'approvals'), counts(raised, 'signals')];
    return `${day}: ${parts.flat().join(', ')}`;
  });
  const open = (figures?.openApprovals ?? []).map(({ title }) => `“${title}”`);
  const sections: [heading: string, lines: string[]][] = [
    ['Revenue of the last 24 hours', sums(today)],
    [`By day, since ${figures?.since ?? ''}`, days],
    ['Approvals', [`${guardian.pending} waiting for a decision`, ...open]],
    ['Open signals', signals.map(({ severity, title }) => `${severity}: ${title}`)],
    ['Newest work', recentPackets.map(({ title, status }) => `${title}: ${status}`)],
  ];
  const asOf = `${workspace.name}, as of ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  const shown = sections.filter(([, lines]) => lines.length > 0);
  const parts = shown.map(
    ([head, lines]) => `## ${head}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`,
  );
  return cutText([asOf, ...parts].join('\n\n'), LIMITS.document);
}
