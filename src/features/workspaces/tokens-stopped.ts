import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';

/**
 * Cancels what tokens have asked for and not used yet. It locks the approvals of all of it first, in the one order of
 * approvals (`Approvals.lockOfTokensStatement`). A token is named by the first of its chain of rotations
 * (`Caller.tokenRootId`). It is called in the transaction that stops the tokens.
 */
export type WithdrawUnused = (
  workspaceId: string,
  tokenRootIds: readonly string[],
  by: Actor,
) => Promise<void>;

/**
 * Tokens that were paused or revoked; a rotation stops none. Features that keep what tokens ask for subscribe. Stopping a
 * token locks its row, so an act that adds something to withdraw takes that row `for share` first and looks that it is
 * neither paused nor revoked: it is then seen here, or refused.
 */
@Injectable()
export class TokensStopped {
  readonly #subscribers: WithdrawUnused[] = [];

  subscribe(withdraw: WithdrawUnused): void {
    this.#subscribers.push(withdraw);
  }

  async withdraw(workspaceId: string, tokenRootIds: readonly string[], by: Actor): Promise<void> {
    if (tokenRootIds.length === 0) return;
    for (const withdraw of this.#subscribers) await withdraw(workspaceId, tokenRootIds, by);
  }
}
