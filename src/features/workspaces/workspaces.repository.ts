import { Injectable } from '@nestjs/common';
import type { Tier } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';

/** What work in a workspace depends on. */
export interface WorkspaceSettings {
  name: string;
  tier: Tier;
  timezone: string;
  locale: string;
  presence: 'present' | 'away';
}

@Injectable()
export class Workspaces {
  constructor(private readonly db: Db) {}

  async settings(scope: Scope): Promise<WorkspaceSettings> {
    const [row] = await this.db.read<WorkspaceSettings>(
      scope,
      'select name, tier, timezone, locale, presence from workspaces where workspace_id = $1',
      [scope.workspaceId],
    );
    return row!;
  }
}
