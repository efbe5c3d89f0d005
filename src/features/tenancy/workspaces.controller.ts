import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists, InvalidTransition } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { InviteView } from '../teams/index.js';
import { LimitReached } from '../workspaces/index.js';
import { WorkspaceList } from './workspace-list.repository.js';
import {
  NewWorkspace,
  NewWorkspaceBody,
  OwnerBody,
  WORKSPACE_PARAM,
  WorkspacePage,
} from './workspaces.dto.js';
import { WorkspacesService } from './workspaces.service.js';

/** The workspaces of the service, for the owners of the first one. */
@Controller('api/admin/workspaces')
export class WorkspacesController {
  constructor(
    private readonly workspaceList: WorkspaceList,
    private readonly workspaces: WorkspacesService,
  ) {}

  /** All workspaces of the service, and nothing of what is in them. */
  @Get()
  @Route({ auth: 'member', role: 'owner', returns: { 200: WorkspacePage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<WorkspacePage> {
    await this.workspaceList.assertFirst(caller);
    return this.workspaceList.page(caller, query);
  }

  /** Makes a workspace and invites its owner by mail; the caller is no member of it. */
  @Post()
  @Route({
    auth: 'member',
    role: 'owner',
    returns: { 201: NewWorkspace },
    errors: [AlreadyExists, LimitReached],
  })
  create(@CurrentCaller() caller: Caller, @Body() body: NewWorkspaceBody): Promise<NewWorkspace> {
    return this.workspaces.create(caller, body);
  }

  /** Invites the owner of a workspace that nobody has joined yet once more; what was sent before opens nothing then. */
  @ApiParam(WORKSPACE_PARAM)
  @Post(':workspaceId/invite')
  @Route({
    auth: 'member',
    role: 'owner',
    returns: { 201: InviteView },
    errors: [InvalidTransition],
  })
  invite(
    @CurrentCaller() caller: Caller,
    @Param('workspaceId') workspaceId: string,
    @Body() body: OwnerBody,
  ): Promise<InviteView> {
    return this.workspaces.inviteOwner(caller, workspaceId, body);
  }
}
