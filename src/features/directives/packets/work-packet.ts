import {
  ACTION_TYPES,
  type Action,
  type DraftPacket,
  type ValidAction,
  capoActor,
  engineOf,
  leverageOf,
  withoutAddress,
} from '../../capos/index.js';
import type { DecidedPacket } from '../../standing-orders/index.js';
import type { Priority } from '../../terms/index.js';
import { canonicalJson, sha256 } from '../../../platform/kernel/canonical-json.js';
import type { Id } from '../../../platform/kernel/ids.js';
import type { WorkPacketSummary, WorkPacketView } from './work-packets.dto.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import type { ListedPacket } from './work-packets.reader.js';

/** What a packet does, apart from how it stands: the part that is allowed, and the part that is sent. */
export type PacketContent = Pick<WorkPacketEntity, 'workPacketId' | 'actionType' | 'target' | 'params'>;

/** SHA-256 over the content; stored when it is allowed and compared when it is sent. */
export function contentHash({ workPacketId, actionType, target, params }: PacketContent): string {
  return sha256(canonicalJson({ workPacketId, actionType, target, params }));
}

/** What the packet does, as the registry knows it. */
export function actionOf({ actionType, params }: Pick<PacketContent, 'actionType' | 'params'>): Action {
  // Only what the registry accepted is stored.
  return { type: actionType, params } as Action;
}

/** What the receipts of a packet have in common; the actor is its capo unless another is named. */
export function receiptSubject({ workPacketId, directiveId, teamId, capo }: WorkPacketEntity) {
  return {
    actor: capoActor(capo),
    entity: { type: 'work_packet', id: workPacketId },
    directiveId,
    teamId,
    capo,
  };
}

export interface PacketOrigin extends Pick<
  WorkPacketEntity,
  'workspaceId' | 'teamId' | 'directiveId' | 'position' | 'capo' | 'createdAt'
> {
  workPacketId: Id<'pkt'>;
}

/** A packet from a capo's draft. Scope, reversibility, undo and base score come from the registry, not from the draft. */
export function newPacket(
  draft: Pick<DraftPacket, 'title' | 'rationale' | 'multipliers' | 'needsInput'>,
  { action, reversibility, compensation }: Omit<ValidAction, 'ok'>,
  origin: PacketOrigin,
): WorkPacketEntity {
  const type = ACTION_TYPES[action.type];
  return {
    ...origin,
    engine: engineOf(origin.capo),
    title: draft.title,
    kind: type.kind,
    actionType: action.type,
    target: type.target(action.params),
    params: action.params,
    needsInput: draft.needsInput,
    reversibility,
    compensation,
    status: 'drafted',
    decision: null,
    allowedHash: null,
    allowedBy: null,
    leverageScore: leverageOf(action.type, draft.multipliers),
    multipliers: draft.multipliers,
    rationale: draft.rationale,
    cost: { amount: 0, currency: 'USD' },
    result: null,
    receiptId: null,
    executedAt: null,
    sendingSince: null,
    beganEpoch: null,
    beganSeq: null,
    throttledUntil: null,
    throttledBy: null,
    attempts: 0,
    envelope: null,
  };
}

/** How many people a packet reaches outside. */
export function recipientsOf({ params }: Pick<PacketContent, 'params'>): number {
  const count = (value: unknown) => (Array.isArray(value) ? value.length : 0);
  return count(params['to']) + count(params['cc']);
}

/** What the guardian decides about. */
export function decidedPacketOf(
  packet: WorkPacketEntity,
  priority: Priority,
): DecidedPacket & { workPacketId: Id<'pkt'> } {
  const { amount, currency } = packet.params;
  return {
    workPacketId: packet.workPacketId as Id<'pkt'>,
    capo: packet.capo,
    engine: packet.engine,
    teamId: packet.teamId as Id<'team'> | null,
    priority,
    actionType: packet.actionType,
    reversibility: packet.reversibility,
    target: decidedTarget(packet),
    params: everyRecipient(packet.params) as DecidedPacket['params'],
    recipients: recipientsOf(packet),
    amount: typeof amount === 'number' ? amount : null,
    currency: typeof currency === 'string' ? currency : null,
  };
}

/**
 * Orders decide about a post by the address of its destination too, which its target does not show: an order that denies a
 * host still does (docs/decisions/0029).
 */
function decidedTarget({ actionType, target, params }: PacketContent): string | null {
  const { destination } = params;
  return actionType === 'webhook.post' && typeof destination === 'string' ? destination : target;
}

/** An order that names whom a mail may reach applies to each recipient, so copies stand among them. */
function everyRecipient(params: Record<string, unknown>): Record<string, unknown> {
  const { to, cc } = params;
  return Array.isArray(to) && Array.isArray(cc) ? { ...params, to: [...to, ...cc] } : params;
}

/** @param seesAddress whether it is shown to somebody who may decide about it */
export function viewOf(
  packet: WorkPacketEntity,
  seesAddress: boolean,
  nextAttemptAt: number | null,
): WorkPacketView {
  const { actionType, decision, params, target } = packet;
  return {
    ...factsOf(packet),
    action: { type: actionType, target, params: seesAddress ? params : withoutAddress(actionType, params) },
    needsInput: packet.needsInput,
    compensation: packet.compensation,
    decision: decision && {
      outcome: decision.outcome,
      explanation: decision.explanation,
      considered: decision.considered,
      matched: decision.matched,
      limits: decision.limits,
      shadow: decision.shadow ?? [],
      inputHash: decision.inputHash,
    },
    result: packet.result,
    nextAttemptAt,
  };
}

export function summaryOf(packet: ListedPacket): WorkPacketSummary {
  const { actionType: type, target, outcome } = packet;
  return {
    ...factsOf(packet),
    action: { type, target },
    decision: outcome === null ? null : { outcome },
  };
}

function factsOf(packet: Omit<ListedPacket, 'outcome'>): Omit<WorkPacketSummary, 'action' | 'decision'> {
  return {
    workPacketId: packet.workPacketId,
    directiveId: packet.directiveId,
    teamId: packet.teamId,
    capo: packet.capo,
    engine: packet.engine,
    title: packet.title,
    kind: packet.kind,
    reversibility: packet.reversibility,
    status: packet.status,
    leverageScore: packet.leverageScore,
    multipliers: packet.multipliers,
    rationale: packet.rationale,
    cost: packet.cost,
    attempts: packet.attempts,
    throttledUntil: packet.status === 'queued' ? packet.throttledUntil : null,
    createdAt: packet.createdAt,
    executedAt: packet.executedAt,
    receiptId: packet.receiptId,
  };
}

/** Somebody has the mail already. */
export function hasLeftInPart({ result }: Pick<WorkPacketEntity, 'result'>): boolean {
  return result?.recipients?.some(({ outcome }) => outcome === 'accepted') ?? false;
}
