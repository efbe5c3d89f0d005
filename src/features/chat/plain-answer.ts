import { cutText } from '../../platform/kernel/text.js';
import type { GuardianMode } from '../terms/terms.js';
import { ofCapo, quoted, spoken, timeIn } from './answer-words.js';
import { MOST_CHANGES } from './guardian-changes.js';
import {
  type DirectivesFacts,
  type GuardianChange,
  type GuardianFacts,
  MAX_COUNTED,
  type OrderFacts,
  type Period,
  type SignalFacts,
  type SumFacts,
  type WaitingFacts,
} from './look-up.js';

/**
 * Answers in sentences, made of what was found. Whatever others wrote (titles, texts, reasons) stands in quotation marks and is
 * cut: it is shown, and nothing is done about it.
 */

const EITHER = new Intl.ListFormat('en', { type: 'disjunction' });

export const HELP = `I answer from what this workspace has recorded. Ask, for example:
- What waits for me?
- Why was pkt_… denied? (any id of a directive, work packet or approval)
- How much revenue this week? What did drafts cost this month?
- Show the open signals. Which standing orders are active? What is the guardian's mode? Who engaged the kill switch?
- Ask marketing to write a post about the new delivery times. (this hands in a directive; its output waits for approval)
I never approve anything, and I never change the mode, standing orders or settings.`;

/** Answered instead of a guess. */
export const UNCLEAR =
  'Nothing was handed in: I cannot tell where the directive ends and the rest of the message begins. Send each request and each question by itself, or put the words that are to be written in quotation marks.';

export function waitingText(facts: WaitingFacts, zone: string): string {
  const { approvals, approvalsInAll, escalations, escalationsInAll } = facts;
  if (approvalsInAll === 0 && escalationsInAll === 0) return 'Nothing waits for a decision.';
  const parts: string[] = [];
  if (approvalsInAll > 0) {
    parts.push(
      counted(approvalsInAll, 'approval waits', 'approvals wait', approvals.length),
      ...approvals.map(
        ({ approvalId, title, capo, risk, ready, inputsNeeded, expiresAt }) =>
          `- ${approvalId}: ${quoted(title)}${ofCapo(capo)}, ${
            ready ? `risk ${risk}` : 'its draft is still being made'
          }${inputsNeeded > 0 ? `, ${inputsNeeded} ${inputsNeeded === 1 ? 'detail is' : 'details are'} missing` : ''}, until ${timeIn(expiresAt, zone)}`,
      ),
    );
  }
  if (escalationsInAll > 0) {
    parts.push(
      counted(escalationsInAll, 'escalation waits', 'escalations wait', escalations.length, MAX_COUNTED),
      ...escalations.map(
        ({ escalationId, kind, reason, options }) =>
          `- ${escalationId} (${spoken(kind)}): ${quoted(reason)}; you can choose ${EITHER.format(options.map(spoken))}`,
      ),
    );
  }
  return parts.join('\n');
}

export function signalsText({ signals, inAll }: SignalFacts, zone: string): string {
  if (signals.length === 0) return 'No signal is open.';
  return [
    `${inAll} open ${inAll === 1 ? 'signal' : 'signals'}${inAll > signals.length ? `, the newest ${signals.length}` : ''}:`,
    ...signals.map(
      ({ signalId, severity, title, createdAt }) =>
        `- ${signalId} (${severity}, ${timeIn(createdAt, zone)}): ${quoted(title)}`,
    ),
  ].join('\n');
}

export function ordersText({ orders, inAll }: OrderFacts, zone: string): string {
  if (orders.length === 0) {
    return 'No standing order is active that you may see: work packets ask for approval unless the mode lets them pass.';
  }
  return [
    `${inAll} standing ${inAll === 1 ? 'order is' : 'orders are'} active${inAll > orders.length ? `; the newest ${orders.length}` : ''}:`,
    ...orders.map(
      ({ standingOrderId, name, effect, text, expiresAt }) =>
        `- ${standingOrderId} (${effect}${expiresAt === null ? '' : `, until ${timeIn(expiresAt, zone)}`}): ${quoted(name)}${text === '' ? '' : `, ${quoted(text)}`}`,
    ),
  ].join('\n');
}

const MODES: Readonly<Record<GuardianMode, string>> = {
  observe: 'nothing leaves',
  supervised: 'everything asks for approval',
  guardrailed: 'standing orders decide, and what none of them matches asks for approval',
  autonomous:
    'what no standing order matches is allowed if it can be undone; what cannot be undone always asks',
  killed: 'the kill switch is engaged, and nothing begins',
  recovering: 'what was done is being undone, and nothing begins meanwhile',
};

export function guardianText(
  { mode, pending, killedAt, killedBy, reason }: Omit<GuardianFacts, 'changes'>,
  zone: string,
): string {
  const by = killedBy === null ? '' : ` by ${cutText(killedBy, 80)}`;
  const since =
    killedAt === null
      ? ''
      : ` It was engaged on ${timeIn(killedAt, zone)}${by}${reason === null ? ', without a reason' : `: ${quoted(reason)}`}.`;
  return `The guardian is in mode ${mode}: ${MODES[mode]}.${since} ${pending} work ${pending === 1 ? 'packet waits' : 'packets wait'} for a person.`;
}

