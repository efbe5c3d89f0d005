import { Body, Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { DeletionBody, DeletionStatus } from './deletion.dto.js';
import { DeletionService } from './deletion.service.js';
import { DeletionBegun, DeletionRequested, ExportRequired, FirstWorkspace } from './tenancy.errors.js';

/** The end of a workspace. */
@ApiTags('workspace')
@Controller('api/admin/workspace/deletion')
export class DeletionController {
  constructor(private readonly deletion: DeletionService) {}

  /** Whether the workspace is going to be deleted and when, and its newest export. */
  @Get()
  @Route({ auth: 'member', role: 'owner', returns: { 200: DeletionStatus } })
  getDeletion(@CurrentCaller() caller: Caller): Promise<DeletionStatus> {
    return this.deletion.status(caller);
  }

  /** Has the workspace deleted in seven days; until then nothing leaves it, nobody changes it, and an owner can take it back. */
  @Post()
  @Route({
    auth: 'member',
    role: 'owner',
    changesMembership: true,
    returns: { 200: DeletionStatus },
    errors: [ExportRequired, FirstWorkspace, DeletionRequested],
  })
  async requestDeletion(
    @CurrentCaller() caller: Caller,
    @Body() body: DeletionBody,
  ): Promise<DeletionStatus> {
    await this.deletion.request(caller, body);
    return this.deletion.status(caller);
  }

  /** Takes the deletion back: everything is as it was before it was asked for. */
  @Delete()
  @Route({
    auth: 'member',
    role: 'owner',
    changesMembership: true,
    returns: { 200: DeletionStatus },
    errors: [InvalidTransition, DeletionBegun],
  })
  async withdrawDeletion(@CurrentCaller() caller: Caller): Promise<DeletionStatus> {
    await this.deletion.withdraw(caller);
    return this.deletion.status(caller);
  }
}
