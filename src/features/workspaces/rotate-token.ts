import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { assertMayGrantScopes } from '../../platform/auth/token-scopes.js';
import { nameKey } from '../../platform/kernel/visible-name.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertMayIssue, issueToken } from './token.js';
import type { NewToken } from './tokens.dto.js';
import { Tokens } from './tokens.repository.js';

/**
 * Replaces an old token by a new one: the same name, member, scopes, agent and length of life; at no time are there two. What
 * the old one has asked for is the new one's, and one that is paused stays so.
 */
@Injectable()
export class RotateToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, InvalidTransition for a revoked token, Forbidden when its member has more rights than the caller */
  async execute(caller: Caller, tokenId: string): Promise<NewToken> {
    const { workspaceId } = caller;
    const old = await this.tokens.lock(workspaceId, tokenId);
    const holder = old && (await this.tokens.lockMemberShared(workspaceId, old.memberId));
    if (!old || !holder) throw new NotFound();
    assertMayIssue(caller, holder.role);
    assertMayGrantScopes(caller, old.scopes);
    if (old.revokedAt !== null)
      throw new InvalidTransition({ message: 'A revoked token cannot be rotated.' });
    const createdAt = this.clock.now();
    const expiresAt = old.expiresAt === null ? null : createdAt + (old.expiresAt - old.createdAt);
    const { name, scopes, agent, tools, rootId, pausedAt, pausedBy } = old;
    const { row, shown } = issueToken(caller, holder, {
      ...{ name, scopes, tools, rootId, pausedAt, pausedBy, createdAt, expiresAt },
      agentName: agent && agent.name,
      agentNameKey: agent && nameKey(agent.name),
      rotatedFrom: tokenId,
    });
    this.tokens.change(workspaceId, tokenId, { revokedAt: createdAt });
    this.tokens.add(row);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'token.rotated',
      entity: { type: 'token', id: tokenId },
      summary: `${caller.name} rotated the token "${name}" of ${old.memberName}.`,
      details: {
        name,
        memberId: old.memberId,
        newTokenId: row.tokenId,
        newHint: row.hint,
        expiresAt,
      },
    });
    return shown;
  }
}
