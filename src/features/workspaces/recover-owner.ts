import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { issueToken } from './token.js';
import { Tokens } from './tokens.repository.js';
import { Workspaces } from './workspaces.repository.js';

/** What the person at the server is shown, once. */
export interface RecoveredToken {
  workspaceId: string;
  token: string;
  ownerName: string;
}

/** The person who starts the program on the server, without a sign-in. */
const AT_THE_SERVER: Actor = { type: 'system', id: 'system', name: 'Consigliere', via: 'cli' };

/**
 * Makes an operator token for the owner of a workspace whose last token was lost or revoked (CONTRACT section 5, Tokens).
 * It needs no token, so nothing that answers requests calls it: only the command `npm run recover` on the server does.
 */
export class RecoverOwner {
  constructor(
    private readonly db: Db,
    private readonly workspaces: Workspaces,
    private readonly tokens: Tokens,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * @param workspaceId the first workspace unless it is given
   * @throws StartRefused when there is no such workspace
   */
  async execute(workspaceId?: string): Promise<RecoveredToken> {
    const chosen = workspaceId ?? (await this.workspaces.first());
    if (chosen === undefined) {
      throw new StartRefused('There is no workspace yet: npm start creates the first one and its token.');
    }
    return this.db.transaction({ workspaceId: chosen, teamIds: 'all' }, async () => {
      const owner = await this.tokens.lockOwner(chosen);
      if (!owner) throw new StartRefused(`There is no workspace ${chosen} with an active owner.`);
      const createdAt = this.clock.now();
      const { row, shown } = issueToken(
        { workspaceId: chosen, memberId: owner.memberId, tokenMadeBy: [] },
        owner,
        { name: 'recovered on the server', createdAt, expiresAt: null },
      );
      this.tokens.add(row);
      this.receipts.append({
        actor: AT_THE_SERVER,
        action: 'token.recovered',
        entity: { type: 'token', id: row.tokenId },
        summary: `A new token for the owner ${owner.memberName} was created on the server.`,
        details: { name: row.name, hint: row.hint, memberId: owner.memberId, expiresAt: null },
      });
      return { workspaceId: chosen, token: shown.token, ownerName: owner.memberName };
    });
  }
}
