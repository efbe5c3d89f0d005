import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import type { ApprovalEntity } from '../approvals/approval.entity.js';
import { type ApprovalSubject, ApprovalSubjects } from '../approvals/approval-subjects.js';
import { RequestApproval } from '../approvals/request-approval.js';
import type { FeedbackRound } from '../capos/briefing.js';
import type { DirectiveStatus } from '../terms/terms.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { DirectiveJournal, type Named } from './directive-journal.js';
import { Directives } from './directives.repository.js';

/**
 * What a decision does to the directive it is about. The approval is locked, and whoever else ends a directive locks
 * its approval first, so a directive with a pending approval is known to be `pending_approval` without looking.
 */
@Injectable()
export class DecidedOutput implements ApprovalSubject, OnModuleInit {
  constructor(
    private readonly subjects: ApprovalSubjects,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly journal: DirectiveJournal,
    private readonly requestApproval: RequestApproval,
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.subjects.register('output', this);
  }

  async approved(approval: ApprovalEntity, by: Actor): Promise<DirectiveStatus> {
    const now = this.clock.now();
    const allowed = approval.packets.map(({ workPacketId, contentHash }) => ({
      workPacketId,
      hash: contentHash,
    }));
    this.packets.release(approval.workspaceId, allowed, now);
    for (const { workPacketId } of allowed) this.jobs.wake('packet.send', workPacketId);
    const done = allowed.length === 0;
    const to = done ? 'executed' : 'sending';
    this.journal.move(
      named(approval),
      to,
      { stage: done ? 'done' : 'send', dueAt: null, ...(done && { executedAt: now }) },
      {
        actor: by,
        action: done ? 'directive.executed' : 'directive.sending',
        summary: `"${approval.title}" goes out as approved by ${by.name}.`,
        details: { approvalId: approval.approvalId, contentHash: approval.contentHash },
      },
    );
    return to;
  }

  async rejected(approval: ApprovalEntity, by: Actor, feedback: string): Promise<DirectiveStatus> {
    this.packets.endUnsent(approval.workspaceId, approval.directiveId, 'cancelled');
    this.journal.move(
      named(approval),
      'rejected',
      { stage: 'done', dueAt: null },
      {
        actor: by,
        action: 'directive.rejected',
        summary: `"${approval.title}" was rejected by ${by.name}.`,
        details: { approvalId: approval.approvalId, feedback },
      },
    );
    return 'rejected';
  }

  async changesRequested(approval: ApprovalEntity, by: Actor, feedback: string): Promise<DirectiveStatus> {
    const { workspaceId, directiveId } = approval;
    this.packets.endUnsent(workspaceId, directiveId, 'cancelled');
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    const round = approval.round + 1;
    const approvalId = newId('apr');
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
      requesterIds: approval.requesterIds,
      deadline: approval.deadline,
    });
    this.journal.move(
      directive,
      'pending_approval',
      {
        stage: directive.capo ? 'draft' : 'route',
        dueAt: this.clock.now(),
        approvalId,
        feedback: [...directive.feedback, roundOf(approval, round, feedback)],
      },
      {
        actor: by,
        action: 'directive.revising',
        summary: `${by.name} asked for another draft of "${approval.title}".`,
        details: { round, feedback, approvalId },
      },
    );
    this.jobs.wake(directive.capo ? 'directive.draft' : 'directive.route', directiveId);
    return 'pending_approval';
  }

  async expired(approval: ApprovalEntity): Promise<void> {
    this.packets.endUnsent(approval.workspaceId, approval.directiveId, 'cancelled');
    this.journal.move(
      named(approval),
      'expired',
      { stage: 'done', dueAt: null },
      {
        actor: SYSTEM,
        action: 'directive.expired',
        summary: `"${approval.title}" expired with its approval; nothing was sent.`,
        details: { approvalId: approval.approvalId },
      },
    );
  }

  status({ workspaceId, directiveId }: ApprovalEntity): Promise<DirectiveStatus> {
    return this.directives.statusOf(workspaceId, directiveId);
  }
}

function named({ workspaceId, directiveId, teamId, capo }: ApprovalEntity): Named {
  return { workspaceId, directiveId, teamId, capo, status: 'pending_approval' };
}

/** What the next draft goes by: what was asked, and the draft it was asked of. */
function roundOf(approval: ApprovalEntity, round: number, text: string): FeedbackRound {
  const packets = approval.packets.map(({ title, action, rationale }) => ({
    title,
    type: action.type,
    target: action.target ?? '',
    params: action.params,
    rationale,
    multipliers: {},
  }));
  return { round, text, previous: { summary: approval.summary, body: approval.output?.body ?? '', packets } };
}
