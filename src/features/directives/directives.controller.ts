import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { DraftingStates, draftingFrom } from '../capos/index.js';
import { CancelDirective } from './end-directive.js';
import { DRAFTING } from './directive-states.js';
import { summaryOf, viewOf } from './directive.js';
import {
  DIRECTIVE_PARAM,
  DirectiveBody,
  DirectivePage,
  DirectivesQuery,
  DirectiveView,
  QueuedDirective,
  QueuedDirectiveBody,
} from './directives.dto.js';
import { Directives } from './directives.repository.js';
import { HandInDirective } from './hand-in-directive.js';
import { RetryDirective } from './retry-directive.js';

@Controller('api/pro')
export class DirectivesController {
  constructor(
    private readonly directives: Directives,
    private readonly handIn: HandInDirective,
    private readonly cancelDirective: CancelDirective,
    private readonly retryDirective: RetryDirective,
    private readonly drafting: DraftingStates,
    private readonly clock: Clock,
  ) {}

  /** Hands a directive to a capo. */
  @Post('directives')
  @Route({
    ...ACTS,
    returns: { 201: DirectiveView },
    errors: [NotFound],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() { directive: text, ...terms }: DirectiveBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DirectiveView> {
    const directive = await this.handIn.execute(caller, { text, ...terms });
    response.location(locationOf(directive.directiveId));
    return viewOf(directive, draftingFrom(directive.createdAt));
  }

  /** Hands a directive in; the consigliere routes it, and its output waits for approval. */
  @Post('directive')
  @Route({
    ...ACTS,
    limit: specified('/api/pro/directive'),
    returns: { 201: QueuedDirective },
    errors: [NotFound],
  })
  async queue(
    @CurrentCaller() caller: Caller,
    @Body() body: QueuedDirectiveBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<QueuedDirective> {
    const { directiveId, approvalId } = await this.handIn.execute(caller, body);
    response.location(locationOf(directiveId));
    return { directiveId, approvalId: approvalId!, status: 'pending_approval' };
  }

  /** The directives the caller may see, newest first. */
  @Get('directives')
  @Route({ auth: 'member', replica: true, returns: { 200: DirectivePage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: DirectivesQuery): Promise<DirectivePage> {
    const page = await this.directives.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(summaryOf) };
  }

  /** One directive with its output, cost and history. */
  @ApiParam(DIRECTIVE_PARAM)
  @Get('directives/:directiveId')
  @Route({ auth: 'member', replica: true, returns: { 200: DirectiveView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('directiveId') directiveId: string,
  ): Promise<DirectiveView> {
    const scope = scopeOf(caller);
    const directive = await this.directives.find(scope, directiveId);
    if (!directive) throw new NotFound();
    const { status } = directive;
    const drafting = DRAFTING.includes(status) ? await this.drafting.read(scope, directiveId) : null;
    const throttledUntil =
      status === 'sending' ? await this.directives.throttledUntil(scope, directiveId) : null;
    return viewOf(directive, drafting, throttledUntil);
  }

  /** Cancels a directive before anything of it was sent. */
  @ApiParam(DIRECTIVE_PARAM)
  @Post('directives/:directiveId/cancel')
  @Route({
    ...ACTS,
    stops: true,
    returns: { 200: DirectiveView },
    errors: [NotFound, InvalidTransition],
  })
  async cancel(
    @CurrentCaller() caller: Caller,
    @Param('directiveId') directiveId: string,
  ): Promise<DirectiveView> {
    return viewOf(await this.cancelDirective.execute(caller, directiveId), null);
  }

  /** Has another draft made of a directive that failed, unless a part of it was sent or may have been; an escalation about it is resolved. */
  @ApiParam(DIRECTIVE_PARAM)
  @Post('directives/:directiveId/retry')
  @Route({
    ...ACTS,
    returns: { 200: DirectiveView },
    errors: [NotFound, InvalidTransition],
  })
  async retry(
    @CurrentCaller() caller: Caller,
    @Param('directiveId') directiveId: string,
  ): Promise<DirectiveView> {
    const directive = await this.retryDirective.execute(caller, directiveId);
    return viewOf(directive, draftingFrom(this.clock.now()));
  }
}

function locationOf(directiveId: string): string {
  return `/api/pro/directives/${directiveId}`;
}
