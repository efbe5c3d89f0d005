import { Injectable } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { newId } from '../../platform/kernel/ids.js';
import { type NewReceipt, Receipts } from '../../platform/receipts/receipts.js';
import { approvedHash } from '../approvals/approval.js';
import type { UnrevisedApproval } from '../approvals/approval.entity.js';
import type { EditedContent } from '../approvals/approvals.repository.js';
import { RequestApproval } from '../approvals/request-approval.js';
import { ACTION_UNCONFIRMED, ARRIVED, DID_NOT_ARRIVE, DISMISS } from '../escalations/escalation-kinds.js';
import { Escalations } from '../escalations/escalations.repository.js';
import { GUARDIAN } from '../guardian/guardian.js';
import { decisionsInReceipt, type PolicyDecision } from '../guardian/policy-decision.js';
import { PolicyGate } from '../guardian/policy-gate.js';
import { type Decision, strictestElectorate } from '../standing-orders/evaluate.js';
import { paramsHashOf } from '../terms/action-hashes.js';
import { amountInWords } from '../tools/index.js';
import { approvalPacketOf, UNCHECKED_PARAMS } from './action-request.js';
import type { ActionDecision, ActionRequestEntity } from './action-request.entity.js';
import { ActionRequests } from './action-requests.repository.js';

/** Why a request expired that a person had to decide. */
export const UNDECIDED = 'Nobody decided about it in time.';

/** Published when something becomes of a request: whoever waits for it looks again. */
export const ACTION_TOPIC = 'action';

/** What the receipt of an act on a request says besides what all of them have in common. */
interface Note extends Pick<NewReceipt, 'action' | 'outcome' | 'details' | 'guardianEpoch'> {
  /** What became of it, to go behind its title. */
  says: string;
  policy?: PolicyDecision;
}

type Changes = Partial<ActionRequestEntity>;

/** What becomes of action requests, in the open transaction, with the receipts of that. */
@Injectable()
export class ActionOutcomes {
  constructor(
    private readonly requests: ActionRequests,
    private readonly gate: PolicyGate,
    private readonly requestApproval: RequestApproval,
    private readonly escalations: Escalations,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
  ) {}

  /** The request as the policy decides it; what it lets pass is counted. The caller writes it, and then {@link ask}s. */
  decided(request: ActionRequestEntity, policy: PolicyDecision, by: Actor): ActionRequestEntity {
    const { outcome, approval, throttledUntil } = policy.decision;
    const { at, guardian } = policy.input;
    const { action, says } = TOLD[outcome];
    if (outcome === 'allow') this.gate.use(policy);
    const undecided = {
      ...request,
      // A person may have approved others before: what is decided now is what was asked for.
      paramsHash: request.decision ? paramsHashOf(request.tool, request.params) : request.paramsHash,
      decision: null,
      consumeBy: null,
      dueAt: null,
      retryAt: null,
      approvalId: outcome === 'require_approval' ? newId('apr') : null,
      byRequester: false,
    };
    const receiptId = this.note(undecided, by, {
      action,
      says,
      policy,
      guardianEpoch: guardian.epoch,
      ...(outcome === 'deny' && { outcome: 'failure' }),
    });
    const known = { ...undecided, policy: reasonOf(policy), receiptId };
    const decision = (what: ActionDecision['outcome']): ActionDecision => ({
      outcome: what,
      decidedBy: GUARDIAN,
      decidedAt: at,
      params: request.params,
      feedback: null,
    });
    switch (outcome) {
      case 'allow':
        return { ...known, ...consumable(request, decision('allowed')) };
      case 'deny':
        return { ...known, status: 'denied', decision: decision('denied') };
      case 'throttle':
        return {
          ...known,
          status: 'pending',
          retryAt: throttledUntil,
          dueAt: Math.min(throttledUntil ?? Infinity, request.expiresAt),
        };
      default: {
        const expiresAt = Math.min(request.expiresAt, at + approval.expiresInMinutes * 60_000);
        return { ...known, status: 'pending', expiresAt };
      }
    }
  }

