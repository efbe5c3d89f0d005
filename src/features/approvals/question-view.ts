import type { ApprovalEntity } from './approval.entity.js';
import type { ListedQuestion, ShownQuestion } from './questions.repository.js';
import {
  QUESTION_STATUSES,
  type QuestionStatus,
  type QuestionSummary,
  type QuestionView,
} from './questions.dto.js';

/** The status of a question's approval. */
export const STATUS_OF: Record<QuestionStatus, ApprovalEntity['status']> = {
  pending: 'pending',
  answered: 'approved',
  declined: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
};

export function viewOf(approval: ShownQuestion, now: number): QuestionView {
  const { question, answer } = approval;
  return { ...summaryOf(approval, now), answerSchema: question.answerSchema, answer };
}

export function summaryOf({ question, ...approval }: ListedQuestion, now: number): QuestionSummary {
  const { title, reason, externalId, tokenRootId, agent } = question;
  const status = QUESTION_STATUSES.find((one) => STATUS_OF[one] === approval.status)!;
  return {
    questionId: approval.questionId,
    title,
    reason,
    externalId,
    teamId: approval.teamId,
    agent: { tokenId: tokenRootId, name: agent },
    status,
    answeredBy: status === 'answered' ? approval.decidedBy : null,
    feedback: approval.feedback,
    endedAt: approval.decidedAt,
    approvalId: approval.approvalId,
    // While killed the clock stands still for approvals, so the time of expiry moves along.
    expiresAt: approval.frozenMs === null ? approval.expiresAt : now + approval.frozenMs,
    createdAt: approval.requestedAt,
    receiptId: approval.receiptId,
  };
}
