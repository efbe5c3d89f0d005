import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { assertMayGrantScopes } from '../../platform/auth/token-scopes.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { AlreadyExists, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { nameKey, visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Members } from './members.repository.js';
import { lookAlike } from './reserved-names.js';
import { assertMayIssue, issueToken } from './token.js';
import type { CreateTokenBody, NewToken } from './tokens.dto.js';
import { Tokens } from './tokens.repository.js';
import { limitReached } from './workspaces.errors.js';

/** `GET /agents` lists them all. */
const MAX_AGENTS = 100;

/** Makes an operator token for the caller, or for another member of no higher role; or one that an agent asks with. */
@Injectable()
export class CreateToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly members: Members,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * @throws NotFound for no active member of the workspace, Forbidden for one with more rights than the caller
   * @throws AlreadyExists for the name of another agent or of a member, LimitReached
   */
  async execute(caller: Caller, body: CreateTokenBody): Promise<NewToken> {
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
