import { Body, Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { EvalRuns } from './eval-runs.repository.js';
import { EVAL_PARAM, EvalRunPage, EvalRunView, EvalsQuery, RunEvalBody } from './evals.dto.js';
import { EvalService } from './eval.service.js';

@Controller('api/pro/evals')
export class EvalsController {
  constructor(
    private readonly service: EvalService,
    private readonly runs: EvalRuns,
  ) {}

  /** Holds a standing order, a work packet or a skill against the rules of docs/evals.md. */
  @Post('run')
  @Route({
    ...ACTS,
    returns: { 201: EvalRunView },
    errors: [NotFound],
  })
  async run(
    @CurrentCaller() caller: Caller,
    @Body() body: RunEvalBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<EvalRunView> {
    const run = await this.service.run(caller, body);
    response.location(`/api/pro/evals/${run.evalRunId}`);
    return run;
  }

  /** The eval runs that the caller may see, newest first, without their findings. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: EvalRunPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: EvalsQuery): Promise<EvalRunPage> {
    return this.runs.list(scopeOf(caller), query);
  }

  /** One eval run with what it found. */
  @ApiParam(EVAL_PARAM)
  @Get(':evalRunId')
  @Route({ auth: 'member', replica: true, returns: { 200: EvalRunView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('evalRunId') evalRunId: string): Promise<EvalRunView> {
    return this.runs.get(scopeOf(caller), evalRunId);
  }
}
