import { Body, Controller, Get, Headers, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiBody, ApiExtraModels, ApiHeader, ApiParam } from '@nestjs/swagger';
import { type Caller, hasRole, roleIn, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { listedAt } from '../../platform/database/listing.js';
import { namedByIfMatch } from '../../platform/http/negotiated.js';
import { DECIDES, Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import {
  ContentChanged,
  Forbidden,
  InvalidTransition,
  NotFound,
  PreconditionRequired,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { DraftingStates } from '../capos/index.js';
import { PolicyDenied } from '../guardian/index.js';
import { GuardianHalted } from '../terms/index.js';
import { summaryOf, viewOf, withoutAddresses } from './approval.js';
import {
  ApprovalDecided,
  DecisionBody,
  DecisionResults,
  DECISIONS_BODY,
  DecisionsBody,
  RejectBody,
  EditBody,
} from './approval-decisions.dto.js';
import {
  ApprovalView,
  APPROVAL_PARAM,
  ApprovalContents,
  ApprovalPage,
  ApprovalsQuery,
  ContentsQuery,
  IF_MATCH,
  IF_MATCH_REQUIRED,
  ShownApproval,
  WaitQuery,
} from './approvals.dto.js';
import { ApprovalBackgroundReader, HoldupsReader } from './approval-background.reader.js';
import {
  ApprovalAlreadyDecided,
  ApprovalExpired,
  ApprovalNotReady,
  InputRequired,
} from './approvals.errors.js';
import { Approvals } from './approvals.repository.js';
import type { ApprovalEntity } from './approval.entity.js';
import { AwaitChange } from './waiting.js';
import { DecideApproval } from './decide-approval.js';
import { EditApproval } from './edit-approval.js';

@Controller('api/pro/approvals')
export class ApprovalsController {
  constructor(
    private readonly approvals: Approvals,
    private readonly awaitChange: AwaitChange,
    private readonly decideApproval: DecideApproval,
    private readonly editApproval: EditApproval,
    private readonly holdups: HoldupsReader,
    private readonly drafting: DraftingStates,
    private readonly background: ApprovalBackgroundReader,
    private readonly clock: Clock,
  ) {}

  /** What waits for a person, urgent and oldest first; of another status, newest first. */
  @Get()
  @Route({ auth: 'member', limit: specified('/api/pro/approvals'), returns: { 200: ApprovalPage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: ApprovalsQuery): Promise<ApprovalPage> {
    const at = listedAt(query.cursor) ?? this.clock.now();
    const scope = scopeOf(caller);
    const [page, holdups] = await Promise.all([
      this.approvals.list(scope, query, at),
      this.holdups.read(scope),
    ]);
    return { ...page, items: page.items.map((approval) => summaryOf(approval, at, holdups)) };
  }

  /** Decides one approval, or up to a hundred. */
  @Post()
  @ApiExtraModels(DecisionBody)
  @ApiBody(DECISIONS_BODY)
  @ApiHeader(IF_MATCH)
  @Route({
    ...DECIDES,
    limit: specified('/api/pro/approvals'),
    stops: onlyRejects,
    returns: { 200: DecisionResults },
    errors: [ValidationFailed, ContentChanged],
  })
  async decide(
    @CurrentCaller() caller: Caller,
    @Body() body: DecisionsBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<DecisionResults> {
    const { decisions, approvalId, decision, feedback, revise } = body;
    const named = namedByIfMatch(ifMatch) ?? undefined;
    if (decisions && named !== undefined) throw new ValidationFailed({ details: [IF_MATCH_NAMES_ONE] });
    const contentHash = body.contentHash ?? named;
    if (named !== undefined && named !== contentHash)
      throw new ContentChanged({
        message: 'If-Match and contentHash name two versions; at most one is current.',
      });
    const all = decisions ?? [
      { approvalId: approvalId!, decision: decision!, feedback, revise, contentHash },
    ];
    return { results: await this.decideApproval.executeAll(caller, all) };
  }

  /** What up to a hundred approvals are about, to be read before they are decided together. */
  @Get('contents')
  @Route({ auth: 'member', returns: { 200: ApprovalContents } })
  async contents(
    @CurrentCaller() caller: Caller,
    @Query() { ids }: ContentsQuery,
  ): Promise<ApprovalContents> {
    const scope = scopeOf(caller);
    const [approvals, holdups] = await Promise.all([
      this.approvals.contents(scope, ids.split(',')),
      this.holdups.read(scope),
    ]);
    const now = this.clock.now();
    return { items: approvals.map((one) => shownTo(caller, viewOf(one, now, holdups))) };
  }

  /** One approval; with `wait` as soon as it is ready or decided. */
  @ApiParam(APPROVAL_PARAM)
  @Get(':approvalId')
  @Route({ auth: 'member', returns: { 200: ApprovalView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Query() { wait, for: awaited }: WaitQuery,
  ): Promise<ApprovalView> {
    const scope = scopeOf(caller);
    const find = () => this.approvals.find(scope, approvalId);
    const isThere = ({ status, ready }: ApprovalEntity) =>
      status !== 'pending' || (awaited === 'draft' && ready);
    const waited = { topic: 'approval', id: approvalId, waitSeconds: wait };
    const approval = await this.awaitChange.until(waited, find, isThere);
    const isDrafting = approval.status === 'pending' && !approval.ready;
    const [background, holdups, drafting] = await Promise.all([
      this.background.read(caller, approval),
      this.holdups.read(scope),
      isDrafting && approval.directiveId !== null ? this.drafting.read(scope, approval.directiveId) : null,
    ]);
    return { ...shownTo(caller, viewOf(approval, this.clock.now(), holdups, drafting)), ...background };
  }

  /** Changes what is sent before it is approved; the policy decides again, and the content hash is a new one. */
  @ApiParam(APPROVAL_PARAM)
  @ApiHeader(IF_MATCH_REQUIRED)
  @Patch(':approvalId')
  @Route({
    ...DECIDES,
    returns: { 200: ApprovalView },
    errors: [
      NotFound,
      ApprovalAlreadyDecided,
      ApprovalNotReady,
      InvalidTransition,
      ApprovalExpired,
      ContentChanged,
      PreconditionRequired,
      ValidationFailed,
      PolicyDenied,
      GuardianHalted,
    ],
  })
  async edit(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() body: EditBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<ApprovalView> {
    const approval = await this.editApproval.execute(caller, approvalId, body, namedByIfMatch(ifMatch));
    const [background, holdups] = await Promise.all([
      this.background.read(caller, approval),
      this.holdups.read(scopeOf(caller)),
    ]);
    return { ...viewOf(approval, this.clock.now(), holdups), ...background };
  }

  /** Approves what `If-Match` names by its content hash, which is required once another member has edited the draft. */
  @ApiParam(APPROVAL_PARAM)
  @ApiHeader(IF_MATCH)
  @Post(':approvalId/approve')
  @Route({
    ...DECIDES,
    returns: { 200: ApprovalDecided },
    errors: [
      NotFound,
      ApprovalAlreadyDecided,
      ApprovalNotReady,
      ApprovalExpired,
      ContentChanged,
      PreconditionRequired,
      InputRequired,
      InvalidTransition,
      GuardianHalted,
      Forbidden,
    ],
  })
  approve(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Headers('if-match') ifMatch?: string,
  ): Promise<ApprovalDecided> {
    return this.decideApproval.execute(caller, { approvalId, decision: 'approve' }, namedByIfMatch(ifMatch));
  }

  /** Rejects with a reason, or sends it back for another draft; with `If-Match` only the content that it names. */
  @ApiParam(APPROVAL_PARAM)
  @ApiHeader(IF_MATCH)
  @Post(':approvalId/reject')
  @Route({
    ...DECIDES,
    stops: ({ revise }) => revise !== true,
    returns: { 200: ApprovalDecided },
    errors: [
      NotFound,
      ApprovalAlreadyDecided,
      ApprovalNotReady,
      ApprovalExpired,
      ContentChanged,
      InvalidTransition,
    ],
  })
  reject(
    @CurrentCaller() caller: Caller,
    @Param('approvalId') approvalId: string,
    @Body() { feedback, revise }: RejectBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<ApprovalDecided> {
    const decision = { approvalId, decision: 'reject' as const, feedback, revise };
    return this.decideApproval.execute(caller, decision, namedByIfMatch(ifMatch));
  }
}

function shownTo(caller: Caller, approval: ShownApproval): ShownApproval {
  return hasRole(roleIn(caller, approval.teamId), 'operator') ? approval : withoutAddresses(approval);
}

/** One header cannot say what was read of each of many. */
const IF_MATCH_NAMES_ONE = {
  path: 'if-match',
  rule: 'standsAlone',
  message: 'If-Match names one content; for a list give contentHash beside each decision',
};

/** One rejection, or a list of nothing else; what is sent back for another draft makes work. */
function onlyRejects(body: Record<string, unknown>): boolean {
  const { decisions = [body] } = body;
  return (
    Array.isArray(decisions) &&
    decisions.every((one: DecisionBody | null) => one?.decision === 'reject' && one.revise !== true)
  );
}
