import { Temporal } from 'temporal-polyfill';
import { dayOf } from '../../../platform/kernel/local-day.js';
import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { Ask } from './asks.js';
import type { DraftBuilder } from './draft-builder.js';
import { firstWords, messageOf } from './mail.js';
import { oneLine, within } from './text.js';
import { at, NOTE_LABEL, OVERVIEW, QUESTION, TITLED, TOPICS } from './words.js';

type Topic = keyof typeof TOPICS;
type Day = Temporal.PlainDate;
interface Period {
  label: string;
  from: Day;
  to: Day;
}

const monday = (day: Day) => day.subtract({ days: day.dayOfWeek - 1 });
const SPANS: readonly [RegExp, (today: Day) => [from: Day, to: Day]][] = [
  [
    /yesterday|gestern|(?<!\p{L})hier(?!\p{L})|(?<!\p{L})ayer(?!\p{L})/iu,
    (day) => [day.subtract({ days: 1 }), day.subtract({ days: 1 })],
  ],
  [/today|heute|aujourd|(?<!\p{L})hoy(?!\p{L})/iu, (day) => [day, day]],
  [/(?:this|diese[rn]?|cette|esta) (?:week|woche|semaine|semana)/iu, (day) => [monday(day), day]],
  [
    /(?:last|letzte[rn]?|vergangene[rn]?|vorige[rn]?) (?:week|woche)|semaine (?:dernière|passée)|semana pasada/iu,
    (day) => [monday(day).subtract({ days: 7 }), monday(day).subtract({ days: 1 })],
  ],
  [
    /(?:this|diese[rmns]?|ce|este) (?:month|monats?|mois|mes)(?!\p{L})/iu,
    (day) => [day.with({ day: 1 }), day],
  ],
  [
    /(?:last|letzte[rmns]?|vergangene[rmns]?) (?:month|monats?)|mois (?:dernier|passé)|mes pasado/iu,
    (day) => [day.with({ day: 1 }).subtract({ months: 1 }), day.with({ day: 1 }).subtract({ days: 1 })],
  ],
];
const LAST_DAYS =
  /(?:last|past|letzten|vergangenen|derniers|últimos) (\d{1,2}) (?:days|tagen?|jours|días)|(\d{1,2}) derniers jours/iu;

function periodIn(draft: DraftBuilder, text: string): Period | undefined {
  const { today } = draft;
  const days = LAST_DAYS.exec(text);
  if (days)
    return {
      label: days[0],
      from: today.subtract({ days: Math.max(1, Number(days[1] ?? days[2])) - 1 }),
      to: today,
    };
  for (const [said, span] of SPANS) {
    const [from, to] = span(today);
    const label = said.exec(text)?.[0];
    if (label !== undefined) return { label, from, to };
  }
  // Any other period: whoever reads the report picks its days.
  const since = draft.briefing.figures?.since;
  return since === undefined || /24 (?:hours|stunden|heures|horas)/iu.test(text)
    ? undefined
    : { label: 'Every day that is known', from: Temporal.PlainDate.from(since), to: today };
}

