import type { GuardianMode } from '../terms/terms.js';
import { ofCapo, quoted, spoken, timeIn } from './answer-words.js';
import {
  type DirectivesFacts,
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
- Show the open signals. Which standing orders are active? What is the guardian's mode?
- Ask marketing to write a post about the new delivery times. (this hands in a directive; its output waits for approval)
I never approve anything, and I never change the mode, standing orders or settings.`;

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

export function guardianText({ mode, pending, killedAt, reason }: GuardianFacts, zone: string): string {
  const since =
    killedAt === null
      ? ''
      : ` It was engaged on ${timeIn(killedAt, zone)}${reason === null ? '' : `: ${quoted(reason)}`}.`;
  return `The guardian is in mode ${mode}: ${MODES[mode]}.${since} ${pending} work ${pending === 1 ? 'packet waits' : 'packets wait'} for a person.`;
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
