import { Body, Controller, Get, HttpStatus, Post, Res } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { SignedFor } from '../../platform/auth/signed-for.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { AcceptConfidenceUpdate } from './accept-confidence-update.js';
import { ConfidenceUpdateBody, InductionAnswer } from './partner.dto.js';
import { PartnerAvatar, PartnerIntelligence } from './persona.dto.js';
import { StaleEvent } from './partner.errors.js';
import { PersonaReader } from './persona.reader.js';

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
