import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { LimitReached } from '../teams/teams.errors.js';
import { CreateWorkspace } from './create-workspace.js';
import { WorkspaceList } from './workspace-list.repository.js';
import { NewWorkspace, WorkspaceBody, WorkspacePage } from './workspaces.dto.js';

/** The workspaces of the service, for the owners of the first one. */
@Controller('api/admin/workspaces')
export class WorkspacesController {
  constructor(
    private readonly list: WorkspaceList,
    private readonly createWorkspace: CreateWorkspace,
  ) {}

  /** All workspaces of the service, and nothing of what is in them. */
  @Get()
  @Route({ auth: 'member', role: 'owner', returns: { 200: WorkspacePage } })
  async read(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<WorkspacePage> {
    await this.list.assertFirst(caller);
    return this.list.page(caller, query);
  }

  /** Makes a workspace and invites its owner by mail; the caller is no member of it. */
  @Post()
  @Route({
    auth: 'member',
    role: 'owner',
    returns: { 201: NewWorkspace },
    errors: [AlreadyExists, LimitReached],
  })
  create(@CurrentCaller() caller: Caller, @Body() body: WorkspaceBody): Promise<NewWorkspace> {
    return this.createWorkspace.execute(caller, body);
  }
}
