import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Db } from '../../platform/database/db.js';
import { Callers } from '../../platform/auth/callers.js';

/** Notes when tokens were last used: once a minute for all of them, so that no request pays for it. */
@Injectable()
export class TokenUse {
  constructor(
    private readonly db: Db,
    private readonly callers: Callers,
  ) {}

  @Interval(60_000)
  async note(): Promise<void> {
    const byWorkspace = Map.groupBy(this.callers.drainUsed(), ([, workspaceId]) => workspaceId);
    for (const [workspaceId, used] of byWorkspace) {
      await this.db
        .writeAll({ workspaceId, teamIds: [] }, [
          {
            text: `with used as (
                update tokens set last_used_at = now() where workspace_id = $1 and token_id = any($2) returning member_id
              ) update members set last_seen_at = now() where member_id in (select member_id from used)`,
            values: [workspaceId, used.map(([tokenId]) => tokenId)],
          },
        ])
        // A missed minute is shown as the minute before; nothing depends on it.
        .catch(() => undefined);
    }
  }
}
