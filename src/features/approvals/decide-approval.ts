import { Injectable } from '@nestjs/common';
import {
  actorOf,
  type Caller,
  hasRole,
  isAskedBy,
  mayRead,
  peopleBehind,
  roleIn,
} from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { Channel } from '../../platform/database/channel.js';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Clock } from '../../platform/kernel/clock.js';
import { errorObject } from '../../platform/http/render-error.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type GuardianEntity, Guardians } from '../guardian/index.js';
import { about, approverNames, checkDecision, quotedTitle, votesOf } from './approval.js';
import type { UnrevisedApproval } from './approval.entity.js';
import { ApprovalSubjects } from './approval-subjects.js';
import type { ApprovalDecided, DecisionBody, DecisionResult } from './approval-decisions.dto.js';
import { Approvals } from './approvals.repository.js';
import type { Answer } from './question.js';

/** One decision; on a question, the answer to it. */
type DecisionToMake = DecisionBody & { answer?: Answer };

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
    decision: DecisionToMake,
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
        const decided = await this.decide(caller, decision, null, locked);
        const { status, votes, receiptId, nextApprovalId } = decided;
        results.push({ approvalId, status, votes, receiptId, ...(nextApprovalId && { nextApprovalId }) });
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
    body: DecisionToMake,
    ifMatch: string | null,
    { guardian, approvals }: LockedApprovals,
  ): Promise<ApprovalDecided> {
    const { approvalId, decision, feedback, revise = false, contentHash, answer: given = null } = body;
    const approval = approvals.get(approvalId);
    if (!approval) throw new NotFound();
    if (!(onlyStops(body) && isAskedBy(caller, approval.requestedBy))) {
      if (!mayRead(caller, approval.teamId)) throw new NotFound();
      requireRole(caller, approval.teamId, 'operator');
    }
    const at = this.clock.now();
    const people = peopleBehind(caller);
    const { memberId } = caller;
    const role = roleIn(caller, approval.teamId);
    const verdict = checkDecision(
      approval,
      { memberId, role, decision, revise, answer: given, people, ifMatch: contentHash ?? ifMatch },
      guardian.mode,
      at,
    );
    const subject = this.subjects.of(approval);
    if (verdict === 'repeated') {
      const receiptId = approval.receiptId ?? approval.votes[memberId]!.receiptId;
      return answer({ ...approval, receiptId }, await subject.status(approval));
    }
    if (decision === 'reject' && revise) await subject.assertRevisable(approval);

    const by = actorOf(caller);
    const status = decision === 'approve' ? 'approved' : revise ? 'changes_requested' : 'rejected';
    const [have, need] = [Object.keys(approval.votes).length + 1, approval.quorum];
    const isDecided = status !== 'approved' || have >= need;
    const isCounted = status === 'approved' && (need > 1 || approval.approvers.length > 0);
    const did = given ? 'answered' : status;
    const receiptId = this.receipts.append({
      actor: by,
      action: isDecided ? `approval.${did}` : 'approval.voted',
      ...about(approval),
      summary:
        status === 'approved' && need > 1
          ? `${caller.name} approved ${quotedTitle(approval)}: ${have} of ${need} approvals, by ${[approverNames(approval), caller.name].filter(Boolean).join(', ')}.`
          : `${caller.name} ${WORDS[did]} ${quotedTitle(approval)}.`,
      details: {
        contentHash: approval.contentHash,
        ...askedIn(approval),
        ...(feedback !== undefined && { feedback }),
        ...(given && { answerHash: sha256(canonicalJson(given)) }),
        ...(isCounted && { votes: { have, need }, role }),
      },
      guardianEpoch: guardian.epoch,
    });
    const votes =
      status === 'approved' ? { ...approval.votes, [memberId]: { by, at, receiptId } } : approval.votes;
    if (!isDecided) {
      this.approvals.vote(approval, votes);
      this.channel.publish('approval', approvalId);
      approvals.set(approvalId, { ...approval, votes });
      return answer({ ...approval, votes, receiptId }, await subject.status(approval));
    }
    const nextApprovalId = status === 'changes_requested' ? newId('apr') : null;
    const ended = { status, receiptId, nextApprovalId, answer: given, votes } as const;
    const decided: UnrevisedApproval = { ...approval, ...ended, decidedAt: at };
    this.approvals.end(approval, { ...ended, by, at, feedback: feedback ?? null });
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

/** What an agent from outside asked for: what was decided is counted by agent and tool. */
function askedIn({ actionRequestId, requestedBy, packets }: UnrevisedApproval): Record<string, unknown> {
  if (actionRequestId === null) return {};
  return { actionRequestId, agent: requestedBy.name, tool: packets[0]!.action.type };
}

/** A rejection that asks for no other draft. */
function onlyStops({ decision, revise }: DecisionBody): boolean {
  return decision === 'reject' && revise !== true;
}

const WORDS = {
  approved: 'approved',
  answered: 'answered',
  rejected: 'rejected',
  changes_requested: 'asked for changes to',
} as const;

function answer(approval: UnrevisedApproval, directiveStatus: string | null): ApprovalDecided {
  const { approvalId, status, directiveId, decidedAt, receiptId, nextApprovalId } = approval;
  const { have, need } = votesOf(approval);
  return {
    approvalId,
    status,
    votes: { have, need },
    directiveId,
    directiveStatus,
    decidedAt,
    receiptId: receiptId!,
    ...(nextApprovalId !== null && { nextApprovalId }),
  };
}
