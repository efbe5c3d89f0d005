import { randomBytes } from 'node:crypto';
import { hasRole } from '../../platform/auth/caller.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { type MemberView, mayGrant, roleInTeam } from '../workspaces/index.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteView } from './invites.dto.js';
import { InviteAccepted, InviteExpired } from './teams.errors.js';

const DAY_MS = 86_400_000;
/** How long an invite can be accepted (CONTRACT section 5, Team). */
export const INVITE_LASTS_MS = 7 * DAY_MS;
/** Acceptances that fail at the password of an account that exists; after so many the invite opens nothing. */
const MAX_WRONG_PASSWORDS = 10;

/** 256 random bits, and what is kept of them. */
export function newInviteToken(): { token: string; tokenHash: string } {
  const token = randomBytes(32).toString('base64url');
  return { token, tokenHash: sha256(token) };
}

/** True for a text that is written like a token of an invite. */
export function isInviteToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** What the token is encrypted for, so that it opens in no other row. */
export function tokenPurpose({ inviteId }: Pick<InviteEntity, 'inviteId'>): string {
  return `invite ${inviteId}`;
}

/** Names the mail: each time the invite is sent again it is another one. */
export function mailIdOf({ inviteId, generation }: Pick<InviteEntity, 'inviteId' | 'generation'>): string {
  return `${inviteId}n${generation}`;
}

/** What an invite makes of somebody, in sentences; a team's alone makes a viewer of the workspace (CONTRACT section 4). */
export function rolesOffered({ teamId, role }: Pick<InviteEntity, 'teamId' | 'role'>): string {
  return teamId === null
    ? `Your role: ${role}.`
    : `Your role in the team: ${role}. Your role in the workspace: viewer, unless you are a member already.`;
}

/** Whether a member may send such an invite: to a team whose admin they are, or to the workspace with a role they may grant. */
export function mayInvite(
  member: Pick<MemberView, 'role' | 'teams'>,
  { teamId, role }: Pick<InviteEntity, 'teamId' | 'role'>,
): boolean {
  if (teamId === null) return mayGrant(member.role, role);
  return hasRole(member.role, 'admin') || roleInTeam(member, teamId) === 'admin';
}

export function isOpen(
  invite: Pick<InviteEntity, 'status' | 'expiresAt' | 'wrongPasswords'>,
  now: number,
): boolean {
  const { status, expiresAt, wrongPasswords } = invite;
  return status === 'pending' && expiresAt > now && wrongPasswords < MAX_WRONG_PASSWORDS;
}

/** @throws InviteAccepted, InviteExpired */
export function assertOpen(invite: InviteEntity, now: number): void {
  if (invite.status === 'accepted') throw new InviteAccepted();
  if (isOpen(invite, now)) return;
  throw new InviteExpired(
    invite.wrongPasswords >= MAX_WRONG_PASSWORDS
      ? { message: 'This invite was tried with wrong passwords too often; ask for another.' }
      : {},
  );
}

export type ListedInvite = Omit<
  InviteEntity,
  'workspaceId' | 'tokenHash' | 'sealedToken' | 'generation' | 'wrongPasswords'
>;

export function viewOf(invite: ListedInvite, now: number): InviteView {
  const { inviteId, teamId, email, inviteeName, role, status, mailStatus, mailError } = invite;
  const { invitedBy, createdAt, expiresAt } = invite;
  return {
    inviteId,
    teamId,
    email,
    name: inviteeName,
    role,
    status: status === 'pending' && expiresAt <= now ? 'expired' : status,
    mail: { status: mailStatus, error: mailError },
    invitedBy,
    createdAt,
    expiresAt,
  };
}
