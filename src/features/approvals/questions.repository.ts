import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, teamIn, where } from '../../platform/database/listing.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import type { ApprovalEntity, UnrevisedApproval } from './approval.entity.js';
import { columnsOfApproval, FROZEN_MS, pageOfEveryStatus } from './approvals.repository.js';
import type { ApprovalsQuery } from './approvals.dto.js';
import type { Question } from './question.js';

const LISTED = `approval_id, team_id, question_id, question::jsonb - 'answerSchema' as question, status, decided_at, decided_by,
  left(feedback, 500) as feedback, expires_at, ${FROZEN_MS}, requested_at, receipt_id`;
const COLUMNS = columnsOfApproval('revisions');

/** An approval that is a question. */
export type QuestionApproval = UnrevisedApproval & { questionId: string; question: Question };

/** A question as lists show it. */
export type ListedQuestion = Pick<
  QuestionApproval,
  | 'approvalId'
  | 'teamId'
  | 'questionId'
  | 'status'
  | 'decidedAt'
  | 'decidedBy'
  | 'feedback'
  | 'expiresAt'
  | 'frozenMs'
  | 'requestedAt'
  | 'receiptId'
> & { question: Omit<Question, 'answerSchema'> };

/** What is shown of one question. */
export type ShownQuestion = ListedQuestion & Pick<QuestionApproval, 'question' | 'answer'>;

/** The approvals that are questions: a question has no row besides. */
@Injectable()
export class Questions {
  constructor(private readonly db: Db) {}

  /** With `ofToken`, only what this token has asked. */
  async find(
    scope: Scope,
    questionId: string,
    ofToken: string | undefined,
  ): Promise<QuestionApproval | undefined> {
    const key = { workspace_id: scope.workspaceId, question_id: questionId, question_token_id: ofToken };
    const { where: condition, values } = where(key);
    const [question] = await this.db.read<QuestionApproval>(
      scope,
      `select ${COLUMNS} from approvals where ${condition}`,
      values,
    );
    return question;
  }

  async lock(workspaceId: string, questionId: string): Promise<QuestionApproval | undefined> {
    const [row] = await this.db.query<QuestionApproval>(
      `select ${COLUMNS} from approvals where workspace_id = $1 and question_id = $2 for update`,
      [workspaceId, questionId],
    );
    return row;
  }

  /** What this token has asked by this name. */
  byExternalIdStatement(workspaceId: string, tokenRootId: string, externalId: string | null): Statement {
    return {
      text: `select ${COLUMNS} from approvals
        where workspace_id = $1 and question_token_id = $2 and question_external_id = $3`,
      values: [workspaceId, tokenRootId, externalId],
    };
  }

  /** Those of this token that wait: one row each. */
  pendingStatement(workspaceId: string, tokenRootId: string, limit: number): Statement {
    return {
      text: `select from approvals where workspace_id = $1 and question_id is not null and status = 'pending'
        and question->>'tokenRootId' = $2 limit $3`,
      values: [workspaceId, tokenRootId, limit],
    };
  }

  /** Newest first. */
  list(
    scope: Scope,
    filter: { status?: ApprovalEntity['status']; agent?: string; teamId?: string; tokenRootId?: string },
    paging: Pick<ApprovalsQuery, 'limit' | 'offset' | 'cursor'>,
  ): Promise<Page<ListedQuestion>> {
    const equal = {
      workspace_id: scope.workspaceId,
      status: filter.status,
      team_id: teamIn(scope, filter.teamId),
      question_agent: filter.agent,
      question_token_id: filter.tokenRootId,
    };
    const order = newestFirst('question_id', 'requested_at');
    const filters = where(equal, 'question_id is not null');
    const page = filter.status === undefined && { page: pageOfEveryStatus(filters.where, order) };
    const listing = { name: 'questions', select: LISTED, from: 'approvals', ...filters, order, ...page };
    return readPage(this.db, scope, listing, paging);
  }
}