/** What the ask hands in, as it is; else the numbers that the workspace knows; else nothing, and why. */
export function prepareDocument(draft: DraftBuilder, ask: Ask): void {
  const text = draft.words(ask);
  const quotes = within({ start: ask.start, end: ask.headEnd }, draft.whole.quotes);
  const titled = ask.said
    ? quotes[0]
    : quotes.find(({ start }) =>
        TITLED.test(draft.whole.masked.slice(Math.max(ask.start, start - 60), start)),
      );
  const head = draft.whole.masked.slice(ask.start, ask.headEnd);
  const topics = (Object.keys(TOPICS) as Topic[]).filter((topic) => at(head, TOPICS[topic]) >= 0);
  const period = periodIn(draft, oneLine(head));
  const isOverview =
    topics.length === 0 &&
    at(head, OVERVIEW) >= 0 &&
    ((period !== undefined && oneLine(head).includes(period.label)) ||
      !/(?<!\p{L})(?:of|about|on|for|über|zum|zur|für|sur|pour|sobre|para)(?!\p{L})/iu.test(head));
  const isFigures = topics.length > 0 || isOverview;
  const listed = listedIn(draft, ask);
  if (isFigures && listed) {
    topics.push(...listed.topics.filter((topic) => !topics.includes(topic)));
    for (const each of listed.others) draft.remarks.push(`Not among the figures: “${each}”`);
  }
  const { body, isDescribed } =
    isFigures && (listed || (!ask.said && quotes.every((quote) => quote === titled)))
      ? { body: '', isDescribed: true }
      : messageOf(draft, ask);
  const isQuestion = at(head, QUESTION) === 0;
  if ((isDescribed || isQuestion) && !isFigures) {
    draft.unable(
      isQuestion
        ? 'answer this, it only knows the figures of the workspace'
        : 'write this, it words no texts of its own, a configured model does',
      ask,
    );
    return;
  }
  const title =
    titled?.text ??
    (isDescribed ? cutText(oneLine(text), LIMITS.title).replace(/[\s.!?]+$/u, '') : firstWords(body));
  const report = isDescribed
    ? reportOn(draft, topics.length > 0 ? topics : (Object.keys(TOPICS) as Topic[]), period)
    : body;
  draft.add({
    title: cutText(oneLine(title), LIMITS.title),
    type: 'document.file',
    target: oneLine(title),
    params: { title: cutText(oneLine(title), LIMITS.title), body: cutText(report, LIMITS.document) },
    needsInput: !isFigures && listed?.others.length === 0 ? [{ path: 'params.body', message: IS_TEXT }] : [],
    ask,
  });
}

const IS_TEXT =
  'Is this the text of the document? If the figures are meant, hand it in again as “a report of …”.';
/** More is a text. */
const MAX_LISTED = 300;

