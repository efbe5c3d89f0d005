import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, peopleBehind } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Channel } from '../../platform/database/channel.js';
import { Db } from '../../platform/database/db.js';
import { InvalidTransition, ValidationFailed } from '../../platform/kernel/errors.js';
import { isBlank } from '../../platform/kernel/unseen.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  APPROVAL_EXPIRED,
  APPROVAL_EXPIRING,
  APPROVERS_MISSING,
  type Decider,
  EXTEND,
  type EscalationEntity,
  EscalationOptions,
  HAND_IN_AGAIN,
  REJECT,
} from '../escalations/index.js';
import { haltedIn } from '../terms/index.js';
import { type GuardianEntity, Guardians, isHalted } from '../guardian/index.js';
import { about, assertOtherEyes, isExpired, quotedTitle } from './approval.js';
import type { UnrevisedApproval } from './approval.entity.js';
import { escalationTime, extendedExpiry } from './approval-expiry.js';
import { ApprovalSubjects } from './approval-subjects.js';
import { Approvals } from './approvals.repository.js';
import { DecideApproval } from './decide-approval.js';

/**
 * What a person may do about an approval that is about to expire, or has. Approving is not among it: that is done where the
 * whole draft is read.
 */
@Injectable()
export class EscalatedApprovals implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly options: EscalationOptions,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly subjects: ApprovalSubjects,
    private readonly decideApproval: DecideApproval,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
  ) {}

  onModuleInit(): void {
    const lock = (escalation: EscalationEntity) => this.lock(escalation);
    const rejection = {
      role: 'operator',
      effect: 'Rejects it, so that nothing is done; your note is the reason given, and is required.',
      run: (escalation: EscalationEntity, by: Decider) => this.reject(escalation, by),
    } as const;
    this.options.register(APPROVERS_MISSING, 'approval', { lock, options: { [REJECT]: rejection } });
    this.options.register(APPROVAL_EXPIRING, 'approval', {
      lock,
      options: {
        [EXTEND]: {
          role: 'operator',
          effect:
            'Gives the approval as much time again as it had, at most 24 hours; this is possible three times.',
          run: (escalation, by) => this.extend(escalation, by),
        },
        [REJECT]: rejection,
      },
      dismissed: ({ workspaceId, entityId }) =>
        this.approvals.detachEscalation({ workspaceId, approvalId: entityId }),
    });
    this.options.register(APPROVAL_EXPIRED, 'approval', {
      lock,
      options: {
        [HAND_IN_AGAIN]: {
          role: 'operator',
          effect: 'Hands the directive in again as a new one, with a new draft and a new approval.',
          run: (escalation, by) => this.handInAgain(escalation, by),
        },
      },
    });
  }

  /** As a decision, an expiry and an edit do, so that each sees what the ones before it have done. */
  private async lock({ workspaceId, entityId }: EscalationEntity) {
    const [[guardian], [approval]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      this.approvals.lockStatement(workspaceId, [entityId]),
    ])) as [[GuardianEntity], [UnrevisedApproval]];
    return { guardian, approval };
  }

  private async extend(escalation: EscalationEntity, { caller, at }: Decider): Promise<string> {
    const { guardian, approval } = await this.lock(escalation);
    requireRole(caller, approval.teamId, 'operator');
    assertInTime(approval, at);
    if (isHalted(guardian.mode)) {
      throw haltedIn(guardian.mode);
    }
    assertOtherEyes(approval, peopleBehind(caller));
    const expiresAt = extendedExpiry(approval);
    this.approvals.extend(approval, { expiresAt, escalatesAt: escalationTime(at, expiresAt) });
    const summary = `${caller.name} gave the approval of ${quotedTitle(approval)} more time, until ${new Date(expiresAt).toISOString()}.`;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'approval.extended',
      ...about(approval),
      summary,
      details: { from: approval.expiresAt, to: expiresAt, extensions: approval.extensions + 1 },
      guardianEpoch: guardian.epoch,
    });
    this.channel.publish('approval', approval.approvalId);
    return summary;
  }

  private async reject(escalation: EscalationEntity, { caller, at, note }: Decider): Promise<string> {
    if (note === null || isBlank(note)) {
      const message = 'note is required to reject: the requester is told it as the reason';
      throw new ValidationFailed({ details: [{ path: 'note', rule: 'isNotEmpty', message }] });
    }
    const { approval } = await this.lock(escalation);
    assertInTime(approval, at);
    // It is decided, not resolved by the end of the approval.
    if (escalation.kind === APPROVAL_EXPIRING) this.approvals.detachEscalation(approval);
    const { approvalId } = approval;
    await this.decideApproval.execute(caller, { approvalId, decision: 'reject', feedback: note });
    return `${caller.name} rejected ${quotedTitle(approval)}.`;
  }

  private async handInAgain(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const { approval } = await this.lock(escalation);
    const { again } = this.subjects.of(approval);
    if (!again) throw new InvalidTransition({ message: 'This cannot be asked for again.' });
    return again.handIn(approval, caller);
  }
}

/** Whether or not the work that ends it has been done yet. */
function assertInTime(approval: UnrevisedApproval, at: number): void {
  if (!isExpired(approval, at)) return;
  throw new InvalidTransition({ message: 'This approval has expired, so its escalation comes too late.' });
}
