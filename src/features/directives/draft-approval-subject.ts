import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { cutText } from '../../platform/kernel/text.js';
import { Work } from '../../platform/work/work.js';
import {
  type ApprovalEntity,
  type ApprovalSubject,
  ApprovalSubjects,
  type ChangesRequested,
  type Edit,
  type EditSituation,
  type Edited,
  type OfDirective,
  RequestApproval,
  type UnrevisedApproval,
  approverNames,
  isAmongWhoAsked,
  packetsOf,
} from '../approvals/index.js';
import { type FeedbackRound, withoutOurs } from '../capos/index.js';
import type { DirectiveStatus } from '../terms/index.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { EndDirective } from './end-directive.js';
import { EditOutput } from './edit-draft.js';
import { HandInDirective } from './hand-in-directive.js';
import { DirectiveTransitions, type Named } from './directive-transitions.js';
import { Directives } from './directives.repository.js';

/**
 * What a decision does to the directive it is about. The approval is locked, and every other act that ends a directive locks
 * its approval first, so a directive with a pending approval is known to be `pending_approval` without looking.
 */
@Injectable()
export class DraftApprovalSubject implements ApprovalSubject, OnModuleInit {
  constructor(
    private readonly subjects: ApprovalSubjects,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly endDirective: EndDirective,
    private readonly editOutput: EditOutput,
    private readonly requestApproval: RequestApproval,
    private readonly handInDirective: HandInDirective,
    private readonly work: Work,
  ) {}

  /** What was partly sent would be sent twice. */
  readonly again: NonNullable<ApprovalSubject['again']> = {
    isPossible: async (approval: OfDirective<UnrevisedApproval>) => !(await this.isPartlySent(approval)),
    handIn: ({ directiveId }: OfDirective<UnrevisedApproval>, caller) =>
      this.handInDirective.again(caller, directiveId),
  };

  onModuleInit(): void {
    this.subjects.register('output', this);
    this.subjects.register('budget_override', this);
  }

  async approved(
    approval: OfDirective<UnrevisedApproval>,
    by: Actor,
    people: readonly string[],
  ): Promise<DirectiveStatus> {
    const allowed = approval.packets.map(({ workPacketId, contentHash }) => ({
      workPacketId,
      hash: contentHash,
    }));
    this.packets.release(
      approval.workspaceId,
      isAmongWhoAsked(approval, people) ? 'requester' : 'person',
      allowed,
    );
    this.directives.continueTrace(approval.directiveId);
    this.work.enqueue('packet.send', ...allowed.map(({ workPacketId }) => ({ id: workPacketId })));
    return this.transitions.apply(named(approval), 'approve', {
      actor: by,
      action: 'directive.sending',
      summary: `"${approval.title}" was released as approved by ${approverNames(approval)}.`,
      details: {
        approvalId: approval.approvalId,
        contentHash: approval.contentHash,
        packets: allowed.length,
      },
    });
  }

  async rejected(
    approval: OfDirective<UnrevisedApproval>,
    by: Actor,
    feedback: string,
  ): Promise<DirectiveStatus> {
    if (await this.isPartlySent(approval)) {
      await this.endDirective.dropRest(named(approval), approval.title, by, `${by.name} rejected it`);
      return this.status(approval);
    }
    this.cancelWork(approval);
    return this.transitions.apply(named(approval), 'reject', {
      actor: by,
      action: 'directive.rejected',
      summary: `"${approval.title}" was rejected by ${by.name}: ${cutText(feedback.replaceAll(/\s+/g, ' ').trim(), 200)}`,
      details: { approvalId: approval.approvalId, feedback },
    });
  }

  /** A new draft would send again what has been sent. @throws InvalidTransition when a part has been */
  async assertRevisable(approval: OfDirective<UnrevisedApproval>): Promise<void> {
    if (!(await this.isPartlySent(approval))) return;
    throw new InvalidTransition({
      message:
        'A part of this has been sent already, so it cannot be drafted again. Reject it without `revise`.',
    });
  }

