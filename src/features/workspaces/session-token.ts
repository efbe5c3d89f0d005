import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { issueToken } from './token.js';
import { Tokens } from './tokens.repository.js';

/** Short enough that one which is stolen is soon of no use; the dashboard asks for another. */
const LIFETIME_MS = 15 * 60_000;

/** The operator token that a session makes for the dashboard, whose pages call the API with it: it ends with the session. */
@Injectable()
export class SessionToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** Revokes what a session has made, with its end. */
  revokeOf(workspaceId: string, sessionId: string, at: number): void {
    this.tokens.revokeOfSession(workspaceId, sessionId, at);
  }

  /**
   * In the open transaction, for a caller who is signed in. Only the first of a session leaves a receipt: the others are the same
   * session, which the dashboard keeps in use.
   */
  async issue(caller: Caller): Promise<{ tokenId: string; token: string; expiresAt: number }> {
    const { memberId, name: memberName, credentialId } = caller;
    const createdAt = this.clock.now();
    const expiresAt = createdAt + LIFETIME_MS;
    const facts = { name: 'dashboard', createdAt, expiresAt, sessionId: credentialId };
    const { row, shown } = issueToken(caller, { memberId, memberName }, facts);
    const isFirst = !(await this.tokens.hasOfSession(caller.workspaceId, credentialId));
    this.tokens.add(row);
    if (isFirst)
      this.receipts.append({
        actor: actorOf(caller),
        action: 'token.created',
        entity: { type: 'token', id: row.tokenId },
        summary: `${memberName} opened the dashboard, which was given a token for 15 minutes.`,
        details: { name: row.name, hint: row.hint, memberId, expiresAt, sessionId: credentialId },
      });
    return { tokenId: row.tokenId, token: shown.token, expiresAt };
  }
}
