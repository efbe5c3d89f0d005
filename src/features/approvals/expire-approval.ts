import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Channel } from '../../platform/database/channel.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Jobs, type JobTarget } from '../../platform/jobs/jobs.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { GuardianEntity } from '../guardian/guardian.entity.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { Signals } from '../signals/signals.repository.js';
import type { ApprovalEntity } from './approval.entity.js';
import { ApprovalSubjects } from './approval-subjects.js';
import { Approvals } from './approvals.repository.js';

/**
 * Ends an approval that nobody decided in time; what it was about is not sent.
 * Woken by the sweep for overdue work, within about two seconds: a job for each that may never be needed would cost
 * every hand-in more than this costs the few that come to it.
 */
@Injectable()
export class ExpireApproval implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly subjects: ApprovalSubjects,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly channel: Channel,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('approval.expire', (target, scope) => this.execute(target, scope));
  }

  private async execute({ workspaceId, id }: JobTarget, scope: Scope): Promise<void> {
    await this.db.transaction(scope, async (unit) => {
      const [[guardian], [approval]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.approvals.lockStatement(workspaceId, [id]),
      ])) as [[GuardianEntity], [ApprovalEntity?]];
      // While killed nobody could have approved it; the revert gives the time back.
      if (guardian.mode === 'killed') return;
      const at = this.clock.now();
      if (!approval || approval.status !== 'pending' || approval.frozenMs !== null || approval.expiresAt > at)
        return;
      // Its directive ends as well, and says why (ExpireDirective).
      if (approval.deadline !== null && approval.deadline <= at) return;
      const receiptId = this.receipts.append({
        actor: SYSTEM,
        action: 'approval.expired',
        entity: { type: 'approval', id },
        directiveId: approval.directiveId,
        teamId: approval.teamId,
        capo: approval.capo,
        summary: `Nobody decided on "${approval.title}" in time; it was not sent.`,
        details: { expiresAt: approval.expiresAt, onExpiry: approval.onExpiry },
      });
      this.approvals.end(approval, { status: 'expired', by: SYSTEM, at, feedback: null, receiptId });
      if (approval.onExpiry === 'escalate') this.raise(approval);
      await this.subjects.of(approval).expired(approval);
      this.channel.publish('approval', id);
    });
  }

  private raise({ approvalId, title, teamId, capo }: ApprovalEntity): void {
    this.signals.raise({
      type: 'policy',
      severity: 'critical',
      title: cutText(`Expired without a decision: ${title}`, 200),
      body: 'A standing order asks to be told when this happens. Hand the directive in again if it is still wanted.',
      score: null,
      source: SYSTEM,
      teamId,
      capo,
      entity: { type: 'approval', id: approvalId },
    });
  }
}