  /** Puts a request that waits for a person before the members. */
  ask(request: ActionRequestEntity, terms: Decision['approval']): void {
    const { approvalId, actionRequestId, workspaceId, teamId, title, requestedBy, requesterIds } = request;
    if (approvalId === null) return;
    const about = {
      approvalId,
      workspaceId,
      teamId,
      directiveId: null,
      actionRequestId,
      title,
      deadline: null,
    };
    this.requestApproval.open({
      ...about,
      kind: 'action',
      capo: null,
      priority: 'medium',
      round: 0,
      requestedBy,
      requesterIds,
    });
    const { onExpiry, selfApproval } = terms;
    const content = {
      ...contentOf(request, request.params),
      capo: null,
      concerns: [],
      onExpiry,
      selfApproval,
      ...strictestElectorate([terms]),
    };
    this.requestApproval.makeReady(about, content, { author: 'agent', by: requestedBy });
  }

  /** Denied without a decision: its parameters could not be checked in time (CONTRACT section 7). */
  unchecked(request: ActionRequestEntity): ActionRequestEntity {
    const says = 'is not allowed: its parameters could not be checked in time';
    const receiptId = this.note(request, request.requestedBy, {
      action: 'action.denied',
      outcome: 'failure',
      says,
    });
    const policy = { outcome: 'deny', explanation: [UNCHECKED_PARAMS] };
    return { ...request, status: 'denied', policy, receiptId };
  }

  /** What a person allowed may be consumed from now on. */
  approved(
    request: ActionRequestEntity,
    decision: ActionDecision,
    byRequester: boolean,
    receiptId: string,
  ): void {
    const paramsHash = paramsHashOf(request.tool, decision.params);
    this.write(request, { ...consumable(request, decision), paramsHash, byRequester, receiptId });
  }

  /** Gives back what orders had counted of these, if they were allowed; as the receipt of each has to tell it. */
  async giveBack(requests: readonly ActionRequestEntity[]): Promise<(id: string) => Note['details']> {
    const allowed = requests.filter(({ status }) => status === 'allowed');
    const { givenBack = [] } = await this.gate.giveBack(
      allowed.map(({ actionRequestId }) => actionRequestId),
    );
    return (id) => {
      const own = givenBack.filter(({ workPacketId }) => workPacketId === id);
      return own.length > 0 ? { givenBack: own } : {};
    };
  }

  /** Ends what was not consumed; what orders had counted is given back, unless it has been. */
  async end(
    request: ActionRequestEntity,
    by: Actor,
    changes: Changes & Pick<ActionRequestEntity, 'status'>,
    says: string,
    given?: Awaited<ReturnType<ActionOutcomes['giveBack']>>,
    note: Pick<Note, 'outcome'> = {},
  ): Promise<ActionRequestEntity> {
    const givenBack = (given ?? (await this.giveBack([request])))(request.actionRequestId);
    const receiptId = this.note(request, by, {
      ...note,
      action: `action.${changes.status}`,
      says,
      details: givenBack,
    });
    return this.write(request, { ...changes, dueAt: null, retryAt: null, receiptId });
  }

  /** Ends what nobody decided or consumed in time. */
  async expire(
    request: ActionRequestEntity,
    because: string,
    note: Pick<Note, 'outcome'> = {},
  ): Promise<void> {
    const ended = { status: 'expired', endedBecause: because } as const;
    await this.end(request, SYSTEM, ended, `expired: ${because.replace(/\.$/, '')}`, undefined, note);
  }

  /** Takes back what was not consumed, with the approval that waits for a person. */
  async withdraw(
    request: ActionRequestEntity,
    approval: UnrevisedApproval | undefined,
    by: Actor,
    because: string,
    given?: Awaited<ReturnType<ActionOutcomes['giveBack']>>,
  ): Promise<ActionRequestEntity> {
    const ended = await this.end(
      request,
      by,
      { status: 'cancelled', endedBecause: because },
      `was cancelled: ${because}`,
      given,
    );
    if (approval?.status === 'pending') this.requestApproval.withdraw(approval, by, because);
    return ended;
  }

