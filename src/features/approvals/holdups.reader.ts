import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { PausedCapos } from '../capos/index.js';
import { type GuardianEntity, Guardians } from '../guardian/index.js';
import type { CapoRole } from '../terms/index.js';
import type { Holdups } from './waiting.js';

/** What keeps the approvals of a workspace waiting just now. */
@Injectable()
export class HoldupsReader {
  constructor(
    private readonly db: Db,
    private readonly guardians: Guardians,
    private readonly paused: PausedCapos,
  ) {}

  async read(scope: Scope): Promise<Holdups> {
    const [[guardian], paused] = (await this.db.readAll(scope, [
      this.guardians.readStatement(scope.workspaceId),
      this.paused.statement(scope.workspaceId),
    ])) as [[GuardianEntity], { capo: CapoRole; pausedBy: Actor }[]];
    return {
      mode: guardian.mode,
      paused: new Map(paused.map(({ capo, pausedBy }) => [capo, pausedBy.name])),
    };
  }
}
