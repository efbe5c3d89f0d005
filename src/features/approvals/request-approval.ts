import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { Events } from '../events/index.js';
import { APPROVAL_LASTS_MS, TELL_MEMBERS } from '../terms/index.js';
import type { ApprovalRevision } from './approval-content.dto.js';
import { escalationTime } from './approval-expiry.js';
import { groupKeyOf } from './approval-group.js';
import type { ApprovalEntity, ApprovalKind, UnrevisedApproval } from './approval.entity.js';
import { about, quotedTitle } from './approval.js';
import { Approvals, type ReadyContent } from './approvals.repository.js';
import type { WaitingApproval } from './current-approvals.repository.js';
import type { Question } from './question.js';

/** Plans the mails about an approval that becomes ready, in the open transaction. */
export type TellOfApproval = (approval: WaitingApproval, at: number) => void;

/** Looks up whom; undefined: they are told by work of its own. */
type LookUp = (workspaceId: string, teamId: string | null) => Promise<TellOfApproval | undefined>;

/** Who is told of approvals that become ready. They belong to a higher feature, which registers. */
@Injectable()
export class ReadyApprovals {
  #lookUp: LookUp | undefined;

  register(lookUp: LookUp): void {
    this.#lookUp = lookUp;
  }

  /** In the open transaction, and with what else is asked for there at the same time. */
  async lookUp(workspaceId: string, teamId: string | null): Promise<TellOfApproval | undefined> {
    return this.#lookUp?.(workspaceId, teamId);
  }
}

/** What an approval is asked for. */
interface NewApproval extends Pick<
  ApprovalEntity,
  | 'approvalId'
  | 'workspaceId'
  | 'teamId'
  | 'directiveId'
  | 'capo'
  | 'title'
  | 'priority'
  | 'round'
  | 'requestedBy'
> {
  /** What an agent from outside asks for. */
  actionRequestId?: string;
  questionId?: string;
  question?: Question;
  /** Left out: `output`. */
  kind?: ApprovalKind;
  /** Every member who may be that person. */
  requesterIds: readonly string[];
  /** Until when its directive is to be carried out, if that was said. */
  deadline: number | null;
}

/** How members are told of an approval with the transaction that makes it ready. */
interface Telling {
  /** As the transaction has locked it. */
  approval: ApprovalEntity;
  tell: TellOfApproval;
}

/** Asks a person, in the transaction of the act that needs one. */
@Injectable()
export class RequestApproval {
  constructor(
    private readonly approvals: Approvals,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
    private readonly events: Events,
    private readonly address: PublicAddress,
    private readonly work: Work,
  ) {}

  /** Opens an approval whose draft is still to be made, and answers it. */
  open(asked: NewApproval): ApprovalEntity {
    const now = this.clock.now();
    const approval: ApprovalEntity = {
      ...asked,
      requesterIds: [...asked.requesterIds],
      actionRequestId: asked.actionRequestId ?? null,
      questionId: asked.questionId ?? null,
      question: asked.question ?? null,
      answer: null,
      kind: asked.kind ?? 'output',
      status: 'pending',
      ready: false,
      summary: '',
      risk: 'low',
      concerns: [],
      reversibility: 'read_only',
      output: null,
      packets: [],
      inputsNeeded: 0,
      revisions: [],
      lastEditedBy: null,
      contentHash: null,
      groupKey: null,
      policy: null,
      requestedAt: now,
      expiresAt: byDeadline(now + APPROVAL_LASTS_MS, asked.deadline),
      frozenMs: null,
      onExpiry: 'reject',
      escalatesAt: null,
      escalationId: null,
      extensions: 0,
      selfApproval: true,
      quorum: 1,
      approvers: [],
      votes: {},
      missingApprovers: 0,
      decidedAt: null,
      decidedBy: null,
      decidedVia: null,
      feedback: null,
      receiptId: null,
      nextApprovalId: null,
    };
    this.approvals.add(approval);
    this.receipts.append({
      actor: asked.requestedBy,
      action: 'approval.requested',
      ...about(asked),
      summary: `${quotedTitle(asked)} is waiting for ${asked.question ? 'an answer' : 'approval'}.`,
      details: {
        round: asked.round,
        requesterIds: approval.requesterIds,
        ...(asked.actionRequestId !== undefined && { actionRequestId: asked.actionRequestId }),
        ...(asked.questionId && { questionId: asked.questionId }),
      },
    });
    return approval;
  }