  edit(
    approval: OfDirective<ApprovalEntity>,
    edit: Edit,
    situation: EditSituation,
  ): Promise<Edited | undefined> {
    return this.editOutput.execute(approval, edit, situation);
  }

  async changesRequested(
    approval: OfDirective<UnrevisedApproval>,
    by: Actor,
    { feedback, people, nextApprovalId: approvalId }: ChangesRequested,
  ): Promise<DirectiveStatus> {
    const { workspaceId, directiveId } = approval;
    this.cancelWork(approval);
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    // What the next draft says is also theirs who asked for it to be so.
    const requesterIds = [...new Set([...directive.requesterIds, ...approval.requesterIds, ...people])];
    const round = approval.round + 1;
    this.requestApproval.open({
      approvalId,
      workspaceId,
      teamId: approval.teamId,
      directiveId,
      capo: directive.capo,
      title: approval.title,
      priority: approval.priority,
      round,
      requestedBy: approval.requestedBy,
      requesterIds,
      deadline: approval.deadline,
    });
    this.transitions.note(directive, {
      actor: by,
      action: 'directive.revising',
      summary: `${by.name} asked for another draft of "${approval.title}".`,
      details: { round, feedback, approvalId },
    });
    this.directives.update(directive, {
      approvalId,
      requesterIds,
      feedback: [...directive.feedback, roundOf(approval, round, feedback)],
    });
    this.directives.continueTrace(directiveId);
    this.work.enqueue(directive.capo ? 'directive.draft' : 'directive.route', { id: directiveId });
    return directive.status;
  }

  async expired(approval: OfDirective<UnrevisedApproval>): Promise<void> {
    if (await this.isPartlySent(approval)) {
      await this.endDirective.dropRest(
        named(approval),
        approval.title,
        SYSTEM,
        'nobody decided about it in time',
      );
      return;
    }
    this.cancelWork(approval);
    this.transitions.apply(named(approval), 'expire', {
      actor: SYSTEM,
      action: 'directive.expired',
      summary: `"${approval.title}" expired with its approval; nothing was sent.`,
      details: { approvalId: approval.approvalId },
    });
  }

  private isPartlySent({ workspaceId, directiveId }: OfDirective<UnrevisedApproval>): Promise<boolean> {
    return this.packets.anyHandedOut(workspaceId, directiveId);
  }

  /** The packets of the draft, and the draft itself if it is still being made. */
  private cancelWork({ workspaceId, directiveId }: OfDirective<UnrevisedApproval>): void {
    this.work.cancelReturned('packet.send', this.packets.cancelUnsentStatement(workspaceId, directiveId));
    this.work.cancel('directive.route', [directiveId]);
    this.work.cancel('directive.draft', [directiveId]);
  }

  status({ workspaceId, directiveId }: OfDirective<UnrevisedApproval>): Promise<DirectiveStatus> {
    return this.directives.statusOf(workspaceId, directiveId);
  }
}

function named({ workspaceId, directiveId, teamId, capo }: OfDirective<UnrevisedApproval>): Named {
  return { workspaceId, directiveId, teamId, capo, status: 'pending_approval' };
}

/** What the next draft goes by: what was asked, and the draft it was asked of. */
function roundOf(approval: OfDirective<UnrevisedApproval>, round: number, text: string): FeedbackRound {
  const packets = packetsOf(approval).map(({ title, action, rationale, needsInput, writtenBy, edits }) => ({
    title,
    type: action.type,
    params: withoutOurs(action.type, action.params),
    rationale,
    needsInput,
    // What a person wrote stays, and is as good as the directive; what the capo had made up is not.
    editedPaths: writtenBy === 'person' ? ['params'] : edits.map(({ path }) => path),
  }));
  return { round, text, previous: { summary: approval.summary, body: approval.output?.body ?? '', packets } };
}
