import { Injectable } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { counted, cutText } from '../../platform/kernel/text.js';
import { type NewReceipt, Receipts } from '../../platform/receipts/receipts.js';
import { RequestApproval, type UnrevisedApproval } from '../approvals/index.js';
import { ACTION_UNCONFIRMED, ARRIVED, DID_NOT_ARRIVE, DISMISS, Escalations } from '../escalations/index.js';
import { Events } from '../events/index.js';
import { GUARDIAN, type PolicyDecision, PolicyGate, decisionsInReceipt } from '../guardian/index.js';
import { paramsHashOf } from '../terms/index.js';
import { consumable, UNCHECKED } from './action-request.js';
import type { ActionDecision, ActionRequestEntity, ActionResult } from './action-request.entity.js';
import { ActionRequests, type Withdrawn } from './action-requests.repository.js';

/** Why a request expired that a person had to decide. */
export const UNDECIDED = 'Nobody decided about it in time.';

/** Published when a request changes, so that those who wait for it read it again. */
export const ACTION_TOPIC = 'action';

/** What the receipt of an act on a request says besides what all of them have in common. */
interface Note extends Pick<NewReceipt, 'action' | 'outcome' | 'details' | 'guardianEpoch'> {
  /** What became of it, to go behind its title. */
  says: string;
  policy?: PolicyDecision;
}

/** How a request ends that nobody consumes. */
interface Ending extends Pick<Note, 'says' | 'outcome'> {
  status: 'expired' | 'cancelled';
  because: string;
}

/** What becomes of action requests, in the open transaction, with the receipts of that. */
@Injectable()
export class ActionOutcomes {
  constructor(
    private readonly requests: ActionRequests,
    private readonly gate: PolicyGate,
    private readonly requestApproval: RequestApproval,
    private readonly escalations: Escalations,
    private readonly events: Events,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
  ) {}

  /** Denied without a decision: its parameters could not be checked in time (CONTRACT section 7). */
  unchecked(request: ActionRequestEntity): ActionRequestEntity {
    const says = 'is not allowed: its parameters could not be checked in time';
    const note = { action: 'action.denied', outcome: 'failure', says } as const;
    const receiptId = this.note(request, request.requestedBy, note);
    return { ...request, status: 'denied', policy: UNCHECKED, receiptId };
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

  /** Ends what nobody decided or consumed in time. */
  async expire(request: ActionRequestEntity, because: string, outcome?: 'failure'): Promise<void> {
    await this.end([request], SYSTEM, { status: 'expired', because, says: 'expired', outcome });
  }

  /** Takes back what was not consumed, with the approvals that wait for a person. */
  async withdraw(
    requests: readonly ActionRequestEntity[],
    approvals: readonly UnrevisedApproval[],
    by: Actor,
    because: string,
  ): Promise<ActionRequestEntity[]> {
    const ended = await this.end(requests, by, { status: 'cancelled', because, says: 'was cancelled' });
    for (const approval of approvals) this.requestApproval.withdraw(approval, by, because);
    return ended;
  }

  /** Ends what was not consumed; what orders had counted is given back, unless it has been. */
  private async end(
    requests: readonly ActionRequestEntity[],
    by: Actor,
    { status, because, says, outcome }: Ending,
  ): Promise<ActionRequestEntity[]> {
    const allowed = requests.filter((request) => request.status === 'allowed');
    const ids = allowed.map(({ actionRequestId }) => actionRequestId);
    const { givenBack = [] } = await this.gate.giveBack(ids);
    return requests.map((request) => {
      const own = givenBack.filter(({ workPacketId }) => workPacketId === request.actionRequestId);
      const receiptId = this.note(request, by, {
        action: `action.${status}`,
        outcome,
        says: `${says}: ${because.replace(/\.$/, '')}`,
        details: own.length > 0 ? { givenBack: own } : {},
      });
      return this.write(request, { status, endedBecause: because, dueAt: null, retryAt: null, receiptId });
    });
  }

  /** Changes a locked request, and wakes those who wait for it. */
  write(request: ActionRequestEntity, changes: Partial<ActionRequestEntity>): ActionRequestEntity {
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

  /** Records what the agent says came of it. */
  async reported(
    request: ActionRequestEntity,
    by: Actor,
    result: ActionResult,
  ): Promise<ActionRequestEntity> {
    const { actionRequestId, tool, paramsHash, tokenRootId, agent } = request;
    const { outcome, summary } = result;
    const status = outcome === 'succeeded' ? 'completed' : 'failed';
    const receiptId = this.note(request, by, {
      action: `action.${status}`,
      outcome: outcome === 'succeeded' ? 'success' : 'failure',
      says: `${outcome}, as reported`,
      details: { summary },
    });
    this.events.record('action.completed', {
      actionRequestId,
      tool,
      paramsHash,
      agent: { tokenId: tokenRootId, name: agent },
      outcome,
      receiptId,
    });
    if (request.status === 'unconfirmed') {
      const because = `The agent says that it ${outcome}.`;
      await this.escalations.resolveAbout(ACTION_UNCONFIRMED, entityOf(request), because);
    }
    return this.write(request, { status, result, dueAt: null, receiptId });
  }

  /** Voids for good what may be consumed, with a receipt for each team; answers how much that was. */
  async voidAll(workspaceId: string, killReceiptId: string): Promise<number> {
    const voided = await this.requests.void(workspaceId, 'The kill switch was engaged.');
    const given = await this.gate.giveBack(voided.map(({ actionRequestId }) => actionRequestId));
    for (const [teamId, requests] of Map.groupBy(voided, (one) => one.teamId)) {
      const ids = requests.map(({ actionRequestId }) => actionRequestId);
      const givenBack = given.givenBack?.filter(({ workPacketId }) => ids.includes(workPacketId)) ?? [];
      this.receipts.append({
        actor: GUARDIAN,
        action: 'action.voided',
        entity: { type: 'guardian', id: workspaceId },
        teamId,
        summary: `The kill switch voided ${counted(ids.length, 'action request')} that could have been consumed: ${namesOf(requests)}.`,
        details: { actionRequestIds: ids, kill: killReceiptId, ...(givenBack.length > 0 && { givenBack }) },
      });
    }
    return voided.length;
  }

  /** A person has to find out whether it was done: no result came. */
  async unconfirmed(request: ActionRequestEntity): Promise<void> {
    const says = 'was taken up, and no result came: whether it was done is not known';
    const receiptId = this.note(request, SYSTEM, { action: 'action.unconfirmed', outcome: 'failure', says });
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

function entityOf({ actionRequestId }: Pick<ActionRequestEntity, 'actionRequestId'>) {
  return { type: 'action_request', id: actionRequestId };
}

const NAMED = 3;

/** A few by their titles. */
function namesOf(requests: readonly Withdrawn[]): string {
  const named = requests
    .slice(0, NAMED)
    .map(({ title, requester }) => `"${cutText(title, 80)}" for ${requester}`);
  const left = requests.length - named.length;
  return [...named, ...(left > 0 ? [`${left} more`] : [])].join(', ');
}
