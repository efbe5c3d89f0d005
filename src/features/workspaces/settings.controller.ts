import { Body, Controller, Get, Put } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { WorkspaceService } from './workspace.service.js';
import { ChangeSettingsBody, SettingsView } from './settings.dto.js';
import { Workspaces } from './workspaces.repository.js';

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
