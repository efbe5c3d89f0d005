import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound, Unavailable } from '../../platform/kernel/errors.js';
import { NewStandingOrderView, newViewOf } from '../standing-orders/index.js';
import { SUGGESTION_PARAM, SuggestionDecided, SuggestionList } from './suggestions.dto.js';
import { SuggestionsService } from './suggestions.service.js';

/** Standing orders that repeated approvals suggest. */
@Controller('api/pro/standing-orders/suggestions')
export class SuggestionsController {
  constructor(private readonly suggestions: SuggestionsService) {}

  /** Orders for what was approved five times within 30 days without an edit or a rejection, each with its simulation. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    returns: { 200: SuggestionList },
    errors: [Unavailable],
  })
  async list(@CurrentCaller() caller: Caller): Promise<SuggestionList> {
    return { items: await this.suggestions.list(caller) };
  }

  /** Makes a draft order of a suggestion. It decides nothing until somebody activates it. */
  @ApiParam(SUGGESTION_PARAM)
  @Post(':suggestionId/accept')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    returns: { 201: NewStandingOrderView },
    errors: [NotFound, InvalidTransition],
  })
  async accept(
    @CurrentCaller() caller: Caller,
    @Param('suggestionId') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NewStandingOrderView> {
    const order = await this.suggestions.accept(caller, id);
    response.location(`/api/pro/standing-orders/${order.standingOrderId}`);
    return newViewOf(order, caller);
  }

  /** Has this suggestion not made again. */
  @ApiParam(SUGGESTION_PARAM)
  @Post(':suggestionId/dismiss')
  @Route({
    ...ACTS,
    returns: { 200: SuggestionDecided },
    errors: [NotFound, InvalidTransition],
  })
  async dismiss(
    @CurrentCaller() caller: Caller,
    @Param('suggestionId') id: string,
  ): Promise<SuggestionDecided> {
    await this.suggestions.dismiss(caller, id);
    return { suggestionId: id, decision: 'dismissed' };
  }
}
