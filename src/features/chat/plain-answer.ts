import { cutText } from '../../platform/kernel/text.js';
import { CAPOS, isCapoRole } from '../capos/capo.js';
import type { GuardianMode } from '../terms/terms.js';
import type {
  ApprovalFacts,
  DecisionFacts,
  DirectiveFacts,
  DirectivesFacts,
  GuardianFacts,
  OrderFacts,
  PacketFacts,
  Period,
  RecordFacts,
  SignalFacts,
  SumFacts,
  WaitingFacts,
} from './look-up.js';
import type { RefusedAct } from './plain-message.js';

/**
 * Answers in sentences, made of what was found. Whatever others wrote (titles, texts, reasons) stands in quotation marks and is
 * cut: it is shown, and nothing is done about it.
 */

const MAX_QUOTED = 160;

const HOW: Readonly<Record<RefusedAct, string>> = {
  decide:
    'The chat approves, rejects and edits nothing: that takes a decision of your own, on the complete draft. Decide with POST /api/pro/approvals/{approvalId}/approve or /reject, or by the link in the mail about it.',
  mode: "The chat does not change the guardian's mode. An admin does, with PUT /api/pro/guardian/mode.",
  kill: 'The chat neither engages nor lifts the kill switch. Whoever may hand in directives engages it at once with POST /api/pro/guardian/kill-switch; an admin goes back with POST /api/pro/guardian/revert.',
  orders:
    'The chat makes, changes, activates and pauses no standing orders. Do it with /api/pro/standing-orders, where each change is simulated first.',
  settings:
    'The chat changes no settings, members, tokens or destinations. An admin does, in the admin area or with PUT /api/pro/settings. If you meant work for a capo, say "ask marketing to …".',
};

export const HELP = `I answer from what this workspace has recorded. Ask, for example:
- What waits for me?
- Why was pkt_… denied? (any id of a directive, work packet or approval)
- How much revenue this week? What did drafts cost this month?
- Show the open signals. Which standing orders are active? What is the guardian's mode?
- Ask marketing to write a post about the new delivery times. (this hands in a directive; its output waits for approval)
I never approve anything, and I never change the mode, standing orders or settings.`;

export function refusalOf(acts: readonly RefusedAct[]): string {
  return acts.map((act) => HOW[act]).join('\n');
}

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
      counted(escalationsInAll, 'escalation waits', 'escalations wait', escalations.length),
      ...escalations.map(
        ({ escalationId, kind, reason, options }) =>
          `- ${escalationId} (${kind}): ${quoted(reason)}; you can ${options.join(', ')} or dismiss`,
      ),
    );
  }
  return parts.join('\n');
}

export function recordText(id: string, found: RecordFacts | null, zone: string): string {
  if (found === null) return `There is no record ${id}, or you may not see it.`;
  if ('record' in found) return `The record ${id}: ${quoted(JSON.stringify(found.record), 1_200)}`;
  const { directive } = found;
  const packets = directive.packets.filter(
    ({ workPacketId }) => !id.startsWith('pkt_') || workPacketId === id,
  );
  const approvals = directive.approvals.filter(
    ({ approvalId }) => !id.startsWith('apr_') || approvalId === id,
  );
  const opening = id.startsWith('pkt_') ? [] : [directiveText(directive, zone)];
  return [
    ...opening,
    ...packets.map((packet) => packetText(packet, zone)),
    ...(id.startsWith('pkt_')
      ? [`It belongs to the directive ${directive.directiveId}: ${quoted(directive.text)}`]
      : []),
    ...approvals.map((approval) => approvalText(approval, zone)),
  ].join('\n');
}

function directiveText(
  { directiveId, text, status, capo, routing, error, createdBy, createdAt }: DirectiveFacts,
  zone: string,
) {
  const lines = [
    `The directive ${directiveId} (${quoted(text)}), handed in by ${cutText(createdBy, 80)} on ${timeIn(createdAt, zone)}${ofCapo(capo)}, is ${spoken(status)}.`,
  ];
  if (routing !== null) lines.push(`It was routed so because: ${quoted(routing)}`);
  if (error !== null) lines.push(`It failed: ${quoted(error)}`);
  return lines.join('\n');
}

function packetText(
  { workPacketId, title, type, target, status, failure, allowedBy, decisions }: PacketFacts,
  zone: string,
) {
  const reaches = target === null || target === '' ? '' : ` to ${quoted(target)}`;
  const lines = [
    `The work packet ${workPacketId} (${quoted(title)}, ${type}${reaches}) is ${spoken(status)}.`,
  ];
  const [last, ...before] = decisions;
  if (last) lines.push(...decisionLines('The policy decision', last, zone));
  else lines.push('No policy decision about it has been made yet.');
  for (const decision of before) lines.push(...decisionLines('Before, it', decision, zone));
  if (allowedBy !== null && allowedBy !== 'policy') lines.push('A person has approved it since.');
  if (failure !== null) lines.push(`Carrying it out failed: ${quoted(failure)}`);
  return lines.join('\n');
}

const OUTCOMES: Readonly<Record<string, string>> = {
  allow: 'allowed',
  deny: 'denied',
  require_approval: 'to be asked about',
  throttle: 'to wait until there is room',
};

function decisionLines(
  what: string,
  { at, outcome, explanation, mode }: DecisionFacts,
  zone: string,
): string[] {
  return [
    `${what} of ${timeIn(at, zone)}: ${OUTCOMES[outcome] ?? outcome} (guardian in mode ${mode}).`,
    ...explanation.map((sentence) => `- ${quoted(sentence, 400)}`),
  ];
}

function approvalText(
  { approvalId, status, ready, risk, decidedBy, decidedAt, feedback, expiresAt }: ApprovalFacts,
  zone: string,
): string {
  if (status === 'pending') {
    const what = ready ? `waits for a decision (risk ${risk})` : 'waits for its draft';
    return `The approval ${approvalId} ${what}, until ${timeIn(expiresAt, zone)}.`;
  }
  const by = decidedBy === null ? '' : ` by ${cutText(decidedBy, 80)}`;
  const on = decidedAt === null ? '' : ` on ${timeIn(decidedAt, zone)}`;
  return `The approval ${approvalId}: ${spoken(status)}${by}${on}${feedback === null ? '.' : `, saying ${quoted(feedback)}.`}`;
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

export function ordersText({ orders }: OrderFacts, zone: string): string {
  if (orders.length === 0) {
    return 'No standing order is active that you may see: work packets ask for approval unless the mode lets them pass.';
  }
  return [
    `${orders.length} standing ${orders.length === 1 ? 'order is' : 'orders are'} active:`,
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
      .filter((_, at) => at < 10)
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

function counted(n: number, one: string, many: string, shown: number): string {
  return `${n === 1 ? `1 ${one}` : `${n} ${many}`} for a decision${n > shown ? `; the first ${shown}` : ''}:`;
}

function ofCapo(capo: string | null): string {
  return isCapoRole(capo) ? ` (${CAPOS[capo].name})` : '';
}

const spoken = (status: string) => status.replaceAll('_', ' ');

/** One line in quotation marks, which nothing inside closes. */
function quoted(text: string, most = MAX_QUOTED): string {
  return `“${cutText(text.replace(/\s+/g, ' ').trim(), most).replaceAll(/[“”]/g, '"')}”`;
}

function timeIn(at: number, zone: string): string {
  const shown = (timeZone: string) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
    }).format(at);
  try {
    return shown(zone);
  } catch {
    // A zone that only the database knows.
    return `${shown('UTC')} UTC`;
  }
}