/** Where nothing but a list that names topics of the figures stands behind the colon. */
function listedIn({ whole }: DraftBuilder, ask: Ask): { topics: Topic[]; others: string[] } | undefined {
  const text = ask.said?.text ?? '';
  if (text.length > MAX_LISTED || /[\d“”"„«»]|[.!?]\s/u.test(text)) return undefined;
  if (NOTE_LABEL.test(whole.masked.slice(ask.start, ask.headEnd))) return undefined;
  const parts = text
    .split(/[,;\n.]|\s(?:and|und|et|y)\s/iu)
    .map((part) => oneLine(part.replace(/^[\s*•–-]+/u, '')))
    .filter((part) => part !== '');
  const topicsIn = (part: string) =>
    (Object.keys(TOPICS) as Topic[]).filter((topic) => at(part, TOPICS[topic]) >= 0);
  const topics = [...new Set(parts.flatMap(topicsIn))];
  if (topics.length === 0 || parts.some((part) => part.split(' ').length > 5)) return undefined;
  return { topics, others: parts.filter((part) => topicsIn(part).length === 0) };
}

function reportOn(draft: DraftBuilder, topics: readonly Topic[], period: Period | undefined): string {
  const { workspace, now, figures } = draft.briefing;
  const head = period ? `${period.label}: ${period.from.toString()} to ${period.to.toString()}.` : '';
  const reach =
    period && figures && period.from.toString() < figures.since
      ? ` What is counted by day begins on ${figures.since}.`
      : '';
  const asOf = `${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  const sections = topics.map(
    (topic) =>
      `## ${HEADINGS[topic]}\n\n${SECTIONS[topic](draft, period)
        .map((line) => `- ${oneLine(line)}`)
        .join('\n')}`,
  );
  return [`${workspace.name}, as of ${asOf}. ${head}${reach}`.trim(), ...sections].join('\n\n');
}

const HEADINGS: Readonly<Record<Topic, string>> = {
  revenue: 'Revenue',
  approvals: 'Approvals',
  signals: 'Open signals',
  buyers: 'Buyers',
  orders: 'Standing orders',
  work: 'Work',
};

const SECTIONS: Readonly<Record<Topic, (draft: DraftBuilder, period: Period | undefined) => string[]>> = {
  revenue({ briefing: { metrics, figures } }, period) {
    if (period && figures) {
      const days = figures.days.filter(({ day }) => isIn(day, period));
      const currencies = new Set([metrics.currency, ...days.flatMap(({ revenue }) => Object.keys(revenue))]);
      const sum = (currency: string) =>
        days.reduce((total, { revenue }) => total + (revenue[currency] ?? 0), 0);
      const byDay = days.flatMap(({ day, revenue }) =>
        Object.entries(revenue).map(([currency, amount]) => `${day}: ${money(amount)} ${currency}`),
      );
      return [
        ...[...currencies].map((currency) => `${money(sum(currency))} ${currency} in the period`),
        ...(period.from.equals(period.to) ? [] : byDay),
      ];
    }
    const others = Object.entries(metrics.revenue24hByCurrency);
    const unknown = period ? ['What came in in this period is not known.'] : [];
    return [
      ...unknown,
      ...[[metrics.currency, metrics.revenue24h] as const, ...others].map(
        ([currency, amount]) => `${money(amount)} ${currency} in the last 24 hours`,
      ),
    ];
  },
  approvals({ briefing: { guardian, figures }, zone }, period) {
    const open = (figures?.openApprovals ?? []).map(
      ({ title, requestedAt }) => `“${title}”, since ${dayOf(requestedAt, zone)}`,
    );
    return [
      `${guardian.pending} waiting for a decision`,
      ...open,
      ...countedIn(figures?.days, period, 'approvals'),
    ];
  },
  signals({ briefing: { signals, figures }, zone }, period) {
    const lines = signals.map(
      ({ severity, title, createdAt }) => `${severity}: ${title} (${dayOf(createdAt, zone)})`,
    );
    return [
      ...(lines.length > 0 ? lines : ['None is open.']),
      ...countedIn(figures?.days, period, 'signals'),
    ];
  },
  buyers({
    briefing: {
      buyerContext: { aggregate, profiles },
    },
  }) {
    const percent = (share: number | null) => (share === null ? 'unknown' : `${Math.round(share * 100)} %`);
    const known = profiles
      .slice(0, 20)
      .map(
        (each) =>
          `${each.name ?? each.buyerId}: stage ${each.stage ?? 'unknown'}, confidence ${percent(each.confidence)}, main gap ${each.topGap ?? 'unknown'}`,
      );
    return [
      `${aggregate.count} known, average confidence ${percent(aggregate.averageConfidence)}, main gap ${aggregate.topGap ?? 'unknown'}`,
      ...known,
    ];
  },
  orders({ briefing: { standingOrders } }) {
    return standingOrders.length === 0
      ? ['None is active.']
      : standingOrders.map(({ name, effect, text }) => `${name} (${effect}): ${text}`);
  },
  work({ briefing: { recentPackets }, zone }, period) {
    const shown = recentPackets.filter(({ createdAt }) => !period || isIn(dayOf(createdAt, zone), period));
    const lines = shown.map(
      ({ title, type, status, createdAt }) => `${title}: ${type}, ${status} (${dayOf(createdAt, zone)})`,
    );
    return [...(lines.length > 0 ? lines : ['No work packet among the newest 20.'])];
  },
};

type Counted = 'approvals' | 'signals';

function countedIn(
  days: readonly ({ day: string } & Record<Counted, Readonly<Record<string, number>>>)[] | undefined,
  period: Period | undefined,
  what: Counted,
): string[] {
  if (!period || !days) return [];
  const sums: Record<string, number> = {};
  for (const each of days.filter(({ day }) => isIn(day, period))) {
    for (const [key, count] of Object.entries(each[what])) sums[key] = (sums[key] ?? 0) + count;
  }
  return Object.entries(sums).map(([key, count]) => `${count} ${key} in the period`);
}

const isIn = (day: string, { from, to }: Period) => day >= from.toString() && day <= to.toString();
/** Without grouping, so that nobody reads a comma for a point. */
const money = (amount: number) => String(Math.round(amount * 10_000) / 10_000);
