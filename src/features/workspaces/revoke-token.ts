import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { TokensStopped } from './tokens-stopped.js';
import type { TokenView } from './tokens.dto.js';
import { Tokens, viewOf } from './tokens.repository.js';

/**
 * Revokes a token of any member: it takes rights away and gives none. Every process refuses it within a second,
 * since none remembers a token for longer (CONTRACT section 5, Tokens).
 */
@Injectable()
export class RevokeToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly stopped: TokensStopped,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** A token that was revoked already stays as it is, without a second receipt. @throws NotFound */
  async execute(caller: Caller, tokenId: string): Promise<TokenView> {
    const token = await this.tokens.lock(caller.workspaceId, tokenId);
    if (!token) throw new NotFound();
    if (token.revokedAt !== null) return viewOf(token);
    const revokedAt = this.clock.now();
    this.tokens.change(caller.workspaceId, tokenId, { revokedAt });
    await this.stopped.withdraw(caller.workspaceId, [token.rootId], actorOf(caller));
    this.receipts.append({
      actor: actorOf(caller),
      action: 'token.revoked',
      entity: { type: 'token', id: tokenId },
      summary: `${caller.name} revoked the token "${token.name}" of ${token.memberName}.`,
      details: { name: token.name, hint: token.hint, memberId: token.memberId },
    });
    return { ...viewOf(token), revokedAt };
  }
}
