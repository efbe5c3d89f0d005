import { momentIn } from '../../platform/kernel/local-day.js';
import { markdownLine, markdownQuote } from '../../platform/kernel/markdown.js';
import { counted, cutText, money, readableNumber as number } from '../../platform/kernel/text.js';
import { CAPOS } from '../capos/index.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';
import type { DayOfAgents, ReportedAct, ReportedAgent } from '../verifier/index.js';
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
    if (section) parts.push(...(PARTS[key] as (section: unknown, zone: string) => Part[])(section, timezone));
  }
  return [...parts.filter(saysSomething), ...report.customSections.map(customPart)];
}

function saysSomething({ facts, items, warning }: Part): boolean {
  return facts.length > 0 || items.length > 0 || warning !== undefined;
}

/** @param teams of which alone it tells */
export function titleOf(
  { date, partial }: Pick<DailyReport, 'date' | 'partial'>,
  teams?: readonly { name: string }[],
): string {
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeZone: 'UTC' }).format(
    Date.parse(date),
  );
  return `Daily Report${teams ? ` of ${teamsInWords(teams)}` : ''}, ${day}${partial ? ' (so far)' : ''}`;
}

/** A subject has room for few names. */
const MOST_NAMED_TEAMS = 3;

export function teamsInWords(teams: readonly { name: string }[]): string {
  const names = teams.map(({ name }) => name);
  if (names.length > MOST_NAMED_TEAMS) return `${names.length} teams`;
  return `the ${names.length === 1 ? 'team' : 'teams'} ${new Intl.ListFormat('en-GB').format(names)}`;
}

const STILL_WANTED = 'If you still want one of these, hand it in again or have it drafted again.';

/** Of what others wrote: a list is read at a glance. */
const LONGEST_ITEM = 160;
/** A reason stands in it. */
const LONGEST_ACT = 400;

/** So many lines tell of agents from outside. */
const MOST_AGENTS = 20;

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

