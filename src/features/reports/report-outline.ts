import { counted, money, readableNumber as number } from '../../platform/kernel/readable-numbers.js';
import { cutText } from '../../platform/kernel/text.js';
import { CAPOS } from '../capos/capo.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { CAPO_ROLES, type CapoRole } from '../terms/terms.js';
import type { AllSections, DailyReport, SectionKey } from './report.js';

/** A part of a report for a reader: what its mail and its Markdown are both made of. */
export interface Part {
  title: string;
  facts: (readonly [name: string, value: string])[];
  /** What others wrote may stand in them. */
  items: string[];
  /** Said below the items. */
  note?: string;
  /** What a capo wrote for a section of the workspace's own. */
  text?: string;
  /** Must not be overlooked. */
  warning?: string;
}

/** The report in the order in which it is read. */
export function outlineOf(report: DailyReport): Part[] {
  const { sections, timezone } = report;
  const parts: Part[] = [];
  for (const key of ORDER) {
    const section = sections[key];
    if (section) parts.push((PARTS[key] as (section: unknown, zone: string) => Part)(section, timezone));
  }
  return [...parts, ...report.customSections.map(customPart)];
}

export function titleOf({ date, partial }: Pick<DailyReport, 'date' | 'partial'>): string {
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(
    Date.parse(date),
  );
  return `Daily Report, ${day}${partial ? ' (so far)' : ''}`;
}

/** Of what others wrote: a list is read at a glance. */
const LONGEST_ITEM = 160;

/** What waits for the reader comes first. */
const ORDER: readonly SectionKey[] = [
  'approvalQueue',
  'revenue',
  'agentActivity',
  'guardianState',
  'trustIntelligence',
  'costLedger',
  'tomorrowQueue',
];

const PARTS: { [K in SectionKey]: (section: AllSections[K], zone: string) => Part } = {
  revenue: ({ total, currency, byCurrency, eventsTotal, events }) => ({
    title: 'Revenue',
    facts: [
      ['Total', money(total, currency)],
      ...Object.entries(byCurrency).map(([other, amount]) => [`In ${other}`, money(amount, other)] as const),
      ['Events', number(eventsTotal)],
    ],
    items: events.map(
      ({ amount, currency: of, source, description }) =>
        `${money(amount, of)} from ${cutText(source, LONGEST_ITEM)}${description === null ? '' : `: ${cutText(description, LONGEST_ITEM)}`}`,
    ),
    ...more(eventsTotal, events.length),
  }),
  agentActivity: ({ directivesExecuted, movesApproved, movesBlocked, capos }) => ({
    title: 'What the capos did',
    facts: [
      ['Directives executed', number(directivesExecuted)],
      ['Work packets released', number(movesApproved)],
      ['Work packets blocked', number(movesBlocked)],
    ],
    items: CAPO_ROLES.filter((role) => Object.values(capos[role]).some((figure) => figure !== 0)).map(
      (role) => {
        const of = capos[role];
        return `${nameOf(role)}: ${counted(of.directivesExecuted, 'directive')} executed, ${counted(of.movesApproved, 'work packet')} released, ${number(of.movesBlocked)} blocked`;
      },
    ),
  }),
  approvalQueue: ({ pending, urgent, items }, zone) => ({
    title: 'Waiting for you',
    facts: [
      ['Approvals', number(pending)],
      ['Urgent', number(urgent)],
    ],
    // The urgent ones are listed first.
    items: items.map(({ title, capo, priority, expiresAt }, index) => {
      const facts = [
        ...(index < urgent ? ['urgent'] : []),
        nameOf(capo),
        `${priority} priority`,
        `until ${inWords(Date.parse(expiresAt), zone)}`,
      ];
      return `${title} (${facts.join(', ')})`;
    }),
    ...more(pending, items.length),
  }),
  trustIntelligence: ({ scoresCompleted, averageScore, topGap }) => ({
    title: 'Trust',
    facts: [
      ['Scores', number(scoresCompleted)],
      ['Average', averageScore === null ? 'none' : averageScore.toFixed(2)],
      ['Largest gap', topGap === null ? 'none' : topGap.replaceAll('_', ' ')],
    ],
    items: [],
  }),
  costLedger: ({ total, currency, byCurrency, byCapo, byModel, budget }) => ({
    title: 'Cost of models',
    facts: [
      ['Total', money(total, currency)],
      ...Object.entries(byCurrency).map(([other, amount]) => [`In ${other}`, money(amount, other)] as const),
      [
        'Daily budget',
        budget.unit === 'amount' ? money(budget.limit, budget.currency!) : `${number(budget.limit)} tokens`,
      ],
    ],
    items: [
      ...byCapo.map(({ capo, amount, currency: of }) => `${nameOf(capo)}: ${money(amount, of)}`),
      ...byModel.map(
        ({ model, amount, currency: of, tokensIn, tokensOut }) =>
          `${model ?? 'drafts that failed'}: ${money(amount, of)}, ${number(tokensIn)} tokens read, ${number(tokensOut)} written`,
      ),
    ],
  }),
  guardianState: ({ mode, pendingMoves, blockedMoves }) => ({
    title: 'The guardian',
    facts: [
      ['Mode', mode],
      ['Work packets waiting for a person', number(pendingMoves)],
      ['Work packets blocked on this day', number(blockedMoves)],
    ],
    items: [],
    ...(mode === 'killed' && {
      warning: 'The kill switch is engaged: nothing is drafted or sent until an admin reverts it.',
    }),
  }),
  tomorrowQueue: ({ total, items }, zone) => ({
    title: 'Next',
    facts: [['Directives under way', number(total)]],
    items: items.map(
      ({ title, capo, deadline }) =>
        `${title} (${nameOf(capo)}${deadline === null ? '' : `, by ${inWords(Date.parse(deadline), zone)}`})`,
    ),
    ...more(total, items.length),
  }),
};

function customPart({ title, capo, status, body, error }: DailyReport['customSections'][number]): Part {
  return {
    title,
    facts: [],
    items: [],
    ...(status === 'done'
      ? { text: body ?? '', note: `Written by ${nameOf(capo)}; it is no part of what receipts show.` }
      : { note: error ?? 'This section is still being written.' }),
  };
}

function nameOf(capo: string | null): string {
  if (capo === null) return 'no capo yet';
  return Object.hasOwn(CAPOS, capo) ? CAPOS[capo as CapoRole].name : capo;
}

function more(total: number, listed: number): { note?: string } {
  return total > listed ? { note: `${number(total - listed)} more are not listed here.` } : {};
}
