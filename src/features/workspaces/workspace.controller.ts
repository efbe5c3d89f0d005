import { Body, Controller, Get, Patch } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { RenameWorkspace } from './rename-workspace.js';
import { workspaceView } from './workspace.js';
import { WorkspaceBody, WorkspaceView } from './workspace.dto.js';
import { Workspaces } from './workspaces.repository.js';

/** The workspace that is open in the admin area. */
@Controller('api/admin/workspace')
export class WorkspaceController {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly renameWorkspace: RenameWorkspace,
  ) {}

  /** The workspace with its tier and what that allows. */
  @Get()
  @Route({ auth: 'member', returns: { 200: WorkspaceView } })
  async get(@CurrentCaller() caller: Caller): Promise<WorkspaceView> {
    return workspaceView(await this.workspaces.facts(scopeOf(caller)));
  }

  /** Renames the workspace. */
  @Patch()
  @Route({ auth: 'member', role: 'owner', returns: { 200: WorkspaceView } })
  rename(@CurrentCaller() caller: Caller, @Body() body: WorkspaceBody): Promise<WorkspaceView> {
    return this.renameWorkspace.execute(caller, body);
  }
}
