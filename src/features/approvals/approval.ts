import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import { Forbidden, InvalidTransition } from '../../platform/kernel/errors.js';
import { GuardianHalted } from '../guardian/guardian.errors.js';
import { letsNothingLeave } from '../guardian/guardian.js';
import type { GuardianMode } from '../terms/terms.js';
import {
  ApprovalAlreadyDecided,
  ApprovalExpired,
  ApprovalNotReady,
  ContentChanged,
} from './approvals.errors.js';
import type { ApprovalSummary, ApprovalView } from './approvals.dto.js';
import type { ApprovalEntity, ApprovalPacket, ListedApproval, Output } from './approval.entity.js';

/** CONTRACT, Approval: 72 hours unless a standing order says otherwise. */
export const DEFAULT_EXPIRY_MS = 72 * 3_600_000;
/** "At most 5 rounds" of request-changes (CONTRACT, Approval). */
const MAX_ROUNDS = 5;
export const URGENT_BEFORE_EXPIRY_MS = 2 * 3_600_000;

/** What a person decided. */
export interface Decision {
  decision: 'approve' | 'reject';
  /** Sends it back for another draft instead of ending it. */
  revise: boolean;
  memberId: string;
  /** The content that was read, if the client said so. */
  ifMatch: string | null;
}

/** SHA-256 over all that is approved: the output and each move with its complete parameters. */
export function approvedHash(
  output: Pick<Output, 'body'> | null,
  packets: readonly ApprovalPacket[],
): string {
  return sha256(
    canonicalJson({ body: output?.body ?? null, packets: packets.map((packet) => packet.contentHash) }),
  );
}

/**
 * Whether the decision may be made now. Answers `repeated` for the same decision again, which changes nothing.
 * @throws ApprovalAlreadyDecided, ApprovalExpired, GuardianHalted, ApprovalNotReady, ContentChanged, Forbidden, InvalidTransition
 */
export function judge(
  approval: ApprovalEntity,
  { decision, revise, memberId, ifMatch }: Decision,
  guardian: GuardianMode,
  now: number,
): 'decide' | 'repeated' {
  const wanted = decision === 'approve' ? 'approved' : revise ? 'changes_requested' : 'rejected';
  if (approval.status === wanted) return 'repeated';
  if (isExpired(approval, now)) throw new ApprovalExpired();
  if (approval.status !== 'pending')
    throw new ApprovalAlreadyDecided({ details: { status: approval.status } });
  if (revise && approval.round >= MAX_ROUNDS) {
    throw new InvalidTransition({
      message: `It was sent back ${MAX_ROUNDS} times; reject it, or approve it.`,
    });
  }
  // A draft that is still being made would be taken for the one that was asked for.
  if (revise && !approval.ready) throw new ApprovalNotReady({ retryAfterSeconds: 1 });
  // A refusal loosens nothing, so it is taken at any time.
  if (decision === 'reject') return 'decide';
  if (letsNothingLeave(guardian)) throw new GuardianHalted({ details: { mode: guardian } });
  if (!approval.ready) throw new ApprovalNotReady({ retryAfterSeconds: 1 });
  if (ifMatch !== null && ifMatch !== approval.contentHash) {
    throw new ContentChanged({ details: { contentHash: approval.contentHash } });
  }
  if (!approval.selfApproval && approval.requestedBy.id === memberId) {
    throw new Forbidden({
      message: 'A standing order wants someone else than the one who asked to approve this.',
    });
  }
  return 'decide';
}

/** An expired approval is never an approval, whether or not the clock's job has come by yet. */
function isExpired({ status, expiresAt, frozenMs }: ApprovalEntity, now: number): boolean {
  return status === 'expired' || (status === 'pending' && frozenMs === null && expiresAt <= now);
}

function isUrgent({ priority, risk, expiresAt, frozenMs }: ListedApproval, now: number): boolean {
  const left = frozenMs ?? expiresAt - now;
  return priority === 'high' || risk === 'high' || risk === 'critical' || left < URGENT_BEFORE_EXPIRY_MS;
}

export function viewOf(approval: ApprovalEntity, now: number): ApprovalView {
  const { workspaceId: _workspace, output, packets, policy, feedback, ...listed } = approval;
  return { ...summaryOf(listed, now), output, packets, policy, feedback };
}

export function summaryOf(approval: ListedApproval, now: number): ApprovalSummary {
  const { frozenMs, selfApproval: _self, round: _round, ...shown } = approval;
  return {
    ...shown,
    urgent: approval.status === 'pending' && isUrgent(approval, now),
    // While killed the clock stands still for approvals, so the time of expiry moves along.
    expiresAt: frozenMs === null ? approval.expiresAt : now + frozenMs,
  };
}
