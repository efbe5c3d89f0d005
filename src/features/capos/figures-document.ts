import { cutText } from '../../platform/kernel/text.js';
import { LIMITS } from './action-params.js';
import type { Briefing } from './briefing.js';
import { oneLine } from './builtin/text.js';

type Counts = Readonly<Record<string, number>>;
const sums = (all: Counts) => Object.entries(all).map(([unit, sum]) => `${Number(sum.toFixed(4))} ${unit}`);
const counts = (all: Counts, of: string) => Object.entries(all).map(([kind, n]) => `${n} ${kind} ${of}`);

/** The figures that a workspace knows, as the text of a document. */
export function figuresOf({ workspace, now, metrics, guardian, figures, ...rest }: Briefing): string {
  const days = (figures?.days ?? []).toReversed().map(({ day, revenue, approvals, signals }) => {
    const parts = [...sums(revenue), ...counts(approvals, 'approvals'), ...counts(signals, 'signals')];
    return `${day}: ${parts.join(', ')}`;
  });
  const open = (figures?.openApprovals ?? []).map(({ title }) => `“${title}”`);
  const sections: [heading: string, lines: string[]][] = [
    [
      'Revenue of the last 24 hours',
      sums({ [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency }),
    ],
    [`By day, since ${figures?.since ?? ''}`, days],
    ['Approvals', [`${guardian.pending} waiting for a decision`, ...open]],
    ['Open signals', rest.signals.map(({ severity, title }) => `${severity}: ${title}`)],
    ['Newest work', rest.recentPackets.map(({ title, status }) => `${title}: ${status}`)],
  ];
  const parts = sections
    .filter(([, lines]) => lines.length > 0)
    .map(([heading, lines]) => `## ${heading}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`);
  const asOf = `${workspace.name}, as of ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  return cutText([asOf, ...parts].join('\n\n'), LIMITS.document);
}
