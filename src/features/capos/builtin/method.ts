import type { Temporal } from 'temporal-polyfill';
import type { Engine } from '../capo.js';
import type { Assignment } from './assignment.js';
import { gapAnswer } from './buyers.js';
import { findDates, spoken } from './calendar.js';
import { plain } from './text.js';

/** What each engine does with a topic, in its order of work. */
const METHODS: Readonly<Record<Engine, (topic: string, gap: string | null) => string[]>> = {
  marketing: (_topic, gap) => [
    'Put the message into one sentence: what changes for the reader.',
    'Choose the audience and the one channel that reaches it best.',
    gap === null ? 'Write the text, with one concrete example.' : `Write the text. ${gap}`,
    'Have the text approved and set the date.',
    'Publish, then compare visits and revenue with the day before.',
  ],
  revenue: (topic, gap) => [
    `List the deals that ${topic} touches, with stage and amount.`,
    gap === null
      ? 'Note for each buyer the one open question.'
      : `Prepare the answer to the main doubt. ${gap}`,
    'Fix the offer: price, terms and the day it ends.',
    'Contact the buyers, the most confident first.',
    'Record what was won, and why the rest was not.',
  ],
  ops: (topic) => [
    `Name the person responsible for ${topic} and what counts as done.`,
    'Order first what takes longest: suppliers, transport, rooms.',
    'Tell everybody affected the date, and what is expected of them.',
    'Carry it out, and raise a signal for anything that deviates.',
    'Check the result against what counts as done, and close it.',
  ],
  product: (topic) => [
    `Write down the problem behind ${topic} and who has it.`,
    'Agree the acceptance criteria before anything is built.',
    'Split it into parts that can be released on their own, the most valuable first.',
    'Try each part with a real user.',
    'Release with notes, and watch the errors for a day.',
  ],
  executive: (topic) => [
    `Decide what ${topic} is to achieve and by when.`,
    'Name one capo who answers for it.',
    'Set the limit in money and time at which it comes back for a decision.',
    'Look at the result in the Daily Report and decide to continue or stop.',
  ],
};

export function stepsFor({ capo, briefing }: Assignment, topic: string): string[] {
  return METHODS[capo.engine](topic, gapAnswer(briefing.buyerContext.aggregate.topGap));
}

/** A list whose entries are spread evenly up to the date that the instruction or its deadline names. */
export function scheduled(
  assignment: Assignment,
  entries: readonly string[],
  style: 'numbers' | 'boxes',
): string[] {
  const { calendar } = assignment;
  const end = targetDate(assignment);
  const days = end === undefined ? 0 : calendar.today.until(end).days;
  return entries.map((entry, at) => {
    const mark = style === 'numbers' ? `${at + 1}.` : '- [ ]';
    // Fewer days than steps: dates would only repeat themselves.
    if (days < entries.length) return `${mark} ${entry}`;
    const even = calendar.today.add({ days: Math.round((days * (at + 1)) / entries.length) });
    const due = at + 1 < entries.length ? beforeWeekend(even) : even;
    return `${mark} By ${spoken(due, calendar)}: ${entry}`;
  });
}

function beforeWeekend(date: Temporal.PlainDate): Temporal.PlainDate {
  return date.subtract({ days: Math.max(0, date.dayOfWeek - 5) });
}

function targetDate({ briefing, calendar }: Assignment): Temporal.PlainDate | undefined {
  const { text, deadline } = briefing.directive;
  const named = findDates(plain(text), calendar).map(({ date }) => date);
  const due = deadline === null ? [] : findDates(deadline.slice(0, 10), calendar).map(({ date }) => date);
  return [...named, ...due].find(
    (date) => calendar.today.until(date).days > 0 && calendar.today.until(date).days < 400,
  );
}
