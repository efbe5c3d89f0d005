import { spokenPerson } from './addressee.js';
import { listLength, ordersFor, relatedSignals, type Assignment } from './assignment.js';
import { findDates } from './calendar.js';
import type { Section } from './document.js';
import { findMoney, spokenMoney } from './money.js';
import { knownPeople } from './recipients.js';
import { capitalised, counted, quotedInline } from './text.js';

/** The sections that every paper shares: what the instruction states, and what the workspace knows beside it. */

export function factsIn({ briefing, calendar }: Assignment, step: string): Section {
  const { context, priority, deadline } = briefing.directive;
  const dates = findDates(step, calendar).map(({ text, spoken: day }) =>
    text === day ? day : `${day} (“${text}”)`,
  );
  const sums = findMoney(step).map(({ amount, currency, text }) =>
    currency === null ? text : spokenMoney(amount, currency),
  );
  const people = knownPeople(context, []).map(spokenPerson);
  const given = Object.entries(context ?? {})
    .filter(
      ([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && String(value).length <= 200,
    )
    .slice(0, 20)
    .map(
      ([key, value]) =>
        `- ${quotedInline(capitalised(key.replaceAll('_', ' ')), 60)}: ${quotedInline(String(value), 200)}`,
    );
  return {
    heading: 'Facts',
    lines: [
      ...(dates.length > 0 ? [`- Dates: ${[...new Set(dates)].slice(0, 10).join('; ')}`] : []),
      ...(sums.length > 0 ? [`- Amounts: ${[...new Set(sums)].slice(0, 10).join('; ')}`] : []),
      ...(people.length > 0
        ? [
            `- People: ${people
              .slice(0, 10)
              .map((one) => quotedInline(one))
              .join('; ')}`,
          ]
        : []),
      ...(priority === 'medium' ? [] : [`- Priority: ${priority}`]),
      ...(deadline === null ? [] : [`- Deadline: ${quotedInline(deadline, 40)}`]),
      ...given,
    ],
  };
}

export function signalSection(assignment: Assignment, text: string): Section {
  const related = relatedSignals(assignment, text);
  const shown = related.slice(0, listLength(assignment, 5));
  return {
    heading: 'Signals',
    lines: shown.map(
      ({ severity, title, body: detail }) =>
        `- ${capitalised(severity)}: ${quotedInline(title, 150)}. ${quotedInline(detail, 200)}`,
    ),
  };
}

export function orderSection(assignment: Assignment): Section {
  const orders = ordersFor(assignment);
  const shown = orders.slice(0, listLength(assignment, 6));
  const rest = orders.length - shown.length;
  return {
    heading: 'Standing orders that apply',
    lines: [
      ...shown.map(
        ({ name, effect, text }) =>
          `- ${quotedInline(name, 100)} (${effect.replaceAll('_', ' ')}): ${quotedInline(text, 250)}`,
      ),
      ...(rest > 0 ? [`- and ${counted(rest, 'more', 'more')}`] : []),
    ],
  };
}
