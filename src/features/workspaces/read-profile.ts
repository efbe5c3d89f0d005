import { Injectable } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { UnknownElementException } from '@nestjs/core/errors/exceptions/unknown-element.exception.js';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { AutonomyMode } from './autonomy-mode.js';
import type { Profile } from './profile.dto.js';
import { Workspaces } from './workspaces.repository.js';

@Injectable()
export class ReadProfile {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly modules: ModuleRef,
  ) {}

  async execute(caller: Caller): Promise<Profile> {
    const scope = scopeOf(caller);
    const [{ presence, quietHours, tier }, mode] = await Promise.all([
      this.workspaces.settings(scope),
      this.autonomyMode()?.read(scope) ?? null,
    ]);
    const { memberId, name, email, role } = caller;
    return {
      operator: { memberId, handle: name, email, displayName: name, role, tier },
      autonomy: { mode, presence, quietHours },
      packs: [],
      tier,
      devices: [],
    };
  }

  /** Looked for in the whole program, since the module that provides it stands above this one. */
  private autonomyMode(): AutonomyMode | undefined {
    try {
      return this.modules.get<AutonomyMode>(AutonomyMode, { strict: false });
    } catch (error) {
      if (error instanceof UnknownElementException) return undefined;
      throw error;
    }
  }
}
