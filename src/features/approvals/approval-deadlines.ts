import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import {
  APPROVAL_EXPIRING,
  DISMISS,
  EXTEND,
  Escalations,
  REJECT,
  APPROVAL_EXPIRED,
  HAND_IN_AGAIN,
} from '../escalations/index.js';
import { type GuardianEntity, Guardians, isHalted } from '../guardian/index.js';
import { about, isExpired, quotedTitle, votesInWords } from './approval.js';
import type { UnrevisedApproval } from './approval.entity.js';
import { Approvals } from './approvals.repository.js';
import { ApprovalSubjects } from './approval-subjects.js';

/**
 * Tells people in time that an approval is about to expire, where a standing order asks for that. The work is enqueued when
 * the time has come, as for {@link ExpireApproval}; while killed the clock stands still, and nobody is told.
 */
@Injectable()
export class EscalateApproval implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly escalations: Escalations,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'approval.escalate',
      pool: 4,
      perQueue: 2,
      tries: 5,
      enqueueDue: 'app.enqueue_expiring_approvals',
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    await this.db.transaction(scopeOfWork(item), async (unit) => {
      const [[guardian], [approval]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.approvals.lockStatement(workspaceId, [id]),
      ])) as [[GuardianEntity], [UnrevisedApproval?]];
      this.work.complete(item);
      if (approval?.status !== 'pending') return;
      if (isHalted(guardian.mode)) return this.approvals.rest(approval);
      if (!this.isToEscalate(approval)) return;
      const escalationId = await this.escalations.open({
        kind: APPROVAL_EXPIRING,
        ...about(approval),
        reason: `Nobody has decided on ${quotedTitle(approval)} yet, and its approval is about to expire.${votesInWords(approval)}`,
        options: [EXTEND, REJECT, DISMISS],
        dueAt: approval.expiresAt,
      });
      this.approvals.escalate(approval, escalationId);
    });
  }

  private isToEscalate(approval: UnrevisedApproval): boolean {
    const { escalatesAt } = approval;
    const now = this.clock.now();
    // What has expired already says so by itself.
    return escalatesAt !== null && escalatesAt <= now && !isExpired(approval, now);
  }

  /** Nobody can be told; the approval goes on without. */
  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const [approval] = await this.approvals.lock(workspaceId, [id]);
    if (approval?.status !== 'pending') return;
    this.approvals.escalate(approval, null);
    this.receipts.append({
      actor: SYSTEM,
      action: 'approval.not_escalated',
      outcome: 'failure',
      ...about(approval),
      summary: `Nobody could be told that the approval of ${quotedTitle(approval)} is about to expire. ${message}`,
    });
  }
}

/**
 * Ends an approval that nobody decided in time; what it was about is not sent. The work is enqueued when the time has come
 * and not before: an item for each that may never be needed would cost every hand-in more than it costs the few.
 */
@Injectable()
export class ExpireApproval implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly subjects: ApprovalSubjects,
    private readonly receipts: Receipts,
    private readonly escalations: Escalations,
    private readonly channel: Channel,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'approval.expire',
      pool: 4,
      perQueue: 2,
      tries: 5,
      enqueueDue: 'app.enqueue_expired_approvals',
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    await this.db.transaction(scopeOfWork(item), async (unit) => {
      const [[guardian], [approval]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.approvals.lockStatement(workspaceId, [id]),
      ])) as [[GuardianEntity], [UnrevisedApproval?]];
      this.work.complete(item);
      if (approval?.status !== 'pending') return;
      // While killed nobody could have approved it; the revert gives the time back.
      if (isHalted(guardian.mode)) return this.approvals.rest(approval);
      const at = this.clock.now();
      if (approval.expiresAt > at) return;
      // Its directive ends as well, and says why (ExpireDirective).
      if (approval.deadline !== null && approval.deadline <= at) return;
      await this.expire(approval);
    });
  }

  private async expire(approval: UnrevisedApproval): Promise<void> {
    const { approvalId } = approval;
    const receiptId = this.receipts.append({
      actor: SYSTEM,
      action: 'approval.expired',
      ...about(approval),
      summary: `Nobody decided on ${quotedTitle(approval)} in time; nothing was done.${votesInWords(approval)}`,
      details: { expiresAt: approval.expiresAt, onExpiry: approval.onExpiry },
    });
    const at = this.clock.now();
    this.approvals.end(approval, { status: 'expired', by: SYSTEM, at, feedback: null, receiptId });
    const subject = this.subjects.of(approval);
    await subject.expired(approval);
    if (approval.onExpiry === 'escalate') {
      const mayBeAskedAgain = (await subject.again?.isPossible(approval)) ?? false;
      await this.escalate(approval, mayBeAskedAgain ? [HAND_IN_AGAIN, DISMISS] : [DISMISS]);
    }
    this.channel.publish('approval', approvalId);
  }

  /** It cannot be ended together with what it was about, so it is ended alone: it must not be approved any more. */
  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const [approval] = await this.approvals.lock(workspaceId, [id]);
    if (approval?.status !== 'pending') return;
    const receiptId = this.receipts.append({
      actor: SYSTEM,
      action: 'approval.expired',
      outcome: 'failure',
      ...about(approval),
      summary: `Nobody decided on ${quotedTitle(approval)} in time; nothing was done. ${message}`,
    });
    const at = this.clock.now();
    this.approvals.end(approval, { status: 'expired', by: SYSTEM, at, feedback: null, receiptId });
    await this.subjects.of(approval).endLater?.(approval);
    await this.escalate(approval, [DISMISS]);
  }

  private async escalate(approval: UnrevisedApproval, options: readonly string[]): Promise<void> {
    const again = options.includes(HAND_IN_AGAIN) ? ' Hand it in again if it is still wanted.' : '';
    await this.escalations.open({
      kind: APPROVAL_EXPIRED,
      ...about(approval),
      reason: `The approval of ${quotedTitle(approval)} expired without a decision.${votesInWords(approval)}${again}`,
      options,
      dueAt: null,
    });
  }
}
