import { Injectable } from '@nestjs/common';
import type { Actor, Via } from '../../platform/auth/caller.js';
import { exclusiveMembership } from '../../platform/auth/membership.js';
import { assertNewPassword } from '../../platform/auth/new-password.js';
import { Passwords } from '../../platform/auth/passwords.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertOpen } from './invite.js';
import type { AcceptedInvite, AcceptInviteBody } from './invites.dto.js';
import { type Account, type InviteContext, type InvitePlace, Invites } from './invites.repository.js';
import type { InviteEntity } from './invite.entity.js';
import { JoinWorkspace } from './join-workspace.js';
import { TokenService, Members, lookAlike } from '../workspaces/index.js';
import { AccountExists } from './teams.errors.js';

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
