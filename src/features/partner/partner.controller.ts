import { Controller, Get, Post, Body, HttpStatus, Res } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller, SignedFor } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound, AlreadyExists } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { PartnerSecretService } from './partner-secret.service.js';
import {
  PartnerSecretView,
  ConfidenceUpdateBody,
  InductionAnswer,
  PartnerAvatar,
  PartnerIntelligence,
} from './partner.dto.js';
import { AcceptConfidenceUpdate, StaleEvent } from './accept-confidence-update.js';
import { PersonaReader } from './persona.reader.js';

/** What the workspace shares with the partner persona service. */
@Controller('api/admin/partner-secret')
export class PartnerSecretController {
  constructor(private readonly secret: PartnerSecretService) {}

  /** Shows the secret that the partner signs with; that it was shown is recorded. */
  @Get()
  @Route({
    auth: 'member',
    role: 'admin',
    // It leaves a receipt, so a read has a transaction here.
    transaction: true,
    anew: true,
    returns: { 200: PartnerSecretView },
    errors: [NotFound, InvalidTransition],
  })
  get(@CurrentCaller() caller: Caller): Promise<PartnerSecretView> {
    return this.secret.show(caller);
  }

  /** Makes another secret, or the first one; only the one before it is accepted as well, for 24 hours. */
  @Post('rotate')
  @Route({ auth: 'member', role: 'admin', secretAnswer: true, returns: { 200: PartnerSecretView } })
  rotate(@CurrentCaller() caller: Caller): Promise<PartnerSecretView> {
    return this.secret.rotate(caller.workspaceId, actorOf(caller));
  }
}

@Controller('api/pro/partner')
export class PartnerController {
  constructor(
    private readonly acceptConfidenceUpdate: AcceptConfidenceUpdate,
    private readonly persona: PersonaReader,
  ) {}

  /** Accepts a signed confidence update of the partner persona service. */
  @Post('induction')
  @ApiHeader({
    name: 'x-partner-signature',
    required: true,
    description: "sha256=<hex>: HMAC-SHA256 over the body's bytes under the workspace's partner secret.",
    schema: {
      type: 'string',
      pattern: '^sha256=[0-9a-f]{64}$',
      example: 'sha256=9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f',
    },
  })
  @Route({
    auth: 'signature',
    limit: specified('/api/pro/partner/induction'),
    returns: { 202: InductionAnswer, 200: InductionAnswer },
    errors: [StaleEvent, AlreadyExists],
  })
  async induct(
    @SignedFor() workspaceId: string,
    @Body() body: ConfidenceUpdateBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<InductionAnswer> {
    const answer = await this.acceptConfidenceUpdate.execute(workspaceId, body);
    response.status(answer.duplicate ? HttpStatus.OK : HttpStatus.ACCEPTED);
    return answer;
  }

  /** The persona now: where all buyers together stand. */
  @Get('avatar')
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/partner/avatar'),
    returns: { 200: PartnerAvatar },
  })
  getAvatar(@CurrentCaller() caller: Caller): Promise<PartnerAvatar> {
    return this.persona.avatar(scopeOf(caller));
  }

  /** What changes the buyers: trends, the biggest gap and the newest updates. */
  @Get('intelligence')
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/partner/intelligence'),
    returns: { 200: PartnerIntelligence },
  })
  getIntelligence(@CurrentCaller() caller: Caller): Promise<PartnerIntelligence> {
    return this.persona.intelligence(scopeOf(caller));
  }
}
