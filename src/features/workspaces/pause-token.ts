import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { assertMayGrantScopes } from '../../platform/auth/token-scopes.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertMayIssue } from './token.js';
import { TokensStopped } from './tokens-stopped.js';
import type { TokenView } from './tokens.dto.js';
import { type LockedToken, Tokens, viewOf } from './tokens.repository.js';

/** A paused token opens nothing until it is resumed; every process refuses it within a second, as a revoked one. */
@Injectable()
export class PauseToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly stopped: TokensStopped,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** A token that is paused already stays as it is. @throws NotFound, Forbidden, InvalidTransition for a revoked token */
  async pause(caller: Caller, tokenId: string): Promise<TokenView> {
    const token = await this.lock(caller, tokenId);
    if (token.memberId !== caller.memberId) requireRole(caller, null, 'admin');
    if (token.revokedAt !== null)
      throw new InvalidTransition({ message: 'A revoked token cannot be paused.' });
    if (token.pausedAt !== null) return viewOf(token);
    const [pausedAt, pausedBy] = [this.clock.now(), actorOf(caller)];
    this.tokens.change(caller.workspaceId, tokenId, { pausedAt, pausedBy });
    await this.stopped.withdraw(caller.workspaceId, [token.rootId], pausedBy);
    this.record(caller, 'paused', token);
    return { ...viewOf(token), pausedAt, pausedBy };
  }

  /** A token that is not paused stays as it is. @throws NotFound, Forbidden, InvalidTransition for a revoked token */
  async resume(caller: Caller, tokenId: string): Promise<TokenView> {
    const token = await this.lock(caller, tokenId);
    assertMayIssue(caller, token.role);
    assertMayGrantScopes(caller, token.scopes);
    if (token.revokedAt !== null)
      throw new InvalidTransition({ message: 'A revoked token cannot be resumed.' });
    if (token.pausedAt === null) return viewOf(token);
    const running = { pausedAt: null, pausedBy: null };
    this.tokens.change(caller.workspaceId, tokenId, running);
    this.record(caller, 'resumed', token);
    return { ...viewOf(token), ...running };
  }

  private async lock({ workspaceId }: Caller, tokenId: string): Promise<LockedToken> {
    const token = await this.tokens.lock(workspaceId, tokenId);
    if (!token) throw new NotFound();
    return token;
  }

  private record(caller: Caller, act: 'paused' | 'resumed', token: LockedToken): void {
    const { tokenId, name, hint, memberId, memberName, agent } = token;
    this.receipts.append({
      actor: actorOf(caller),
      action: `token.${act}`,
      entity: { type: 'token', id: tokenId },
      summary: `${caller.name} ${act} the token "${name}" of ${agent ? `the agent ${agent.name}` : memberName}.`,
      details: { name, hint, memberId, ...(agent && { agent: agent.name }) },
    });
  }
}