  /** Puts what an agent from outside asks before people: all of it is known at once, and no capo works on it. */
  askForAgent(
    asked: Omit<NewApproval, 'directiveId' | 'kind' | 'capo' | 'priority' | 'round' | 'deadline'>,
    content: Omit<ReadyContent, 'capo' | 'concerns' | 'output' | 'inputsNeeded'>,
  ): ApprovalEntity {
    const request: NewApproval = {
      ...asked,
      directiveId: null,
      kind: asked.question ? 'question' : 'action',
      capo: null,
      priority: 'medium',
      round: 0,
      deadline: null,
    };
    const approval = this.open(request);
    const ready = { ...content, capo: null, concerns: [], output: null, inputsNeeded: 0 };
    this.makeReady(request, ready, { author: 'agent', by: asked.requestedBy });
    return approval;
  }

  /** Attaches the draft: from now on it can be approved, and it is bound to this content. */
  makeReady(
    approval: Pick<
      NewApproval,
      'workspaceId' | 'approvalId' | 'directiveId' | 'actionRequestId' | 'questionId' | 'title' | 'deadline'
    >,
    content: ReadyContent,
    { author, by, telling }: Pick<ApprovalRevision, 'author' | 'by'> & { telling?: Telling | undefined },
  ): void {
    const { workspaceId, approvalId, directiveId, title, deadline } = approval;
    const { actionRequestId = null, questionId = null } = approval;
    const expiresAt = byDeadline(content.expiresAt, deadline);
    const at = this.clock.now();
    const revisions = [{ n: 1, author, by, at, contentHash: content.contentHash!, changes: [] }];
    const groupKey = groupKeyOf(content);
    const escalatesAt = content.onExpiry === 'escalate' ? escalationTime(at, expiresAt) : null;
    this.approvals.makeReady(workspaceId, approvalId, {
      ...content,
      revisions,
      expiresAt,
      groupKey,
      escalatesAt,
    });
    // What is queued for review is the output (SPECIFICATION, What the service does 3.4), so the event waits for it.
    const { risk, reversibility } = content;
    const url = `${this.address.url}/approvals/${approvalId}`;
    this.events.record('approval.requested', {
      approvalId,
      directiveId,
      actionRequestId,
      questionId,
      title,
      risk,
      reversibility,
      expiresAt,
      url,
    });
    const waiting = telling && waitingNow({ ...telling.approval, ...content, expiresAt }, at);
    if (waiting) telling.tell(waiting, at);
    else this.work.enqueue(TELL_MEMBERS, { id: approvalId });
    this.channel.publish('approval', approvalId);
  }

  /** Ends an approval that the transaction has locked, since nobody has to decide any more. */
  withdraw(approval: UnrevisedApproval, by: Actor, because: string): void {
    const receiptId = this.receipts.append({
      actor: by,
      action: 'approval.cancelled',
      ...about(approval),
      summary: `${quotedTitle(approval)} was cancelled: ${because}.`,
    });
    const at = this.clock.now();
    this.approvals.end(approval, { status: 'cancelled', by, at, feedback: because, receiptId });
    this.channel.publish('approval', approval.approvalId);
  }
}

/** As far as it decides who is told of it; undefined where others than those with the role have to approve, or nobody can any more. */
function waitingNow(approval: ApprovalEntity, at: number): WaitingApproval | undefined {
  const { quorum, approvers, selfApproval, requesterIds, expiresAt } = approval;
  if (quorum > 1 || approvers.length > 0 || expiresAt <= at) return undefined;
  return { ...approval, mayNotApprove: selfApproval ? [] : requesterIds, mayApprove: null, editedBy: [] };
}

function byDeadline(expiresAt: number, deadline: number | null): number {
  return Math.min(expiresAt, deadline ?? Infinity);
}
