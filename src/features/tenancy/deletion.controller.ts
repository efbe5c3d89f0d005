import { Body, Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { DeletionBody, DeletionStatus } from './deletion.dto.js';
import { Deletions } from './deletions.repository.js';
import { Exports } from './exports.repository.js';
import { RequestDeletion } from './request-deletion.js';
import { DeletionBegun, DeletionRequested, ExportRequired, FirstWorkspace } from './tenancy.errors.js';
import { WithdrawDeletion } from './withdraw-deletion.js';

/** The end of a workspace. */
@ApiTags('workspace')
@Controller('api/admin/workspace/deletion')
export class DeletionController {
  constructor(
    private readonly deletions: Deletions,
    private readonly exports: Exports,
    private readonly request: RequestDeletion,
    private readonly withdraw: WithdrawDeletion,
  ) {}

  /** Whether the workspace is going to be deleted and when, and its newest export. */
  @Get()
  @Route({ auth: 'member', role: 'owner', returns: { 200: DeletionStatus } })
  getDeletion(@CurrentCaller() caller: Caller): Promise<DeletionStatus> {
    return this.status(caller);
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
    await this.request.execute(caller, body);
    return this.status(caller);
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
    await this.withdraw.execute(caller);
    return this.status(caller);
  }

  private async status({ workspaceId }: Caller): Promise<DeletionStatus> {
    const deletion = await this.deletions.find(workspaceId);
    const newest = await this.exports.newest(workspaceId);
    return {
      state: deletion ? 'deleting' : 'active',
      deletion: deletion
        ? { requestedBy: deletion.requestedBy, requestedAt: deletion.requestedAt, dueAt: deletion.dueAt }
        : null,
      export: newest
        ? {
            exportId: newest.exportId,
            askedBy: newest.askedBy,
            completedAt: newest.completedAt,
            sha256: newest.sha256,
            lines: newest.lines,
            bytes: newest.bytes,
          }
        : null,
    };
  }
}
