import { type Caller, hasRole, peopleBehind, type Role } from '../../platform/auth/caller.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { Forbidden } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { newOperatorToken } from '../../platform/kernel/operator-token.js';
import type { NewToken } from './tokens.dto.js';
import type { TokenHolder } from './tokens.repository.js';
import type { TokenEntity } from './workspaces.entity.js';

/**
 * A token carries its member's rights, so the holder of someone's token has that member's rights.
 * @throws Forbidden unless the caller has the member's role, or is an owner
 */
export function assertMayIssue(caller: Caller, role: Role): void {
  if (!hasRole(caller.role, role)) throw new Forbidden({ details: { requiredRoles: [role] } });
}

/** A token with all rights of its member, which replaces none. */
export const UNLIMITED = Object.freeze({
  scopes: null,
  agentName: null,
  agentNameKey: null,
  tools: null,
  rootId: null,
  rotatedFrom: null,
  pausedAt: null,
  pausedBy: null,
});

/**
 * A new token for a member: the row to keep, and the only text that ever shows the token. The row names the
 * other reader of that text: an act with the token may be theirs (four eyes).
 */
export function issueToken(
  caller: Pick<Caller, 'workspaceId' | 'memberId' | 'tokenMadeBy'>,
  holder: Pick<TokenHolder, 'memberId' | 'memberName'>,
  facts: Pick<TokenEntity, 'name' | 'createdAt' | 'expiresAt'> &
    Partial<Pick<TokenEntity, 'sessionId' | keyof typeof UNLIMITED>>,
): { row: TokenEntity; shown: NewToken } {
  const token = newOperatorToken();
  const { memberId, memberName } = holder;
  const row: TokenEntity = {
    ...UNLIMITED,
    sessionId: null,
    ...facts,
    tokenId: newId('tok'),
    workspaceId: caller.workspaceId,
    memberId,
    tokenHash: sha256(token),
    hint: token.slice(-4),
    madeBy: peopleBehind(caller).filter((person) => person !== memberId),
    lastUsedAt: null,
    revokedAt: null,
  };
  const { workspaceId: _workspace, tokenHash: _hash, sessionId: _session, ...seen } = row;
  const { rootId: _root, agentName, agentNameKey: _key, ...rest } = seen;
  const agent = agentName === null ? null : { name: agentName };
  return { row, shown: { ...rest, memberName, agent, token } };
}
