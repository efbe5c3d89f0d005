import type { Statement } from '../database/batch.js';
import { isId } from '../kernel/ids.js';
import type { Caller, Role } from './caller.js';
import { noSession, noToken, type Opens, tokenPaused } from './callers.js';

/** Any number no other use of advisory locks has. */
const LOCK = 5;

/**
 * Who may act in a workspace is looked up before an act, and remembered for half a second. So that nothing happens after
 * a removal or a change of role has committed, each act shares a lock of its workspace while it runs, and whatever
 * changes members or teams has it alone: it waits for the acts under way, and those that come wait for it and see what
 * it has changed. Acts that only stop work wait for nobody.
 */
export const sharedMembership = (workspaceId: string): Statement => ({
  text: `select pg_advisory_xact_lock_shared(hashtextextended($1, ${LOCK}))`,
  values: [workspaceId],
});

/** For what changes members or teams; the open transaction must not share the lock already. */
export const exclusiveMembership = (workspaceId: string): Statement => ({
  text: `select pg_advisory_xact_lock(hashtextextended($1, ${LOCK}))`,
  values: [workspaceId],
});

/** What the caller may now, in a statement of its own, which sees what was committed before the lock was had. */
export const standingOf = ({ workspaceId, credentialId }: Caller): Statement => ({
  text: 'select * from app.standing_of($1, $2)',
  values: [workspaceId, credentialId],
});

/** Fails (see isCallerChanged) unless the caller stands as they were admitted; seen as {@link standingOf} sees it. */
export const assertStanding = (caller: Caller, { evenPaused = false }: Opens): Statement => ({
  text: 'select app.assert_standing($1, $2, $3, $4::jsonb, $5)',
  values: [
    caller.workspaceId,
    caller.credentialId,
    caller.role,
    JSON.stringify(Object.fromEntries(caller.teamIds.map((teamId) => [teamId, caller.teamRoles[teamId]]))),
    evenPaused,
  ],
});

export interface Standing {
  role: Role;
  isValid: boolean;
  isPaused: boolean;
  teamRoles: Record<string, Role>;
}

/**
 * The caller as they stand now; the same object when nothing has changed.
 * @throws Unauthorized for a member who was removed, a token that was revoked or a session that ended in the meantime
 * @throws Forbidden for a token that was paused, unless the route opens to it
 */
export function refreshed(
  caller: Caller,
  standing: Standing | undefined,
  { evenPaused }: Opens = {},
): Caller {
  if (!standing?.isValid) throw noLonger(caller);
  if (standing.isPaused && !evenPaused) throw tokenPaused();
  const { role, teamRoles } = standing;
  const teamIds = Object.keys(teamRoles).toSorted();
  const isSame =
    role === caller.role &&
    teamIds.length === caller.teamIds.length &&
    teamIds.every((teamId) => caller.teamRoles[teamId] === teamRoles[teamId]);
  return isSame ? caller : { ...caller, role, teamIds, teamRoles };
}

function noLonger({ credentialId }: Caller): Error {
  return isId('ses', credentialId) ? noSession('ended_session') : noToken('revoked_token');
}
