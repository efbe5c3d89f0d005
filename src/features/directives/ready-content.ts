import {
  type ApprovalPacket,
  type ApprovalPolicy,
  type Author,
  type ReadyContent,
  approvedHash,
} from '../approvals/index.js';
import { type Concern, highestReversibility, riskOf } from '../capos/index.js';
import { type Decision, type Effect, strictest, strictestElectorate } from '../standing-orders/index.js';
import { APPROVAL_LASTS_MS, type Priority, RISKS, type Risk } from '../terms/index.js';
import { contentHash, recipientsOf } from './packets/work-packet.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import type { DirectiveEntity } from './directive.entity.js';

/** What a draft is besides its work packets. */
export interface DraftFacts {
  now: number;
  concerns?: readonly Concern[];
  /** Who wrote each work packet; the runner of the directive unless said. */
  writtenBy?: (packet: WorkPacketEntity) => Pick<ApprovalPacket, 'writtenBy' | 'edits'>;
}

/** What a person is shown to decide on: each work packet with its complete parameters, the risk, and why they are asked. */
export function readyContent(
  directive: Pick<DirectiveEntity, 'capo' | 'output' | 'priority' | 'engine' | 'requiresApproval'>,
  packets: readonly WorkPacketEntity[],
  decisions: readonly Decision[],
  {
    now,
    concerns = [],
    writtenBy = () => ({ writtenBy: authorOf(directive.engine), edits: [] }),
  }: DraftFacts,
): ReadyContent {
  const { capo, output, priority } = directive;
  const shown = packets.map((packet) => ({ ...shownPacket(packet), ...writtenBy(packet) }));
  const terms = decisions.map(({ approval }) => approval);
  return {
    capo,
    summary: output?.summary ?? '',
    risk: highest([
      ...packets.map((packet) => riskOfPacket(packet, priority)),
      ...concerns.map(({ risk }) => risk),
    ]),
    concerns: [...concerns],
    reversibility: highestReversibility(packets.map((packet) => packet.reversibility)),
    output,
    packets: shown,
    inputsNeeded: packets.reduce((count, { needsInput }) => count + needsInput.length, 0),
    contentHash: approvedHash(output, shown),
    policy: policyOf(decisions, whyNobodyElseMayAllow(packets, concerns), directive),
    expiresAt: now + Math.min(APPROVAL_LASTS_MS, ...terms.map((term) => term.expiresInMinutes * 60_000)),
    onExpiry: terms.some((term) => term.onExpiry === 'escalate') ? 'escalate' : 'reject',
    selfApproval: terms.every((term) => term.selfApproval),
    ...strictestElectorate(terms),
  };
}

/** Why a person has to see a draft whatever the standing orders allow; empty when none has to. */
export function whyNobodyElseMayAllow(
  packets: readonly Pick<WorkPacketEntity, 'title' | 'needsInput'>[],
  concerns: readonly Concern[],
): string[] {
  const lacking = packets.filter(({ needsInput }) => needsInput.length > 0);
  return [
    ...lacking.map(({ title }) => `"${title}" lacks something that a person has to supply.`),
    ...concerns.map(({ reason }) => reason),
  ];
}

export function authorOf(engine: DirectiveEntity['engine']): Author {
  return engine?.model ? 'model' : 'capo';
}

/**
 * What comes of a draft as a whole: what is decided most strictly about a work packet of it, and at least that a person is asked,
 * where there is a reason for that or nothing was decided.
 * @param reasons those of {@link whyNobodyElseMayAllow}
 */
export function outcomeOfDraft(
  decisions: readonly Pick<Decision, 'outcome'>[],
  reasons: readonly string[],
): Effect {
  const outcomes = decisions.map(({ outcome }) => outcome);
  const asks = outcomes.length === 0 || reasons.length > 0;
  return strictest(asks ? [...outcomes, 'require_approval'] : outcomes)!;
}

const HANDED_IN_FOR_APPROVAL = 'The directive was handed in for approval.';
const ASKED_BEFORE = 'A person was asked about an earlier version, so a person decides on this one too.';

/** What comes of the draft, and every reason for asking: what is allowed is none. */
function policyOf(
  decisions: readonly Decision[],
  reasons: readonly string[],
  { requiresApproval }: Pick<DirectiveEntity, 'requiresApproval'>,
): ApprovalPolicy {
  const asking = decisions.flatMap(({ outcome, explanation }) => (outcome === 'allow' ? [] : explanation));
  const all = [...new Set([...reasons, ...asking])];
  return {
    outcome: outcomeOfDraft(decisions, reasons),
    explanation: all.length > 0 ? all : [requiresApproval ? HANDED_IN_FOR_APPROVAL : ASKED_BEFORE],
  };
}

function shownPacket(packet: WorkPacketEntity): Omit<ApprovalPacket, 'writtenBy' | 'edits'> {
  return {
    workPacketId: packet.workPacketId,
    title: packet.title,
    action: { type: packet.actionType, target: packet.target, params: packet.params },
    reversibility: packet.reversibility,
    rationale: packet.rationale,
    contentHash: contentHash(packet),
    needsInput: packet.needsInput,
  };
}

function riskOfPacket({ reversibility, params }: WorkPacketEntity, priority: Priority): Risk {
  const amount = typeof params['amount'] === 'number' ? Math.abs(params['amount']) : 0;
  return riskOf({ reversibility, priority, recipients: recipientsOf({ params }), amount });
}

function highest(risks: readonly Risk[]): Risk {
  return RISKS.findLast((risk) => risks.includes(risk)) ?? 'low';
}