/** The changes of the guardian that are asked for: those of the periods, and of the kill switch alone where that is all. */
export function changesAsked(
  { changes }: Pick<GuardianFacts, 'changes'>,
  { changesOf, periods }: { changesOf: 'kill_switch' | 'guardian'; periods: readonly Period[] },
): GuardianChange[] {
  return changes
    .filter(({ action }) => changesOf === 'guardian' || action !== 'guardian.mode_changed')
    .filter((change) => periods.length === 0 || periods.some((period) => change.periods.includes(period)))
    .slice(0, MOST_CHANGES);
}

export function changesText(
  changes: readonly GuardianChange[],
  {
    changesOf,
    periods,
    zone,
  }: { changesOf: 'kill_switch' | 'guardian'; periods: readonly Period[]; zone: string },
): string {
  const when = periods.length === 0 ? '' : ` ${EITHER.format(periods)}`;
  const what =
    changesOf === 'kill_switch'
      ? 'the kill switch was engaged or lifted'
      : 'the mode or the kill switch was changed';
  if (changes.length === 0) return `No receipt that you may read says that ${what}${when}.`;
  const newest = changes.length >= MOST_CHANGES ? `, the newest ${MOST_CHANGES}` : '';
  return [`What receipts say of it${when}${newest}:`, ...changes.map((each) => changeText(each, zone))].join(
    '\n',
  );
}

function changeText({ receiptId, action, at, by, reason, mode }: GuardianChange, zone: string): string {
  const who = by === null ? 'the service' : cutText(by, 80);
  const why = reason === null ? '' : `, with the reason ${quoted(reason)}`;
  const did = {
    'guardian.killed': `${who} engaged the kill switch${why === '' ? ' without a reason' : why}`,
    'guardian.recovering': `${who} began to have undone what had been carried out${why}`,
    'guardian.reverted':
      by === null
        ? 'the kill switch was lifted, once all that could be undone was'
        : `${who} lifted the kill switch${why}`,
    'guardian.mode_changed': `${who} set the mode to ${mode}`,
  }[action];
  return `- ${timeIn(at, zone)}: ${did} (${receiptId}).`;
}

export function directivesText({ directives }: DirectivesFacts, zone: string): string {
  if (directives.length === 0) return 'No directive has been handed in that you may see.';
  return [
    'The newest directives:',
    ...directives.map(
      ({ directiveId, title, capo, status, createdAt }) =>
        `- ${directiveId} (${spoken(status)}${ofCapo(capo)}, ${timeIn(createdAt, zone)}): ${quoted(title)}`,
    ),
  ].join('\n');
}

export function sumsText(
  what: 'Revenue' | 'Cost of drafts',
  facts: SumFacts,
  periods: readonly Period[],
): string {
  const asked: readonly Period[] = periods.length > 0 ? periods : ['today', 'this week', 'this month'];
  const lines = asked.map((period) => {
    const sums = facts.sums.filter((sum) => sum.period === period);
    const own = what === 'Revenue' ? facts.currency : 'USD';
    const spokenSums = sums
      .toSorted(
        (a, b) =>
          Number(b.currency === own) - Number(a.currency === own) || a.currency.localeCompare(b.currency),
      )
      .map(({ amount, currency }) => money(amount, currency));
    return `${what} ${period}: ${spokenSums.length === 0 ? money(0, own) : spokenSums.join(', ')}.`;
  });
  return `${lines.join('\n')}\nDays and weeks are those of ${facts.timezone}; weeks begin on Monday. Currencies are not converted.`;
}

export function buyersText(facts: object): string {
  const { persona, profiles } = (facts as { buyers: BuyersJson }).buyers;
  if (persona === null || profiles.length === 0) return 'The partner has reported no buyers yet.';
  return [
    `${persona.buyers} ${persona.buyers === 1 ? 'buyer' : 'buyers'}, with an average confidence of ${percent(persona.confidence)}. The last ones that changed:`,
    ...profiles
      .slice(0, 10)
      .map(
        ({ buyerId, confidence, topGap }) =>
          `- ${quoted(buyerId)}: ${percent(confidence)}${topGap ? `, least in ${topGap.replaceAll('_', ' ')}` : ''}`,
      ),
  ].join('\n');
}

interface BuyersJson {
  persona: { buyers: number; confidence: number } | null;
  profiles: { buyerId: string; confidence: number; topGap: string | null }[];
}

const percent = (share: number) => `${Math.round(share * 100)} %`;

function money(amount: number, currency: string): string {
  return `${new Intl.NumberFormat('en', { maximumFractionDigits: 6, minimumFractionDigits: 2 }).format(amount)} ${currency}`;
}

/** @param most what is counted to: of as many there may be more */
function counted(n: number, one: string, many: string, shown: number, most = Infinity): string {
  const all = n >= most ? `${most} or more ${many}` : `${n} ${n === 1 ? one : many}`;
  return `${all} for a decision${n > shown ? `; the first ${shown}` : ''}:`;
}
