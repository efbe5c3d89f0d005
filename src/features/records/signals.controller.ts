import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { Signals } from './signals.repository.js';
import { AcknowledgeBody, SIGNAL_PARAM, SignalPage, SignalsQuery, SignalView } from './signals.dto.js';

@Controller('api/pro')
export class SignalsController {
  constructor(private readonly signals: Signals) {}

  /** What was raised and not withdrawn, newest first, without the texts. */
  @Get('signals')
  @Route({ auth: 'member', replica: true, returns: { 200: SignalPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: SignalsQuery): Promise<SignalPage> {
    return this.signals.list(scopeOf(caller), query);
  }

  /** One signal with its text. */
  @ApiParam(SIGNAL_PARAM)
  @Get('signals/:signalId')
  @Route({ auth: 'member', replica: true, returns: { 200: SignalView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('signalId') signalId: string): Promise<SignalView> {
    return this.signals.get(scopeOf(caller), signalId);
  }

  /** Acknowledges a signal, or snoozes it. */
  @Post('ack')
  @Route({
    ...ACTS,
    limit: specified('/api/pro/ack'),
    returns: { 200: SignalView },
    errors: [NotFound, InvalidTransition],
  })
  acknowledge(@CurrentCaller() caller: Caller, @Body() body: AcknowledgeBody): Promise<SignalView> {
    return this.signals.acknowledge(caller, body);
  }
}
