import { Injectable } from '@nestjs/common';
import type { Role, Via, Actor } from '../../platform/auth/caller.js';
import { exclusiveMembership } from '../../platform/auth/membership.js';
import { assertNewPassword } from '../../platform/auth/new-password.js';
import { Passwords } from '../../platform/auth/passwords.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { AlreadyExists, NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import {
  MAX_MEMBERS,
  MAX_TEAM_MEMBERS,
  type Member,
  Members,
  type TeamRole,
  limitReached,
  roleInTeam,
  TokenService,
  lookAlike,
} from '../workspaces/index.js';
import type { InviteEntity } from './invite.entity.js';
import { mayInvite, assertOpen } from './invite.js';
import { InviteExpired, AccountExists } from './teams.errors.js';
import { Invites, type Account, type InviteContext, type InvitePlace } from './invites.repository.js';
import type { AcceptedInvite, AcceptInviteBody } from './invites.dto.js';

/** Makes a user the member that an invite speaks of; the inviter must still have the right. */
@Injectable()
export class JoinWorkspace {
  constructor(
    private readonly members: Members,
    private readonly clock: Clock,
  ) {}

  /** @throws InviteExpired when the one who invited may not any more, AlreadyExists for a member of the workspace, LimitReached */
  async execute(
    invite: InviteEntity,
    { userId }: { userId: string },
  ): Promise<{ memberId: string; role: Role }> {
    const { workspaceId, teamId, role } = invite;
    await this.assertStillInvited(invite);
    const known = await this.members.findByUser(workspaceId, userId);
    if (teamId === null && known?.status === 'active') {
      throw new AlreadyExists({ message: 'You are a member of this workspace already.' });
    }
    const isMember = known?.status === 'active';
    const held = isMember && teamId !== null ? roleInTeam(known, teamId) : undefined;
    if (!held) await this.assertRoom(invite, isMember);
    const memberId = this.join(invite, userId, known);
    if (teamId === null) return { memberId, role };
    if (held) return { memberId, role: held };
    this.members.putInTeam({ workspaceId, teamId, memberId, role: role as TeamRole });
    return { memberId, role };
  }

  /** Counted again under the workspace's lock: others have joined since the invite was sent. @throws LimitReached */
  private async assertRoom({ workspaceId, teamId }: InviteEntity, isMember: boolean): Promise<void> {
    if (!isMember && (await this.members.count(workspaceId)).members >= MAX_MEMBERS) {
      throw limitReached('members', MAX_MEMBERS);
    }
    if (teamId !== null && (await this.members.countInTeam(workspaceId, teamId)) >= MAX_TEAM_MEMBERS) {
      throw limitReached('members of a team', MAX_TEAM_MEMBERS);
    }
  }

  /** A person invited to a team is a viewer of the workspace (CONTRACT section 4). */
  private join(
    { workspaceId, teamId, role }: InviteEntity,
    userId: string,
    known: Member | undefined,
  ): string {
    if (known?.status === 'active') return known.memberId;
    const now = this.clock.now();
    const inWorkspace = {
      role: teamId === null ? role : ('viewer' as const),
      teamOnly: teamId !== null,
      status: 'active' as const,
      joinedAt: now,
    };
    if (known) {
      this.members.change(workspaceId, known.memberId, inWorkspace);
      return known.memberId;
    }
    const memberId = newId('mem');
    this.members.add({ memberId, workspaceId, userId, lastSeenAt: null, openedAt: null, ...inWorkspace });
    return memberId;
  }

  private async assertStillInvited(invite: InviteEntity): Promise<void> {
    const { workspaceId, invitedBy } = invite;
    // The maker of the workspace, who is no member of it, invites the first owner.
    if (invitedBy.type === 'admin') return;
    const inviter = await this.members.get(workspaceId, invitedBy.id).catch((error: unknown) => {
      if (error instanceof NotFound) return undefined;
      throw error;
    });
    if (inviter && mayInvite(inviter, invite)) return;
    throw new InviteExpired({
      message: `${invitedBy.name}, who sent this invite, may not invite any more; ask for another.`,
    });
  }
}

/**
 * Lets a member who was removed come back by the invite that is open to their address, without its link. The person
 * has just proved that the address is theirs, and has no password to accept an invite with.
 */
