import type { BuyerContext, BuyerProfile } from '../briefing.js';
import type { Person } from './addressee.js';
import { counted, listed, quotedInline } from './text.js';

/** What the buyer context says, in sentences; the gaps are the metrics of the partner's confidence updates. */

const GAPS: Readonly<Record<string, { doubt: string; answer: string }>> = {
  problem_clarity: {
    doubt: 'whether they have the problem at all',
    answer: 'Open with the problem in their own words before naming the offer.',
  },
  solution_fit: {
    doubt: 'whether this solves their problem',
    answer: 'Show one case like theirs from beginning to end.',
  },
  price_fit: {
    doubt: 'whether it is worth the price',
    answer: 'Put the price next to what it saves or earns, with one worked example.',
  },
  urgency: {
    doubt: 'why they should act now',
    answer: 'Give a date, and what waiting until after it costs.',
  },
  authority: {
    doubt: 'who on their side decides',
    answer: 'Ask who else decides, and supply one page that can be passed on.',
  },
  trust: {
    doubt: 'whether they can rely on us',
    answer: 'Lead with a reference, a guarantee or a named person to call.',
  },
  overall: { doubt: 'several things at once', answer: 'Ask an open question before making the offer.' },
};

export function gapName(gap: string): string {
  return quotedInline(gap.replaceAll('_', ' '), 80);
}

export function gapAnswer(gap: string | null): string | null {
  return GAPS[gap ?? '']?.answer ?? null;
}

export function gapDoubt(gap: string | null): string | null {
  return GAPS[gap ?? '']?.doubt ?? null;
}

/** The facts about all buyers, one per line; empty when nothing is known about any. */
export function buyerLines({ profiles, aggregate }: BuyerContext): string[] {
  if (aggregate.count === 0 && profiles.length === 0) return [];
  const confidence =
    aggregate.averageConfidence === null
      ? ''
      : `, average confidence ${percent(aggregate.averageConfidence)}`;
  const lines = [`${counted(Math.max(aggregate.count, profiles.length), 'buyer')} on file${confidence}.`];
  const stages = tally(profiles.map(({ stage }) => stage));
  if (stages !== '') lines.push(`By stage: ${stages}.`);
  const segments = tally(profiles.map(({ segment }) => segment));
  if (segments !== '') lines.push(`By segment: ${segments}.`);
  const { topGap } = aggregate;
  if (topGap !== null) {
    const doubt = gapDoubt(topGap);
    lines.push(
      `Biggest gap: ${gapName(topGap)}${doubt === null ? '' : ` (they ask themselves ${doubt})`}. ${gapAnswer(topGap) ?? ''}`.trim(),
    );
  }
  return lines;
}

/** The profile of somebody who is about to receive something. */
export function profileOf(person: Person, profiles: readonly BuyerProfile[]): BuyerProfile | undefined {
  const email = person.email?.toLowerCase();
  const name = person.name?.toLowerCase();
  return profiles.find(
    (profile) =>
      (email !== undefined && profile.email?.toLowerCase() === email) ||
      (name !== undefined &&
        (profile.name?.toLowerCase() === name || profile.buyerId.toLowerCase() === name)),
  );
}

export function profileLine(name: string, profile: BuyerProfile): string {
  const facts = [
    profile.stage === null ? null : `in stage ${quotedInline(profile.stage, 60)}`,
    profile.confidence === null ? null : `confidence ${percent(profile.confidence)}`,
    profile.topGap === null ? null : `main gap ${gapName(profile.topGap)}`,
  ].filter((fact) => fact !== null);
  return facts.length === 0 ? '' : `${name} is a known buyer: ${listed(facts)}.`;
}

function percent(ratio: number): string {
  return `${Math.round(ratio * 100)} %`;
}

/** "evaluation (5), negotiation (2)", the most frequent first */
function tally(values: readonly (string | null)[]): string {
  const counts = new Map<string, number>();
  for (const value of values)
    if (value !== null && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts]
    .toSorted(([a, x], [b, y]) => y - x || a.localeCompare(b, 'en'))
    .slice(0, 6)
    .map(([value, count]) => `${quotedInline(value, 60)} (${count})`)
    .join(', ');
}
