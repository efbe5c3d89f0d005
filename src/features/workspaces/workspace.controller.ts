import { Body, Controller, Get, Patch, Req } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { Route } from '../../platform/http/route.js';
import { remaining, type Window } from '../../platform/rate-limit/windows.js';
import { WorkspaceService } from './workspace.service.js';
import { workspaceView } from './workspace.js';
import { WorkspaceBody, WorkspaceUsageView, WorkspaceView } from './workspace.dto.js';
import { Workspaces } from './workspaces.repository.js';

/** The workspace that is open in the admin area. */
@Controller('api/admin/workspace')
export class WorkspaceController {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly service: WorkspaceService,
  ) {}

  /** The workspace with its tier, what that allows, and how much of it is left. */
  @Get()
  @Route({ auth: 'member', returns: { 200: WorkspaceUsageView } })
  async get(
    @CurrentCaller() caller: Caller,
    @Req() { windows = [] }: AdmittedRequest,
  ): Promise<WorkspaceUsageView> {
    const left = (policy: Window['policy']) => {
      const window = windows.find((one) => one.policy === policy);
      return window ? remaining(window) : null;
    };
    const facts = await this.workspaces.facts(scopeOf(caller));
    return { ...workspaceView(facts), leftThisMinute: left('tier-minute'), leftToday: left('tier-day') };
  }

  /** Renames the workspace. */
  @Patch()
  @Route({ auth: 'member', role: 'owner', returns: { 200: WorkspaceView } })
  rename(@CurrentCaller() caller: Caller, @Body() body: WorkspaceBody): Promise<WorkspaceView> {
    return this.service.rename(caller, body);
  }
}
