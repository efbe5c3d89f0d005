import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import {
  type ApprovalEntity,
  type ApprovalSubject,
  ApprovalSubjects,
  type Edit,
  type EditSituation,
  type Edited,
  type UnrevisedApproval,
  isAmongWhoAsked,
} from '../approvals/index.js';
import { PolicyDenied, decisionsInReceipt } from '../guardian/index.js';
import { strictestElectorate } from '../standing-orders/index.js';
import { factsOf, ToolsService } from '../tools/index.js';
import { contentOf } from './action-request.js';
import type { ActionDecision } from './action-request.entity.js';
import { ActionOutcomes, UNDECIDED } from './action-outcomes.js';
import { ActionRequests } from './action-requests.repository.js';
import { DecideAction, reasonOf } from './decide-action.js';

/** What a person's decision does to the action request that it is about. The approval is locked, and then the request. */
@Injectable()
export class ActionApprovals implements ApprovalSubject, OnModuleInit {
  constructor(
    private readonly subjects: ApprovalSubjects,
    private readonly requests: ActionRequests,
    private readonly tools: ToolsService,
    private readonly decideAction: DecideAction,
    private readonly outcomes: ActionOutcomes,
  ) {}

  onModuleInit(): void {
    this.subjects.register('action', this);
  }

  async approved(approval: UnrevisedApproval, by: Actor, people: readonly string[]): Promise<null> {
    const { request, at } = await this.lockOf(approval);
    const decision = decisionOf(approval, {
      outcome: 'approved',
      decidedBy: by,
      decidedAt: at,
      feedback: null,
    });
    this.outcomes.approved(request, decision, isAmongWhoAsked(approval, people), approval.receiptId!);
    return null;
  }

  async rejected(approval: UnrevisedApproval, by: Actor, feedback: string): Promise<null> {
    const { request, at } = await this.lockOf(approval);
    const decision = decisionOf(approval, { outcome: 'rejected', decidedBy: by, decidedAt: at, feedback });
    const { receiptId } = approval;
    this.outcomes.write(request, { status: 'rejected', decision, dueAt: null, receiptId: receiptId! });
    return null;
  }

  /** Its agent asks again by itself. @throws InvalidTransition */
  assertRevisable(): Promise<void> {
    throw new InvalidTransition({
      message:
        'A request of an agent cannot be drafted again. Edit it, or reject it with a reason, which the agent is told.',
    });
  }

  changesRequested(): Promise<null> {
    throw new Error('an action request has no other draft');
  }

  /** @throws ValidationFailed, PolicyDenied */
  async edit(
    approval: ApprovalEntity,
    edit: Edit,
    { by, people, at, guardian }: EditSituation,
  ): Promise<Edited | undefined> {
    const { params, packets, add, remove, output } = edit;
    if (params === null || packets.length + add.length + remove.length > 0 || output !== null) {
      const message = 'give the params of the action request; nothing else of it can be changed';
      throw new ValidationFailed({ details: [{ path: 'params', rule: 'isParamsOnly', message }] });
    }
    const { request } = await this.lockOf(approval);
    const before = approval.packets[0]!.action.params;
    const basis = await this.decideAction.basisOf(request, guardian);
    const { tool } = basis;
    if (this.tools.checkParams(tool, params, by) === 'timeout') {
      const message = 'the parameters took too long to be checked against the tool';
      throw new ValidationFailed({ details: [{ path: 'params', rule: 'timeout', message }] });
    }
    if (canonicalJson(params) === canonicalJson(before)) return undefined;
    // Orders may ask more of these parameters than of those before, and an edit loosens nothing.
    const policy = await this.decideAction.decide(request, params, basis);
    const { outcome, explanation, approval: terms } = policy.decision;
    if (outcome === 'deny') {
      throw new PolicyDenied({ message: explanation.join(' '), details: { explanation } });
    }
    // What is read above the parameters is made of them.
    const title = tool ? factsOf(tool, params).title : request.title;
    // Should it be asked again, an editor is no second pair of eyes.
    this.requests.update(request, {
      title,
      requesterIds: [...new Set([...request.requesterIds, ...people])],
    });
    const content = {
      ...contentOf({ ...request, title, policy: reasonOf(policy) }, params),
      title,
      expiresAt: Math.min(approval.expiresAt, at + terms.expiresInMinutes * 60_000),
      onExpiry: approval.onExpiry,
      selfApproval: approval.selfApproval && terms.selfApproval,
      ...strictestElectorate([approval, terms]),
    };
    const workPacketId = request.actionRequestId;
    const edits = [{ path: 'params', by, at }];
    return {
      changes: [{ workPacketId, change: 'edited', paths: ['params'], before: { params: before } }],
      content: { ...content, packets: [{ ...content.packets[0]!, edits }] },
      details: { decisions: decisionsInReceipt([policy]) },
    };
  }

  async expired(approval: UnrevisedApproval): Promise<void> {
    const { request } = await this.lockOf(approval);
    await this.outcomes.expire(request, UNDECIDED);
  }

  async endLater(approval: UnrevisedApproval): Promise<void> {
    const { request, at } = await this.lockOf(approval);
    this.requests.update(request, { dueAt: at });
  }

  status(): Promise<null> {
    return Promise.resolve(null);
  }

  private async lockOf({ workspaceId, actionRequestId }: UnrevisedApproval) {
    const { request, at } = await this.requests.lockAt(workspaceId, actionRequestId!);
    // No refusal: the approval has been decided in this transaction already.
    if (!request) throw new Error(`action request ${actionRequestId} is not in the team of its approval`);
    return { request, at };
  }
}

/** A decision on the parameters as the approval shows them. */
function decisionOf(
  { packets }: UnrevisedApproval,
  decision: Omit<ActionDecision, 'params'>,
): ActionDecision {
  return { ...decision, params: packets[0]!.action.params };
}
