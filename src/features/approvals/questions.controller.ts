import { Body, Controller, Get, Headers, HttpStatus, Param, Post, Query, Res } from '@nestjs/common';
import { ApiHeader, ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, onlyOf, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { namedByIfMatch } from '../../platform/http/negotiated.js';
import { ASKS, DECIDES, Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists, ContentChanged, InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { GuardianHalted } from '../terms/index.js';
import { TooManyPending } from '../workspaces/index.js';
import type { ApprovalEntity } from './approval.entity.js';
import { type ListedQuestion, type ShownQuestion, Questions } from './questions.repository.js';
import {
  QUESTION_STATUSES,
  type QuestionStatus,
  type QuestionSummary,
  QuestionView,
  CreateQuestionBody,
  QUESTION_PARAM,
  QuestionPage,
  QuestionsQuery,
  RespondBody,
} from './questions.dto.js';
import { ApprovalDecided } from './approval-decisions.dto.js';
import { ApprovalAlreadyDecided, ApprovalExpired } from './approvals.errors.js';
import { APPROVAL_PARAM, DecisionWaitQuery, IF_MATCH } from './approvals.dto.js';
import { DecideApproval } from './decide-approval.js';
import { QuestionsService } from './questions.service.js';

/** The status of a question's approval. */
const STATUS_OF: Record<QuestionStatus, ApprovalEntity['status']> = {
  pending: 'pending',
  answered: 'approved',
  declined: 'rejected',
  expired: 'expired',
  cancelled: 'cancelled',
};

function viewOf(approval: ShownQuestion, now: number): QuestionView {
  const { question, answer } = approval;
  return { ...summaryOf(approval, now), answerSchema: question.answerSchema, answer };
}

function summaryOf({ question, ...approval }: ListedQuestion, now: number): QuestionSummary {
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

@Controller('api/pro')
export class QuestionsController {
  constructor(
    private readonly service: QuestionsService,
    private readonly questions: Questions,
    private readonly decideApproval: DecideApproval,
    private readonly clock: Clock,
  ) {}

  /** Asks a person, who answers through the queue of approvals. */
  @Post('questions')
  @Route({
    ...ASKS,
    returns: { 201: QuestionView, 200: QuestionView },
    errors: [NotFound, AlreadyExists, TooManyPending, GuardianHalted],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateQuestionBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QuestionView> {
    const { question, isNew } = await this.service.create(caller, body);
    response.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    return viewOf(question, this.clock.now());
  }

  /** Newest first; an agent sees its own. */
  @Get('questions')
  @Route({ auth: 'member', scope: 'request', returns: { 200: QuestionPage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: QuestionsQuery): Promise<QuestionPage> {
    const { status, agent, teamId, ...paging } = query;
    const filter = { status: status && STATUS_OF[status], agent, teamId, tokenRootId: onlyOf(caller) };
    const { items, ...page } = await this.questions.list(scopeOf(caller), filter, paging);
    return { ...page, items: items.map((item) => summaryOf(item, this.clock.now())) };
  }

  /** One question; with `wait` as soon as it is answered or has ended otherwise. */
  @ApiParam(QUESTION_PARAM)
  @Get('questions/:questionId')
  @Route({ auth: 'member', scope: 'request', returns: { 200: QuestionView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('questionId') questionId: string,
    @Query() { wait }: DecisionWaitQuery,
  ): Promise<QuestionView> {
    return viewOf(await this.service.read(caller, questionId, wait), this.clock.now());
  }

  /** Takes an open question back. */
  @ApiParam(QUESTION_PARAM)
  @Post('questions/:questionId/cancel')
  @Route({
    ...ASKS,
    stops: true,
    returns: { 200: QuestionView },
    errors: [NotFound, InvalidTransition],
  })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('questionId') questionId: string,
  ): Promise<QuestionView> {
    return viewOf(await this.service.cancel(caller, questionId), this.clock.now());
  }

  /** Answers the question that the approval is about; to decline it, reject the approval. */
  @ApiParam(APPROVAL_PARAM)
  @ApiHeader(IF_MATCH)
  @Post('approvals/:approvalId/respond')
  @Route({
    ...DECIDES,
    returns: { 200: ApprovalDecided },
    errors: [
      NotFound,
      ApprovalAlreadyDecided,
      ApprovalExpired,
      InvalidTransition,
      ContentChanged,
      GuardianHalted,
    ],
  })
  respond(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() { answer }: RespondBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<ApprovalDecided> {
    return this.decideApproval.execute(
      caller,
      { approvalId, decision: 'approve', answer },
      namedByIfMatch(ifMatch),
    );
  }
}