const PARTS: { [K in SectionKey]: (section: AllSections[K], zone: string) => Part[] } = {
  revenue: ({ total, currency, byCurrency, eventsTotal, events }) => [
    {
      title: 'Revenue',
      facts: [
        ...amounts([[currency, total], ...Object.entries(byCurrency)]),
        ...numbers(['Events', eventsTotal]),
      ],
      items: events.map(
        ({ amount, currency: of, source, description }) =>
          `${money(amount, of)} from ${cutText(source, LONGEST_ITEM)}${description === null ? '' : `: ${cutText(description, LONGEST_ITEM)}`}`,
      ),
      ...more(eventsTotal, events.length),
    },
  ],
  // Reports that were made by earlier versions do not tell what was sent, was undone or was not carried out.
  agentActivity: (
    {
      directivesExecuted,
      movesApproved,
      movesBlocked,
      movesSent,
      movesUndone,
      notDoneTotal,
      capos,
      outsideAgents = [],
      ...acts
    },
    zone,
  ) => [
    {
      title: 'What the capos did',
      facts: numbers(
        ['Directives executed', directivesExecuted],
        ['Directives failed', acts.directivesFailed],
        ['Directives rejected', acts.directivesRejected],
        ['Directives expired', acts.directivesExpired],
        ['Work packets released', movesApproved],
        ['Work packets blocked', movesBlocked],
      ),
      items: CAPO_ROLES.filter((role) => Object.values(capos[role]).some((figure) => figure !== 0)).map(
        (role) => {
          const of = capos[role];
          const did = [
            ...(of.directivesExecuted > 0 ? [`${counted(of.directivesExecuted, 'directive')} executed`] : []),
            ...(of.movesApproved > 0 ? [`${counted(of.movesApproved, 'work packet')} released`] : []),
            ...(of.movesBlocked > 0 ? [`${counted(of.movesBlocked, 'work packet')} blocked`] : []),
          ];
          return `${nameOf(role)}: ${did.length > 0 ? did.join(', ') : 'drafts only'}`;
        },
      ),
    },
    {
      title: 'What other agents asked for',
      facts: [],
      items: outsideAgents.slice(0, MOST_AGENTS).map(agentInWords),
      ...more(outsideAgents.length, Math.min(outsideAgents.length, MOST_AGENTS)),
    },
    actsPart('Sent and done', movesSent, reached(acts), zone),
    actsPart('Mails that did not reach everybody', acts.notReachedTotal, missed(acts.notReached), zone),
    actsPart('What was undone', movesUndone, acts.undone, zone),
    actsPart('What was not carried out', notDoneTotal, acts.notDone, zone, STILL_WANTED),
  ],
  // Reports that were made by earlier versions do not tell escalations.
  approvalQueue: ({ pending, urgent, items, escalations = { open: 0, items: [] } }, zone) => [
    {
      title: 'Waiting for you',
      facts: numbers(['Approvals', pending], ['Urgent', urgent], ['Escalations', escalations.open]),
      items: [
        // The urgent ones are listed first.
        ...items.map(({ title, capo, agent, priority, expiresAt }, index) => {
          const facts = [
            ...(index < urgent ? ['urgent'] : []),
            agent ?? nameOf(capo),
            `${priority} priority`,
            `until ${momentIn(Date.parse(expiresAt), zone)}`,
          ];
          return `${title} (${facts.join(', ')})`;
        }),
        ...escalations.items.map(({ escalationId, reason, options, createdAt, dueAt }) => {
          const facts = [
            `since ${momentIn(Date.parse(createdAt), zone)}`,
            ...(dueAt === null ? [] : [`until ${momentIn(Date.parse(dueAt), zone)}`]),
            `options: ${options.map((option) => option.replaceAll('_', ' ')).join(', ')}`,
            escalationId,
          ];
          return `A person has to decide: ${cutText(reason, LONGEST_ACT)} (${facts.join(', ')})`;
        }),
      ],
      ...more(pending + escalations.open, items.length + escalations.items.length),
    },
  ],
  trustIntelligence: ({ scoresCompleted, averageScore, topGap }) => [
    {
      title: 'Trust',
      facts: [
        ...numbers(['Scores', scoresCompleted]),
        ...(averageScore === null ? [] : [['Average', averageScore.toFixed(2)] as const]),
        ...(topGap === null ? [] : [['Largest gap', topGap.replaceAll('_', ' ')] as const]),
      ],
      items: [],
    },
  ],
  costLedger: ({ total, currency, byCurrency, byCapo, byModel, budget }) => {
    const spent = amounts([[currency, total], ...Object.entries(byCurrency)]);
    const limit =
      budget.unit === 'amount' ? money(budget.limit, budget.currency!) : `${number(budget.limit)} tokens`;
    return [
      {
        title: 'Cost of models',
        facts: byModel.length === 0 && spent.length === 0 ? [] : [...spent, ['Daily budget', limit]],
        items: [
          ...byCapo.map(({ capo, amount, currency: of }) => `${nameOf(capo)}: ${money(amount, of)}`),
          ...byModel.map(
            ({ model, amount, currency: of, tokensIn, tokensOut }) =>
              `${model ?? 'drafts that failed'}: ${money(amount, of)}, ${number(tokensIn)} tokens read, ${number(tokensOut)} written`,
          ),
        ],
      },
    ];
  },
  guardianState: ({ mode, blockedMoves, kills = 0, reverts = 0, recoveries = 0, acts = [] }, zone) => [
    {
      title: 'The guardian',
      facts: [['Mode', mode], ...numbers(['Work packets blocked on this day', blockedMoves])],
      items: acts.map((act) => actInWords(act, zone)),
      ...more(kills + reverts + recoveries, acts.length),
      ...(mode === 'killed' && {
        warning: 'The kill switch is engaged: nothing is drafted or sent until an admin reverts it.',
      }),
    },
  ],
  tomorrowQueue: ({ total, items }, zone) => [
    {
      title: 'Next',
      facts: numbers(['Directives under way', total]),
      items: items.map(
        ({ title, capo, deadline }) =>
          `${title} (${nameOf(capo)}${deadline === null ? '' : `, by ${momentIn(Date.parse(deadline), zone)}`})`,
      ),
      ...more(total, items.length),
    },
  ],
};

