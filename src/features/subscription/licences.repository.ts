import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { GRACE_DAYS, type LicenceStatus } from './licence.js';
import { LicenceEntity } from './licence.entity.js';

@Injectable()
export class Licences {
  constructor(private readonly db: Db) {}

  find(scope: Scope): Promise<LicenceEntity | undefined> {
    return this.db.findOne(scope, LicenceEntity, { workspaceId: scope.workspaceId });
  }

  /** For a workspace whose tier is locked: of two licences that are installed at once, one comes first. */
  add(licence: LicenceEntity): void {
    this.db.insert(LicenceEntity, licence);
  }

  /** The same for one that takes the place of another. */
  replace({ workspaceId, ...licence }: LicenceEntity): void {
    this.db.update(LicenceEntity, { workspaceId }, licence);
  }

  noteTold(workspaceId: string, toldStatus: LicenceStatus): void {
    this.db.update(LicenceEntity, { workspaceId }, { toldStatus });
  }

  /** Workspaces of which the licence, or its grace, has ended without their being told so. */
  async untold(now: number, limit: number): Promise<string[]> {
    const rows = await this.db.system<{ workspaceId: string }>(
      'select workspace_id from app.untold_licences($1, make_interval(days => $2), $3)',
      [new Date(now), GRACE_DAYS, limit],
    );
    return rows.map(({ workspaceId }) => workspaceId);
  }
}
