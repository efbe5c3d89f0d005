import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { DECIDES, Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { GuardianHalted } from '../terms/index.js';
import { DecideEscalation } from './decide-escalation.js';
import { viewOf } from './escalation.js';
import type { EscalationEntity } from './escalation.entity.js';
import { EscalationOptions } from './escalation-options.js';
import {
  DecideEscalationBody,
  ESCALATION_PARAM,
  EscalationPage,
  EscalationsQuery,
  EscalationView,
} from './escalations.dto.js';
import { EscalationAlreadyDecided } from './escalations.errors.js';
import { Escalations } from './escalations.repository.js';

@Controller('api/pro/escalations')
export class EscalationsController {
  constructor(
    private readonly escalations: Escalations,
    private readonly options: EscalationOptions,
    private readonly decideEscalation: DecideEscalation,
  ) {}

  /** What a person has to decide, the most urgent first; of another status, newest first. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: EscalationPage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: EscalationsQuery): Promise<EscalationPage> {
    const page = await this.escalations.list(scopeOf(caller), query);
    return { ...page, items: page.items.map((one) => this.viewOf(one)) };
  }

  /** One escalation. */
  @ApiParam(ESCALATION_PARAM)
  @Get(':escalationId')
  @Route({ auth: 'member', replica: true, returns: { 200: EscalationView }, errors: [NotFound] })
  async get(
    @CurrentCaller() caller: Caller,
    @Param('escalationId') escalationId: string,
  ): Promise<EscalationView> {
    const escalation = isId('esc', escalationId)
      ? await this.escalations.find(scopeOf(caller), escalationId)
      : undefined;
    if (!escalation) throw new NotFound();
    return this.viewOf(escalation);
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
    return this.decideEscalation.execute(caller, body);
  }

  private viewOf(escalation: EscalationEntity): EscalationView {
    return viewOf(escalation, this.options.choicesOf(escalation));
  }
}
