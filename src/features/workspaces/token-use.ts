import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Callers } from '../../platform/auth/callers.js';
import { Tokens } from './tokens.repository.js';

/** Notes when tokens were last used: once a minute for all of them, so that no request pays for it. */
@Injectable()
export class TokenUse {
  constructor(
    private readonly tokens: Tokens,
    private readonly callers: Callers,
  ) {}

  @Interval(60_000)
  async note(): Promise<void> {
    const byWorkspace = Map.groupBy(this.callers.drainUsed(), ([, workspaceId]) => workspaceId);
    for (const [workspaceId, used] of byWorkspace) {
      await this.tokens
        .noteUse(
          workspaceId,
          used.map(([tokenId]) => tokenId),
        )
        // A missed minute is shown as the minute before; nothing depends on it.
        .catch(() => undefined);
    }
  }
}
