import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { actorOf, type Caller, type Actor } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { assertMayGrantScopes } from '../../platform/auth/token-scopes.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import {
  AlreadyExists,
  InvalidTransition,
  NotFound,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { nameKey, visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { issueToken, assertMayIssue } from './token.js';
import { Tokens, type LockedToken, viewOf } from './tokens.repository.js';
import { Members } from './members.repository.js';
import { lookAlike } from './reserved-names.js';
import type { CreateTokenBody, NewToken, TokenView } from './tokens.dto.js';
import { limitReached } from './workspaces.errors.js';

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

/**
 * Cancels what tokens have asked for and not used yet. It locks the approvals of all of it first, in the one order of
 * approvals (`Approvals.lockOfTokensStatement`). A token is named by the first of its chain of rotations
 * (`Caller.tokenRootId`). It is called in the transaction that stops the tokens.
 */
type WithdrawUnused = (workspaceId: string, tokenRootIds: readonly string[], by: Actor) => Promise<void>;

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

/** `GET /agents` lists them all. */
const MAX_AGENTS = 100;

/** The operator tokens of a workspace (CONTRACT section 5, Tokens). */
@Injectable()
export class TokenService {
  constructor(
    private readonly tokens: Tokens,
    private readonly members: Members,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly stopped: TokensStopped,
    private readonly callers: Callers,
  ) {}

  /**
   * Makes an operator token for the caller, or for another member of no higher role; or one that an agent asks with.
   * @throws NotFound for no active member of the workspace, Forbidden for one with more rights than the caller
   * @throws AlreadyExists for the name of another agent or of a member, LimitReached
   */
  async create(caller: Caller, body: CreateTokenBody): Promise<NewToken> {
    const { workspaceId } = caller;
    const createdAt = this.clock.now();
    const expiresAt = body.expiresAt ?? null;
    const faults = faultsOf(body, createdAt);
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    const agentName = body.agent ? visibleName(body.agent.name) : null;
    const scopes = agentName === null ? (body.scopes ?? null) : ['request' as const];
    const tools = body.tools ?? null;
    assertMayGrantScopes(caller, scopes);
    const holder = await this.tokens.lockMemberShared(workspaceId, body.memberId ?? caller.memberId);
    if (!holder) throw new NotFound();
    assertMayIssue(caller, holder.role);
    const { name } = body;
    const { row, shown } = issueToken(caller, holder, {
      ...{ name, createdAt, expiresAt, scopes, tools, agentName },
      agentNameKey: agentName && nameKey(agentName),
    });
    if (agentName === null) this.tokens.add(row);
    else {
      if ((await this.tokens.countAgentsForAdding(workspaceId)) >= MAX_AGENTS)
        throw limitReached('agent tokens', MAX_AGENTS);
      // Nobody joins meanwhile: each act shares the lock of the workspace's members.
      const member = lookAlike(agentName, (await this.members.namesIn(workspaceId)).members);
      if (member !== undefined) {
        const message = `${member} is the name of a member: choose one by which people tell the agent from them.`;
        throw new AlreadyExists({ message });
      }
      await this.tokens.addOfAgent(row);
    }
    const whose =
      agentName === null ? holder.memberName : `the agent ${agentName}, on behalf of ${holder.memberName}`;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'token.created',
      entity: { type: 'token', id: row.tokenId },
      summary: `${caller.name} created the token "${name}" for ${whose}.`,
      details: {
        ...{ name, hint: row.hint, memberId: holder.memberId, expiresAt },
        ...(scopes && { scopes }),
        ...(agentName !== null && { agent: agentName, tools }),
      },
    });
    return shown;
  }

  /**
   * Replaces an old token by a new one: the same name, member, scopes, agent and length of life; at no time are there two. What
   * the old one has asked for is the new one's, and one that is paused stays so.
   * @throws NotFound, InvalidTransition for a revoked token, Forbidden when its member has more rights than the caller
   */
  async rotate(caller: Caller, tokenId: string): Promise<NewToken> {
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

  /**
   * A paused token opens nothing until it is resumed; every process refuses it within a second, as a revoked one.
   * A token that is paused already stays as it is.
   * @throws NotFound, Forbidden, InvalidTransition for a revoked token
   */
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

  /**
   * Lets a paused token be used again; one that is not paused stays as it is.
   * @throws NotFound, Forbidden, InvalidTransition for a revoked token
   */
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

  /**
   * Revokes a token of any member: it takes rights away and gives none. Every process refuses it within a second,
   * since none remembers a token for longer (CONTRACT section 5, Tokens).
   * A token that was revoked already stays as it is, without a second receipt.
   * @throws NotFound
   */
  async revoke(caller: Caller, tokenId: string): Promise<TokenView> {
    const token = await this.lock(caller, tokenId);
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

  /**
   * The token of a member who accepts an invite by a program, or asks for one on the page of the invite. Every other token is
   * made by somebody who calls with one, and so in the end by an owner, who is behind whatever is done with it (four eyes). This
   * one nobody else has seen. In the open transaction, for a member whose password has been proved.
   */
  issueOnAcceptance(workspaceId: string, actor: Actor): NewToken {
    const { id: memberId, name: memberName } = actor;
    const { row, shown } = issueToken(
      { workspaceId, memberId, tokenMadeBy: [] },
      { memberId, memberName },
      { name: 'from accepting the invite', createdAt: this.clock.now(), expiresAt: null },
    );
    this.tokens.add(row);
    this.receipts.append({
      actor,
      action: 'token.created',
      entity: { type: 'token', id: row.tokenId },
      summary: `${memberName} was given the token "${row.name}", which nobody else has seen.`,
      details: { name: row.name, hint: row.hint, memberId, expiresAt: null },
    });
    return shown;
  }

  /** Notes when tokens were last used: once a minute for all of them, so that no request pays for it. */
  @Interval(60_000)
  async noteUse(): Promise<void> {
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

/** What class-validator cannot see in one property alone. */
function faultsOf({ expiresAt, agent, tools, scopes }: CreateTokenBody, now: number): Fault[] {
  const fault = (path: string, rule: string, message: string) => ({
    path,
    rule,
    message: `${path} ${message}`,
  });
  const isNarrow = !scopes || scopes.every((scope) => scope === 'request');
  return [
    ...(typeof expiresAt === 'number' && expiresAt <= now
      ? [fault('expiresAt', 'isAhead', 'must be a time in the future')]
      : []),
    ...(agent && !tools
      ? [fault('tools', 'isDefined', 'must name the tools that the agent may ask for')]
      : []),
    ...(tools && !agent ? [fault('tools', 'isOfAgent', 'can be given for an agent only')] : []),
    ...(agent && !isNarrow
      ? [fault('scopes', 'isRequest', 'must be ["request"] for an agent, or left out')]
      : []),
  ];
}
