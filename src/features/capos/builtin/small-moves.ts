import { LIMITS } from '../action-params.js';
import { CAPOS } from '../capo.js';
import { SIGNAL_TYPE_OF, type Alert } from './alert.js';
import { canDo, multipliersOf, type Assignment, type Move } from './assignment.js';
import type { Delegation } from './delegation.js';
import { documentMove } from './document.js';
import { spokenMoney } from './money.js';
import type { RevenueEntry } from './revenue.js';
import { clip, oneLine, quotedInline, sentence, withoutStop } from './text.js';

/** Moves of one packet each: a revenue event, a signal, a directive for another capo. */

export function revenueMove(assignment: Assignment, entry: RevenueEntry, step: string): Move {
  const { briefing } = assignment;
  const currency = entry.currency ?? currencyGiven(briefing.directive.context);
  const source = entry.source ?? sourceGiven(briefing.directive.context);
  const obstacles = [
    ...(canDo(assignment, 'revenue.record')
      ? []
      : ['Recording revenue is outside this engine: hand it to Revenue.']),
    ...(currency === null ? [`The currency of ${entry.amount} is not named, and none is assumed.`] : []),
    ...(source === null ? ['It does not say from whom the money came.'] : []),
    ...(entry.amount > LIMITS.amount ? ['The amount is larger than the ledger accepts.'] : []),
  ];
  if (currency === null || source === null || obstacles.length > 0)
    return unrecorded(assignment, step, obstacles);
  const sum = spokenMoney(entry.amount, currency);
  const params = {
    amount: entry.amount,
    currency,
    source,
    ...(entry.description === null ? {} : { description: clip(entry.description, LIMITS.description) }),
  };
  const purpose = entry.description === null ? '' : ` (${quotedInline(withoutStop(entry.description))})`;
  return {
    packets: [
      {
        title: clip(`Record ${sum} from ${source}`, LIMITS.title),
        type: 'revenue.record',
        target: source,
        params,
        rationale: `The instruction names ${sum} received from ${quotedInline(source)}.`,
        multipliers: multipliersOf(assignment, step),
      },
    ],
    section: `**Revenue:** ${sum} from ${quotedInline(source)}${purpose}`,
    summary: `A revenue event of ${sum} from ${source} is ready to be recorded.`,
    notes: [],
  };
}

/** Refunds and expenses: the ledger takes income only, a recorded event is taken back by reversing it. */
export function outgoingMove(assignment: Assignment, step: string): Move {
  return unrecorded(assignment, step, [
    'The ledger records income; money paid back is booked by reversing the event that recorded it.',
  ]);
}

function unrecorded(assignment: Assignment, step: string, obstacles: string[]): Move {
  return documentMove(
    assignment,
    {
      title: 'Revenue entry to complete',
      sections: [
        { heading: 'Entry', lines: [sentence(quotedInline(step, 500))] },
        { heading: 'Before it can be recorded', lines: obstacles.map((line) => `- ${line}`) },
      ],
    },
    {
      summary: `The revenue is not recorded. ${obstacles.join(' ')}`,
      rationale: 'The entry is incomplete, so it is filed with what is missing.',
    },
  );
}

function currencyGiven(context: Readonly<Record<string, unknown>> | null): string | null {
  const given = context?.currency;
  const isCode =
    typeof given === 'string' && Intl.supportedValuesOf('currency').includes(given.toUpperCase());
  return isCode ? given.toUpperCase() : null;
}

function sourceGiven(context: Readonly<Record<string, unknown>> | null): string | null {
  for (const key of ['source', 'customer', 'buyer', 'client', 'company']) {
    const given = context !== null && Object.hasOwn(context, key) ? context[key] : undefined;
    const name = typeof given === 'object' && given !== null && 'name' in given ? given.name : given;
    if (typeof name === 'string' && /[\p{L}\p{N}]/u.test(name)) return oneLine(name, LIMITS.source - 10);
  }
  return null;
}

export function alertMove(assignment: Assignment, alert: Alert): Move {
  const { capo } = assignment;
  const what = alert.reminder ? 'A reminder' : `A signal (${alert.severity})`;
  return {
    packets: [
      {
        title: clip(`Signal: ${alert.title}`, LIMITS.title),
        type: 'signal.raise',
        target: 'signals',
        params: {
          type: SIGNAL_TYPE_OF[capo.engine],
          severity: alert.severity,
          title: alert.title,
          body: alert.body,
        },
        rationale: alert.reminder
          ? 'The operator asked to be reminded.'
          : 'The operator asked for this to be seen.',
        multipliers: multipliersOf(assignment, alert.body),
      },
    ],
    section: `**${what}:** ${quotedInline(alert.body, 1_000)}`,
    summary: `${what} is ready to be raised: “${alert.title}”.`,
    notes: alert.reminder ? ['It shows among the signals as soon as it is raised, not at a set time.'] : [],
  };
}

export function delegationMove(assignment: Assignment, { capo, task }: Delegation): Move {
  const { name } = CAPOS[capo];
  const directive = clip(task, LIMITS.directive - 10);
  if (!canDo(assignment, 'directive.create') || capo === 'ceo') {
    const reason =
      capo === 'ceo'
        ? 'The CEO capo does not hand work to itself.'
        : `Only the CEO capo can hand work on: give this directive to ${name} (\`${capo}\`).`;
    return documentMove(
      assignment,
      {
        title: `For ${name}: ${clip(withoutStop(directive), 120)}`,
        sections: [
          { heading: 'Directive', lines: [directive] },
          { heading: 'Whom to give it to', lines: [reason] },
        ],
      },
      { summary: reason, rationale: `The work belongs to ${name}.` },
    );
  }
  return {
    packets: [
      {
        title: clip(`Hand to ${name}: ${withoutStop(directive)}`, LIMITS.title),
        type: 'directive.create',
        target: capo,
        params: { directive, capo, priority: assignment.briefing.directive.priority },
        rationale: `The instruction gives this part to ${name} (${CAPOS[capo].domain.join(', ')}).`,
        multipliers: multipliersOf(assignment, task),
      },
    ],
    section: `**For ${name}:** ${directive}`,
    summary: `${name} is to: “${directive}”`,
    notes: [],
  };
}
