import { cutText } from '../../platform/kernel/text.js';
import { nameOfCapo, ofCapo, quoted, spoken, timeIn } from './answer-words.js';
import type {
  ApprovalFacts,
  DecisionFacts,
  DirectiveFacts,
  OrderRecord,
  PacketFacts,
  RecordFacts,
  SignalRecord,
} from './look-up.js';

/** One record in sentences, made as the other answers are (plain-answer.ts). */

const ALL = new Intl.ListFormat('en', { type: 'conjunction' });

export function recordText(id: string, found: RecordFacts | null, zone: string): string {
  if (found === null) return `There is no record ${id}, or you may not see it.`;
  if ('order' in found) return orderText(found.order, zone);
  if ('signal' in found) return signalText(found.signal, zone);
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
    ...(directive.packetsInAll > directive.packets.length && !id.startsWith('pkt_')
      ? [`It has ${directive.packetsInAll} work packets; these are the first ${packets.length}.`]
      : []),
    ...(id.startsWith('pkt_')
      ? [`It belongs to the directive ${directive.directiveId}: ${quoted(directive.text)}`]
      : []),
    ...approvals.map((approval) => approvalText(approval, zone)),
  ].join('\n');
}

const EFFECTS: Readonly<Record<OrderRecord['effect'], string>> = {
  allow: 'allows the work packets that it is about',
  deny: 'denies the work packets that it is about',
  require_approval: 'has the work packets that it is about wait for approval',
  throttle: 'lets only so many of the work packets that it is about leave at a time',
};

function orderText(order: OrderRecord, zone: string): string {
  const { standingOrderId, name, text, status, effect, capos, version, heldBecause } = order;
  const since = status === 'active' && order.activatedAt !== null ? order.activatedAt : null;
  const is = `${status === 'shadow' ? 'in shadow' : status}${since === null ? '' : ` since ${timeIn(since, zone)}`}`;
  const whose = capos === null ? '' : `, of ${ALL.format(capos.map(nameOfCapo))}`;
  const ends = order.expiresAt === null ? '' : `, until ${timeIn(order.expiresAt, zone)}`;
  return [
    `The standing order ${standingOrderId} (${quoted(name)}, version ${version}) is ${is}.`,
    `${status === 'active' ? 'It' : 'While active it'} ${EFFECTS[effect]}${whose}${ends}.`,
    ...(text === name ? [] : [`In a person's words: ${quoted(text, 400)}`]),
    ...(heldBecause === null ? [] : [`It did not become active: ${quoted(heldBecause, 400)}`]),
  ].join('\n');
}

function signalText(
  { signalId, severity, title, body, createdAt, acknowledgedAt }: SignalRecord,
  zone: string,
): string {
  const acknowledged =
    acknowledgedAt === null
      ? 'nobody has acknowledged it'
      : `it was acknowledged on ${timeIn(acknowledgedAt, zone)}`;
  return [
    `The signal ${signalId} (${severity}) of ${timeIn(createdAt, zone)} is ${quoted(title)}; ${acknowledged}.`,
    ...(body === '' ? [] : [`It says: ${quoted(body, 600)}`]),
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