/** Those that are not zero: a reader is told what there is. */
function numbers(...facts: (readonly [name: string, value: number | undefined])[]): Part['facts'] {
  return facts.flatMap(([name, value = 0]) => (value === 0 ? [] : [[name, number(value)] as const]));
}

/** Sums by currency, the first one that of the workspace. */
function amounts(sums: readonly (readonly [currency: string, amount: number])[]): Part['facts'] {
  return sums.flatMap(([currency, amount], index) =>
    amount === 0 ? [] : [[index === 0 ? 'Total' : `In ${currency}`, money(amount, currency)] as const],
  );
}

/** One line for an agent and a tool, with the id by which the newest request is found. */
function agentInWords({ name, tool, actionRequestId, ...counts }: ReportedAgent): string {
  const did = Object.entries(counts).filter(([, n]) => n > 0);
  return `${name}, ${tool}: ${did.map(([outcome, n]) => `${number(n)} ${outcome}`).join(', ')} (newest: ${actionRequestId})`;
}

function actsPart(
  title: string,
  total: number | undefined,
  acts: readonly ReportedAct[] = [],
  zone: string,
  advice = '',
): Part {
  const { note = '' } = more(total ?? 0, acts.length);
  const notes = [note, advice].filter(Boolean);
  const items = acts.map((act) => actInWords(act, zone));
  return { title, facts: [], items, ...(notes.length > 0 && { note: notes.join(' ') }) };
}

/** The acts, each with those of its recipients who have it. */
function reached({ sent = [], notReached = [] }: Partial<DayOfAgents>): ReportedAct[] {
  const withoutOf = new Map(notReached.map(({ receiptId, to }) => [receiptId, to?.split(', ')]));
  return sent.map((act) => {
    const without = withoutOf.get(act.receiptId);
    const to = act.to?.split(', ').filter((one) => !without?.includes(one));
    return { ...act, to: to?.join(', ') ?? null };
  });
}

/** A mail that others have, as it looks to those whom it did not reach. */
function missed(acts: readonly ReportedAct[] = []): ReportedAct[] {
  return acts.map((act) => ({
    ...act,
    summary: `${act.summary.replace(/\.$/, '')}, but it did not reach ${act.to}.`,
    to: null,
  }));
}

/** What happened and at what time of the day, with whom it went to, and the id by which it is found. */
function actInWords({ at, summary, to, directiveId }: ReportedAct, zone: string): string {
  const sentence = to === null ? summary : `${summary.replace(/\.$/, '')} to ${to}.`;
  const id = directiveId === null ? '' : `, ${directiveId}`;
  return `${cutText(sentence, LONGEST_ACT)} (${timeOf(at, zone)}${id})`;
}

function timeOf(at: string, zone: string): string {
  return Number.isNaN(Date.parse(at)) ? at : momentIn(Date.parse(at), zone).split(' at ')[1]!;
}

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

/** The report as Markdown; what others wrote is text in it, whatever characters it has. */
export function markdownOf(report: DailyReport, teams?: readonly { name: string }[]): string {
  const { headline, receiptRange, receiptHead, timezone, generatedAt, reportId } = report;
  const { from, to } = receiptRange;
  const range = to < from ? 'no receipts' : `receipts ${from} to ${to}`;
  return `${[
    `# ${markdownLine(titleOf(report, teams))}`,
    markdownLine(headline),
    ...outlineOf(report).map(partOf),
    '---',
    `Days and times are those of ${timezone}. Made on ${momentIn(Date.parse(generatedAt), timezone)} as ${reportId}, from ${range}; what is open is told as of receipt ${receiptHead.seq}.`,
  ].join('\n\n')}\n`;
}

function partOf({ title, facts, items, note, text, warning }: Part): string {
  const list = [
    ...facts.map(([name, value]) => `- ${name}: ${markdownLine(value)}`),
    ...items.map((item) => `- ${markdownLine(item)}`),
  ].join('\n');
  return [
    `## ${markdownLine(title)}`,
    ...(warning === undefined ? [] : [`**${warning}**`]),
    ...(list === '' ? [] : [list]),
    ...(text === undefined ? [] : [markdownQuote(text)]),
    ...(note === undefined ? [] : [markdownLine(note)]),
  ].join('\n\n');
}
