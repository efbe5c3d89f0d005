import { Body, Controller, Delete, Get, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { ACTS, Route } from '../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { draftingFrom } from '../capos/index.js';
import { DirectiveView, titleOf, viewOf as viewOfDirective } from '../directives/index.js';
import { GuardianHalted } from '../terms/index.js';
import type { ScheduleEntity } from './schedule.entity.js';
import {
  ChangeScheduleBody,
  CreateScheduleBody,
  SCHEDULE_PARAM,
  SchedulePage,
  SchedulesQuery,
  ScheduleView,
} from './schedules.dto.js';
import { nextDue } from './schedule-rule.js';
import { TooManySchedules, ScheduleService } from './schedules.service.js';
import { Schedules } from './schedules.repository.js';

@Controller('api/pro/schedules')
export class SchedulesController {
  constructor(
    private readonly schedules: Schedules,
    private readonly service: ScheduleService,
  ) {}

  /** Makes a schedule, which hands in a directive at each due time from now on. */
  @Post()
  @Route({
    ...ACTS,
    returns: { 201: ScheduleView },
    errors: [NotFound, TooManySchedules],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() body: CreateScheduleBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ScheduleView> {
    const schedule = await this.service.create(caller, body);
    response.location(`/api/pro/schedules/${schedule.scheduleId}`);
    return viewOf(schedule);
  }

  /** The schedules the caller may see, newest first. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: SchedulePage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: SchedulesQuery): Promise<SchedulePage> {
    const page = await this.schedules.list(scopeOf(caller), query);
    const items = page.items.map(({ text, lastDueAt: _due, ...shown }) => ({
      ...shown,
      title: titleOf(text),
    }));
    return { ...page, items };
  }

  /** One schedule. */
  @ApiParam(SCHEDULE_PARAM)
  @Get(':scheduleId')
  @Route({ auth: 'member', replica: true, returns: { 200: ScheduleView }, errors: [NotFound] })
  async get(@CurrentCaller() caller: Caller, @Param('scheduleId') id: string): Promise<ScheduleView> {
    return viewOf(await this.schedules.get(scopeOf(caller), id));
  }

  /** Changes, pauses or resumes a schedule; the member who changes or resumes it owns it from then on. */
  @ApiParam(SCHEDULE_PARAM)
  @Patch(':scheduleId')
  @Route({
    ...ACTS,
    stops: (body) => body.status === 'paused' && Object.keys(body).length === 1,
    returns: { 200: ScheduleView },
    errors: [NotFound, InvalidTransition],
  })
  async update(
    @CurrentCaller() caller: Caller,
    @Param('scheduleId') id: string,
    @Body() body: ChangeScheduleBody,
  ): Promise<ScheduleView> {
    return viewOf(await this.service.change(caller, id, body));
  }

  /** Deletes a schedule; what it has handed in stays. */
  @ApiParam(SCHEDULE_PARAM)
  @Delete(':scheduleId')
  @Route({
    ...ACTS,
    stops: true,
    returns: { 200: ScheduleView },
    errors: [NotFound],
  })
  async delete(@CurrentCaller() caller: Caller, @Param('scheduleId') id: string): Promise<ScheduleView> {
    return viewOf(await this.service.delete(caller, id));
  }

  /** Runs a schedule now, paused or not, with the rights of the caller; its due times stay as they are. */
  @ApiParam(SCHEDULE_PARAM)
  @Post(':scheduleId/run')
  @Route({
    ...ACTS,
    returns: { 201: DirectiveView },
    errors: [NotFound, InvalidTransition, GuardianHalted],
  })
  async run(
    @CurrentCaller() caller: Caller,
    @Param('scheduleId') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<DirectiveView> {
    const directive = await this.service.runNow(caller, id);
    response.location(`/api/pro/directives/${directive.directiveId}`);
    return viewOfDirective(directive, draftingFrom(directive.createdAt));
  }
}

function viewOf(schedule: ScheduleEntity): ScheduleView {
  const { workspaceId: _workspace, requesterIds: _requesters, lastDueAt: _due, ...view } = schedule;
  return { ...view, nextRunsAt: runsFrom(view) };
}

/** The next due times, as many as a person looks at. */
function runsFrom({ rule, nextRunAt }: Pick<ScheduleView, 'rule' | 'nextRunAt'>): number[] {
  const runs = nextRunAt === null ? [] : [nextRunAt];
  while (runs.length > 0 && runs.length < 5) runs.push(nextDue(rule, runs.at(-1)!));
  return runs;
}
