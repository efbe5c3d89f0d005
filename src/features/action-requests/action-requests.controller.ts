import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Body,
  Controller,
  Get,
  HttpStatus,
  Param,
  Post,
  Query,
  Res,
  UseGuards,
} from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, onlyOf, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { ASKS, Route } from '../../platform/http/route.js';
import { AlreadyExists, ContentChanged, InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import type { RouteLimit } from '../../platform/rate-limit/limits.js';
import { ToolsService } from '../tools/index.js';
import { ApprovalNotReady, AwaitChange, DecisionWaitQuery } from '../approvals/index.js';
import { PolicyDenied } from '../guardian/index.js';
import { GuardianHalted } from '../terms/index.js';
import { TooManyPending } from '../workspaces/index.js';
import { summaryOf, viewOf } from './action-request.js';
import {
  ACTION_REQUEST_PARAM,
  ActionRequestPage,
  ActionRequestsQuery,
  ActionRequestView,
  ActionResultBody,
  AskedActionRequest,
  ConsumeBody,
  ConsumedActionRequest,
  CreateActionRequestBody,
  PermitKeySet,
} from './action-requests.dto.js';
import {
  ActionExpired,
  AlreadyConsumed,
  ToolChanged,
  ActionRequestsService,
} from './action-requests.service.js';
import { ACTION_TOPIC } from './action-outcomes.js';
import { ActionRequests } from './action-requests.repository.js';
import { Permits } from './permits.js';

/**
 * Checks the parameters of a request before its transaction opens; a transaction that asked for the check would begin twice. It
 * refuses only a caller with too many checks waiting: of the parameters the use case judges, with the tool as it finds it then.
 */
@Injectable()
class ParamsBeforehand implements CanActivate {
  constructor(private readonly tools: ToolsService) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const { caller, body } = context.switchToHttp().getRequest<AdmittedRequest>();
    const { tool, params } = (body ?? {}) as { tool?: unknown; params?: unknown };
    await this.tools.checkParamsBeforehand(caller!, tool, params);
    return true;
  }
}

/** CONTRACT section 7: one bucket for all of them. */
const LIMIT: RouteLimit = { limit: 1_200, windowSeconds: 60, bucket: '/api/pro/action-requests' };

@ApiTags('Actions')
@Controller()
export class ActionRequestsController {
  constructor(
    private readonly service: ActionRequestsService,
    private readonly requests: ActionRequests,
    private readonly awaitChange: AwaitChange,
    private readonly permits: Permits,
  ) {}

  /** Asks for one call of a tool; decided at once, by a standing order or with an approval that waits for a person. */
  @Post('api/pro/action-requests')
  @UseGuards(ParamsBeforehand)
  @Route({
    ...ASKS,
    limit: LIMIT,
    kept: ({ permit: _permit, ...answer }: Partial<AskedActionRequest>) => answer,
    returns: { 201: AskedActionRequest, 200: AskedActionRequest },
    errors: [NotFound, AlreadyExists, TooManyPending, GuardianHalted],
  })
  async request(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateActionRequestBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AskedActionRequest> {
    const { request, isNew, consumed } = await this.service.create(caller, body);
    response.status(isNew ? HttpStatus.CREATED : HttpStatus.OK);
    const view = viewOf(request, caller);
    return consumed ? { ...view, permit: await this.permits.sign(consumed) } : view;
  }

  /** Newest first; an agent sees its own. */
  @Get('api/pro/action-requests')
  @Route({ auth: 'member', scope: 'request', limit: LIMIT, returns: { 200: ActionRequestPage } })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() query: ActionRequestsQuery,
  ): Promise<ActionRequestPage> {
    const { items, ...page } = await this.requests.list(scopeOf(caller), query, onlyOf(caller));
    return { ...page, items: items.map((item) => summaryOf(item, caller)) };
  }

  /** One action request; with `wait` as soon as nothing more becomes of it unless the agent acts. */
  @ApiParam(ACTION_REQUEST_PARAM)
  @Get('api/pro/action-requests/:actionRequestId')
  @Route({
    auth: 'member',
    scope: 'request',
    limit: LIMIT,
    returns: { 200: ActionRequestView },
    errors: [NotFound],
  })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('actionRequestId') actionRequestId: string,
    @Query() { wait }: DecisionWaitQuery,
  ): Promise<ActionRequestView> {
    const find = () => this.requests.find(scopeOf(caller), actionRequestId, onlyOf(caller));
    const waited = { topic: ACTION_TOPIC, id: actionRequestId, waitSeconds: wait };
    return viewOf(await this.awaitChange.until(waited, find, ({ status }) => status !== 'pending'), caller);
  }

  /** Takes the request up, once: the answer alone holds the permit for exactly these parameters. */
  @ApiParam(ACTION_REQUEST_PARAM)
  @Post('api/pro/action-requests/:actionRequestId/consume')
  @Route({
    ...ASKS,
    limit: LIMIT,
    anew: true,
    transaction: false,
    returns: { 200: ConsumedActionRequest },
    errors: [
      NotFound,
      AlreadyConsumed,
      ApprovalNotReady,
      ToolChanged,
      InvalidTransition,
      ActionExpired,
      ContentChanged,
      PolicyDenied,
      GuardianHalted,
    ],
  })
  async consume(
    @CurrentCaller() caller: Caller,
    @Param('actionRequestId') actionRequestId: string,
    @Body() body: ConsumeBody,
  ): Promise<ConsumedActionRequest> {
    const request = await this.service.consume(caller, actionRequestId, body);
    return { ...viewOf(request, caller), permit: await this.permits.sign(request) };
  }

  /** Says what came of a request that was consumed; a token that was paused meanwhile may, too. */
  @ApiParam(ACTION_REQUEST_PARAM)
  @Post('api/pro/action-requests/:actionRequestId/result')
  @Route({
    ...ASKS,
    limit: LIMIT,
    stops: true,
    evenPaused: true,
    returns: { 200: ActionRequestView },
    errors: [NotFound, InvalidTransition, AlreadyExists],
  })
  async report(
    @CurrentCaller() caller: Caller,
    @Param('actionRequestId') actionRequestId: string,
    @Body() body: ActionResultBody,
  ): Promise<ActionRequestView> {
    return viewOf(await this.service.report(caller, actionRequestId, body), caller);
  }

  /** Takes back what was not consumed. */
  @ApiParam(ACTION_REQUEST_PARAM)
  @Post('api/pro/action-requests/:actionRequestId/cancel')
  @Route({
    ...ASKS,
    limit: LIMIT,
    stops: true,
    returns: { 200: ActionRequestView },
    errors: [NotFound, InvalidTransition],
  })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('actionRequestId') actionRequestId: string,
  ): Promise<ActionRequestView> {
    return viewOf(await this.service.cancel(caller, actionRequestId), caller);
  }

  /** The public key of permits, for the guard in front of a tool. */
  @Get('.well-known/jwks.json')
  @Route({ auth: 'public', limit: LIMIT, returns: { 200: PermitKeySet } })
  listPermitKeys(): Promise<PermitKeySet> {
    return this.permits.keys();
  }
}
