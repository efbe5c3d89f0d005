import { Body, Controller, Get, Put, Patch, Req } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { remaining, type Window } from '../../platform/rate-limit/windows.js';
import { AutonomyMode, InstalledPacks, WorkspaceService } from './workspace.service.js';
import {
  ChangeSettingsBody,
  Profile,
  SettingsView,
  WorkspaceBody,
  WorkspaceUsageView,
  WorkspaceView,
} from './workspace.dto.js';
import { Workspaces, Devices, workspaceView } from './workspaces.repository.js';

@Controller(['api/pro/settings', 'api/admin/settings'])
export class SettingsController {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly service: WorkspaceService,
  ) {}

  /** The workspace's zone, language, currency, presence, quiet hours and notifications. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: SettingsView } })
  async get(@CurrentCaller() caller: Caller): Promise<SettingsView> {
    const { name: _name, tier: _tier, ...settings } = await this.workspaces.settings(scopeOf(caller));
    return settings;
  }

  /** Changes the settings that it names. */
  @Put()
  @Route({ auth: 'member', role: 'admin', returns: { 200: SettingsView } })
  update(@CurrentCaller() caller: Caller, @Body() body: ChangeSettingsBody): Promise<SettingsView> {
    return this.service.changeSettings(caller, body);
  }
}

@Controller('api/pro/profile')
export class ProfileController {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly devices: Devices,
    private readonly autonomyMode: AutonomyMode,
    private readonly installedPacks: InstalledPacks,
  ) {}

  /** Who calls, and how far the workspace acts by itself. */
  @Get()
  @Route({ auth: 'member', replica: true, limit: specified('/api/pro/profile'), returns: { 200: Profile } })
  async get(@CurrentCaller() caller: Caller): Promise<Profile> {
    const scope = scopeOf(caller);
    const [{ presence, quietHours, tier }, devices, mode, packs] = await Promise.all([
      this.workspaces.settings(scope),
      this.devices.list(caller),
      this.autonomyMode.read(scope),
      this.installedPacks.read(scope),
    ]);
    const { memberId, name, email, role } = caller;
    return {
      operator: { memberId, handle: name, email, displayName: name, role, tier },
      autonomy: { mode, presence, quietHours },
      packs,
      tier,
      devices,
    };
  }
}

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
