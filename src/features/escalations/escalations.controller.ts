import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { DECIDES, Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { GuardianHalted } from '../terms/index.js';
import {
  DecideEscalationBody,
  ESCALATION_PARAM,
  EscalationPage,
  EscalationsQuery,
  EscalationView,
} from './escalations.dto.js';
import { EscalationAlreadyDecided, EscalationsService } from './escalations.service.js';

@Controller('api/pro/escalations')
export class EscalationsController {
  constructor(private readonly escalations: EscalationsService) {}

  /** What a person has to decide, the most urgent first; of another status, newest first. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: EscalationPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: EscalationsQuery): Promise<EscalationPage> {
    return this.escalations.list(caller, query);
  }

  /** One escalation. */
  @ApiParam(ESCALATION_PARAM)
  @Get(':escalationId')
  @Route({ auth: 'member', replica: true, returns: { 200: EscalationView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('escalationId') escalationId: string): Promise<EscalationView> {
    return this.escalations.get(caller, escalationId);
  }

  /** Decides an escalation; what the option says is done in the same transaction. */
  @Post('decide')
  @Route({
    ...DECIDES,
    limit: specified('/api/pro/escalations/decide'),
    stops: ({ decision }) => decision === 'reject',
    returns: { 200: EscalationView },
    errors: [NotFound, EscalationAlreadyDecided, InvalidTransition, ValidationFailed, GuardianHalted],
  })
  decide(@CurrentCaller() caller: Caller, @Body() body: DecideEscalationBody): Promise<EscalationView> {
    return this.escalations.decide(caller, body);
  }
}
