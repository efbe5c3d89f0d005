import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { AutonomyMode } from './autonomy-mode.js';
import { Devices } from './devices.repository.js';
import { InstalledPacks } from './installed-packs.js';
import type { Profile } from './profile.dto.js';
import { Workspaces } from './workspaces.repository.js';

@Injectable()
export class ReadProfile {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly devices: Devices,
    private readonly autonomyMode: AutonomyMode,
    private readonly installedPacks: InstalledPacks,
  ) {}

  async execute(caller: Caller): Promise<Profile> {
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