  /** Writes what became of a locked request, and wakes whoever waits for it. */
  write(request: ActionRequestEntity, changes: Changes): ActionRequestEntity {
    this.requests.update(request, changes);
    this.channel.publish(ACTION_TOPIC, request.actionRequestId);
    return { ...request, ...changes };
  }

  /** Appends the receipt of an act on the request; answers its id. */
  note(request: ActionRequestEntity, actor: Actor, { says, policy, details, ...note }: Note): string {
    const { title, teamId, actionRequestId, tool, fingerprint, paramsHash, approvalId, requestedBy } =
      request;
    return this.receipts.append({
      ...note,
      actor,
      entity: { type: 'action_request', id: actionRequestId },
      teamId,
      summary: `"${title}" for ${requestedBy.name} ${says}.`,
      details: {
        tool,
        agent: requestedBy.name,
        fingerprint,
        paramsHash,
        approvalId,
        ...details,
        ...(policy && { decisions: decisionsInReceipt([policy]) }),
      },
    });
  }

  /** A person has to find out whether it was done: no result came. */
  async unconfirmed(request: ActionRequestEntity, by: Actor): Promise<void> {
    const says = 'was taken up, and no result came: whether it was done is not known';
    const receiptId = this.note(request, by, { action: 'action.unconfirmed', outcome: 'failure', says });
    const { teamId, title, requestedBy } = this.write(request, {
      status: 'unconfirmed',
      dueAt: null,
      receiptId,
    });
    await this.escalations.open({
      kind: ACTION_UNCONFIRMED,
      entity: entityOf(request),
      teamId,
      reason: `${requestedBy.name} took up "${title}" and has not said what came of it. Look whether it was done.`,
      options: [ARRIVED, DID_NOT_ARRIVE, DISMISS],
      dueAt: null,
    });
  }
}

/** Why a person decides, with the amount that the policy read. */
export function reasonOf({ decision, input }: PolicyDecision): ActionRequestEntity['policy'] {
  const { amount, currency, outside } = input.packet;
  const { outcome, explanation } = decision;
  if (amount === null || currency === null || outside?.unread.includes('amount'))
    return { outcome, explanation };
  return { outcome, explanation, amount: `${amountInWords(amount, currency)} ${currency}` };
}

/** What a person decides on. */
export function contentOf(
  request: ActionRequestEntity,
  params: Record<string, unknown>,
): Omit<EditedContent, 'onExpiry' | 'selfApproval' | 'quorum' | 'approvers'> {
  const { requestedBy, title, risk, reversibility, policy, expiresAt } = request;
  const packets = [approvalPacketOf(request, params)];
  return {
    summary: `${requestedBy.name} asks to do this once: ${title}`,
    risk,
    reversibility,
    output: null,
    packets,
    inputsNeeded: 0,
    contentHash: approvedHash(null, packets),
    policy,
    expiresAt,
  };
}

export function entityOf({ actionRequestId }: Pick<ActionRequestEntity, 'actionRequestId'>) {
  return { type: 'action_request', id: actionRequestId };
}

function consumable({ consumeInSeconds }: ActionRequestEntity, decision: ActionDecision) {
  const consumeBy = decision.decidedAt + consumeInSeconds * 1_000;
  const status = decision.outcome === 'allowed' ? ('allowed' as const) : ('approved' as const);
  return { status, decision, consumeBy, dueAt: consumeBy };
}

const TOLD = {
  allow: { action: 'action.allowed', says: 'is allowed by the standing orders' },
  deny: { action: 'action.denied', says: 'is not allowed by the standing orders' },
  throttle: { action: 'action.throttled', says: 'waits for its turn under the standing orders' },
  require_approval: { action: 'action.asked', says: 'waits for a person' },
} as const;
