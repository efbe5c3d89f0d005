import { Controller, Get } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { specified } from '../../platform/rate-limit/limits.js';
import { Profile } from './profile.dto.js';
import { AutonomyMode } from './autonomy-mode.js';
import { Devices } from './devices.repository.js';
import { InstalledPacks } from './installed-packs.js';
import { Workspaces } from './workspaces.repository.js';

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
