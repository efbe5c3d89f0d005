import { Injectable } from '@nestjs/common';
import {
  actorOf,
  type Caller,
  hasRole,
  isAskedBy,
  mayRead,
  peopleBehind,
} from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { Channel } from '../../platform/database/channel.js';
import { Clock } from '../../platform/kernel/clock.js';
import { errorObject } from '../../platform/http/render-error.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { GuardianEntity } from '../guardian/guardian.entity.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { checkDecision } from './approval.js';
import type { UnrevisedApproval } from './approval.entity.js';
import { ApprovalSubjects } from './approval-subjects.js';
import type { ApprovalDecided, DecisionBody, DecisionResult } from './approval-decisions.dto.js';
import { Approvals } from './approvals.repository.js';

interface LockedApprovals {
  guardian: GuardianEntity;
  approvals: Map<string, UnrevisedApproval>;
}

/**
 * A person's decision. The guardian's row is locked shared and the approval exclusively in one round trip; what the decision lets
 * go, or ends, is written in the same transaction as its receipt.
 */
@Injectable()
export class DecideApproval {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly approvals: Approvals,
    private readonly subjects: ApprovalSubjects,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
  ) {}

  async execute(
    caller: Caller,
    decision: DecisionBody,
    ifMatch: string | null = null,
  ): Promise<ApprovalDecided> {
    return this.decide(caller, decision, ifMatch, await this.lock(caller, [decision]));
  }

  /** Each decision for itself: one that cannot be made says why and leaves the others alone. */
  async executeAll(caller: Caller, decisions: readonly DecisionBody[]): Promise<DecisionResult[]> {
    const locked = await this.lock(caller, decisions);
    const results: DecisionResult[] = [];
    for (const decision of decisions) {
      const { approvalId } = decision;
      try {
        const { status, receiptId, nextApprovalId } = await this.decide(caller, decision, null, locked);
        results.push({ approvalId, status, receiptId, ...(nextApprovalId && { nextApprovalId }) });
      } catch (error) {
        // Every refusal is made before anything is written, so the transaction is still good for the next one.
        if (!(error instanceof DomainError)) throw error;
        results.push({ approvalId, error: errorObject(error) });
      }
    }
    return results;
  }

  private async lock(caller: Caller, decisions: readonly DecisionBody[]): Promise<LockedApprovals> {
    const approvalIds = decisions.map(({ approvalId }) => approvalId);
    // Requesters may always reject, even after changing teams; decide() then checks whose approval each is.
    if (!hasRole(caller.role, 'admin') && decisions.some(onlyStops)) await this.db.unit.seeWholeWorkspace();
    const [[guardian], locked] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(caller.workspaceId),
      this.approvals.lockStatement(caller.workspaceId, approvalIds),
    ])) as [[GuardianEntity], UnrevisedApproval[]];
    return { guardian, approvals: new Map(locked.map((approval) => [approval.approvalId, approval])) };
  }

  private async decide(
    caller: Caller,
    body: DecisionBody,
    ifMatch: string | null,
    { guardian, approvals }: LockedApprovals,
  ): Promise<ApprovalDecided> {
    const { approvalId, decision, feedback, revise = false, contentHash } = body;
    const approval = approvals.get(approvalId);
    if (!approval) throw new NotFound();
    if (!(onlyStops(body) && isAskedBy(caller, approval.requestedBy))) {
      if (!mayRead(caller, approval.teamId)) throw new NotFound();
      requireRole(caller, approval.teamId, 'operator');
    }
    const at = this.clock.now();
    const people = peopleBehind(caller);
    const verdict = checkDecision(
      approval,
      { decision, revise, people, ifMatch: contentHash ?? ifMatch },
      guardian.mode,
      at,
    );
    const subject = this.subjects.of(approval);
    if (verdict === 'repeated') return answer(approval, await subject.status(approval));
    if (decision === 'reject' && revise) await subject.assertRevisable(approval);

    const by = actorOf(caller);
    const status = decision === 'approve' ? 'approved' : revise ? 'changes_requested' : 'rejected';
    const receiptId = this.receipts.append({
      actor: by,
      action: `approval.${status}`,
      entity: { type: 'approval', id: approvalId },
      directiveId: approval.directiveId,
      teamId: approval.teamId,
      capo: approval.capo,
      summary: `${caller.name} ${WORDS[status]} "${approval.title}".`,
      details: { contentHash: approval.contentHash, ...(feedback !== undefined && { feedback }) },
      guardianEpoch: guardian.epoch,
    });
    const nextApprovalId = status === 'changes_requested' ? newId('apr') : null;
    const decided: UnrevisedApproval = { ...approval, status, decidedAt: at, receiptId, nextApprovalId };
    this.approvals.end(approval, { status, by, at, feedback: feedback ?? null, receiptId, nextApprovalId });
    const directiveStatus =
      status === 'approved'
        ? await subject.approved(decided, by, people)
        : status === 'rejected'
          ? await subject.rejected(decided, by, feedback!)
          : await subject.changesRequested(decided, by, {
              feedback: feedback!,
              people,
              nextApprovalId: nextApprovalId!,
            });
    this.channel.publish('approval', approvalId);
    // A later decision of the same request finds it decided.
    approvals.set(approvalId, decided);
    return answer(decided, directiveStatus);
  }
}

/** A rejection that asks for no other draft. */
function onlyStops({ decision, revise }: DecisionBody): boolean {
  return decision === 'reject' && revise !== true;
}

const WORDS = {
  approved: 'approved',
  rejected: 'rejected',
  changes_requested: 'asked for changes to',
} as const;

function answer(approval: UnrevisedApproval, directiveStatus: string | null): ApprovalDecided {
  const { approvalId, status, directiveId, decidedAt, receiptId, nextApprovalId } = approval;
  return {
    approvalId,
    status,
    directiveId,
    directiveStatus,
    decidedAt: decidedAt!,
    receiptId: receiptId!,
    ...(nextApprovalId !== null && { nextApprovalId }),
  };
}