@Injectable()
export class Rejoin {
  constructor(
    private readonly invites: Invites,
    private readonly joinWorkspace: JoinWorkspace,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * In the open transaction, which has the workspace's membership alone. Answers whether there was such an invite.
   * @throws InviteExpired when the inviter lost the right, LimitReached
   */
  async execute(
    workspaceId: string,
    account: { userId: string; displayName: string; email: string },
    via: Via,
  ): Promise<boolean> {
    const { userId, displayName: name, email } = account;
    const invite = await this.invites.lockOpenTo(workspaceId, email, this.clock.now());
    if (!invite) return false;
    const { inviteId, teamId } = invite;
    const { memberId, role } = await this.joinWorkspace.execute(invite, account);
    this.invites.end(workspaceId, inviteId, 'accepted');
    this.receipts.append({
      actor: { type: 'member', id: memberId, name, via },
      action: 'invite.accepted',
      entity: { type: 'invite', id: inviteId },
      teamId,
      summary: `${name} came back as ${role} by signing in, which accepted the invite.`,
      details: { memberId, userId, role, isNewAccount: false },
    });
    return true;
  }
}

type OpenInvite = InviteEntity & InviteContext;

/** How often it begins again when an account with the address comes or changes meanwhile. */
const TRIES = 3;

/**
 * Accepts an invite: the holder of the link has the mailbox. An address without an account gets one; one that has an
 * account already is joined by its password. The password is hashed before the transaction, which looks again at
 * everything under the workspace's lock: of any number of acceptances at a time one makes a member.
 */
@Injectable()
export class AcceptInvite {
  constructor(
    private readonly db: Db,
    private readonly invites: Invites,
    private readonly members: Members,
    private readonly passwords: Passwords,
    private readonly joinWorkspace: JoinWorkspace,
    private readonly tokenService: TokenService,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** What the link opens, without opening it. @throws NotFound, InviteAccepted, InviteExpired */
  async look(token: string): Promise<OpenInvite> {
    return this.open(await this.placeOf(token));
  }

  /**
   * @param wantsToken a person who works in the browser needs none
   * @throws NotFound, InviteAccepted, InviteExpired, AccountExists, AlreadyExists, LimitReached, ValidationFailed
   */
  async execute(body: AcceptInviteBody, via: Via, wantsToken: boolean): Promise<AcceptedInvite> {
    const place = await this.placeOf(body.token);
    for (let tries = 1; ; tries++) {
      const invite = await this.open(place);
      const account = await this.invites.accountOf(place);
      const passwordHash = await this.prove(invite, account, body);
      const accepted = await this.accept(place, account, { ...body, passwordHash, wantsToken }, via).catch(
        (error: unknown) => {
          if (error instanceof AccountChanged && tries < TRIES) return undefined;
          throw error;
        },
      );
      if (accepted) return accepted;
    }
  }

  private async placeOf(token: string): Promise<InvitePlace> {
    const place = await this.invites.placeOf(token);
    if (!place)
      throw new NotFound({ message: 'There is no such invite; only the link of the newest mail works.' });
    return place;
  }

  private async open(place: InvitePlace): Promise<OpenInvite> {
    const invite = await this.invites.read(place);
    assertOpen(invite, this.clock.now());
    return invite;
  }

  /** The hash for a new account; for one that exists the hash that the password fits. @throws AccountExists, ValidationFailed */
  private async prove(
    invite: OpenInvite,
    account: Account | undefined,
    { password, displayName }: Pick<AcceptInviteBody, 'password' | 'displayName'>,
  ): Promise<string> {
    if (!account) {
      const { email, workspaceName } = invite;
      const owner = { email, displayName, workspaceNames: [workspaceName] };
      await assertNewPassword(password, { path: 'password', owner });
      return this.passwords.hash(password);
    }
    if (account.passwordHash !== null && (await this.passwords.verify(password, account.passwordHash))) {
      return account.passwordHash;
    }
    await this.invites.countWrongPassword(invite);
    throw new AccountExists();
  }

  private accept(
    place: InvitePlace,
    known: Account | undefined,
    body: AcceptInviteBody & { passwordHash: string; wantsToken: boolean },
    via: Via,
  ): Promise<AcceptedInvite> {
    const { workspaceId, inviteId } = place;
    return this.db.transaction(
      { workspaceId, teamIds: 'all' },
      async () => {
        const invite = await this.open(place);
        const account = await this.invites.accountOf(place);
        if (account?.passwordHash !== known?.passwordHash) throw new AccountChanged();
        const user = account ?? (await this.createAccount(place, body));
        const { memberId, role } = await this.joinWorkspace.execute(invite, user);
        this.invites.end(workspaceId, inviteId, 'accepted');
        const actor: Actor = { type: 'member', id: memberId, name: user.displayName, via };
        const where = invite.teamName === null ? 'the workspace' : `the team ${invite.teamName}`;
        this.receipts.append({
          actor,
          action: 'invite.accepted',
          entity: { type: 'invite', id: inviteId },
          teamId: invite.teamId,
          summary: `${user.displayName} joined ${where} as ${role}.`,
          details: { memberId, userId: user.userId, role, isNewAccount: !account },
        });
        const { workspaceName, teamId } = invite;
        // By the password alone an acceptance must open no door beside the second factor.
        const needsSecondFactor =
          account?.hasSecondFactor || (await this.members.requiresSecondFactor(workspaceId, memberId));
        const token =
          body.wantsToken && !needsSecondFactor
            ? this.tokenService.issueOnAcceptance(workspaceId, actor)
            : null;
        return { workspaceId, workspaceName, memberId, userId: user.userId, teamId, role, token };
      },
      [exclusiveMembership(workspaceId)],
    );
  }

  private async createAccount(
    { workspaceId, email }: InvitePlace,
    { displayName: given, passwordHash }: { displayName: string; passwordHash: string },
  ): Promise<Pick<Account, 'userId' | 'displayName'>> {
    const userId = newId('usr');
    const displayName = visibleName(given);
    // The workspace's lock is held: others that take a name in it wait.
    const { members, agents } = await this.members.namesIn(workspaceId);
    const other = lookAlike(displayName, [...members, ...agents]);
    if (other !== undefined) {
      const message = `${other} is the name of somebody else in this workspace: choose a name that tells you apart`;
      throw new ValidationFailed({ details: [{ path: 'displayName', rule: 'isOwn', message }] });
    }
    const isNew = await this.members.addAccount({ userId, email, displayName, passwordHash });
    if (!isNew) throw new AccountChanged();
    return { userId, displayName };
  }
}

/** Another acceptance made the account, or its password changed, since the password was held against it. */
class AccountChanged extends Error {
  constructor() {
    super('the account has changed meanwhile');
  }
}
