import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { exclusiveMembership } from '../../platform/auth/membership.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Rejoin } from '../teams/index.js';
import { MAX_MEMBERS, type Member, Members, limitReached } from '../workspaces/index.js';
import { type OidcAccount, OidcIdentities } from './oidc-identities.repository.js';
import type { OidcIdentity } from './oidc-identity.js';
import { OidcRefused } from './oidc.errors.js';

/** How often it begins again when the account of the address is made by somebody else meanwhile. */
const TRIES = 3;

const ROLE = 'viewer';

/**
 * The account that an identity signs in to, as a member of the workspace. The first sign-in binds the identity to the
 * account of its address, or makes one, and a member with the role viewer; from then on the identity decides, whatever
 * becomes of the address (docs/decisions/0012).
 */
@Injectable()
export class JoinByOidc {
  constructor(
    private readonly db: Db,
    private readonly identities: OidcIdentities,
    private readonly members: Members,
    private readonly rejoin: Rejoin,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * @throws OidcRefused for a member who was removed and has not been invited again, or an account of another identity;
   * LimitReached
   */
  async execute(workspaceId: string, identity: OidcIdentity): Promise<OidcAccount> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.join(workspaceId, identity);
      } catch (error) {
        if (!(error instanceof AccountChanged) || tries === TRIES) throw error;
      }
    }
  }

  private async join(workspaceId: string, identity: OidcIdentity): Promise<OidcAccount> {
    const scope = { workspaceId, teamIds: 'all' as const };
    const known = await this.db.transaction(scope, () => this.known(workspaceId, identity));
    // A sign-in by an existing member changes nothing, so it takes no lock.
    if (known?.member?.status === 'active') return known.account;
    return this.db.transaction(scope, async () => {
      const { account, isNew, isNewlyBound } = await this.accountOf(workspaceId, identity);
      const member = await this.members.findByUser(workspaceId, account.userId);
      if (member?.status === 'removed') {
        // The address that the provider vouches for now; the account may have another.
        const proved = { ...account, email: identity.email };
        if (!(await this.rejoin.execute(workspaceId, proved, 'dashboard'))) throw removed();
        return account;
      }
      const memberId = member?.memberId ?? (await this.addMember(workspaceId, account));
      const actor: Actor = { type: 'member', id: memberId, name: account.displayName, via: 'dashboard' };
      if (isNewlyBound && !isNew) this.recordLink(actor, account, identity);
      if (!member) this.recordJoin(actor, account, identity, isNew);
      return account;
    }, [exclusiveMembership(workspaceId)]);
  }

  private async known(
    workspaceId: string,
    identity: OidcIdentity,
  ): Promise<{ account: OidcAccount; member: Member | undefined } | undefined> {
    const account = await this.identities.find(workspaceId, identity);
    return account && { account, member: await this.members.findByUser(workspaceId, account.userId) };
  }

  private async accountOf(
    workspaceId: string,
    identity: OidcIdentity,
  ): Promise<{ account: OidcAccount; isNew: boolean; isNewlyBound: boolean }> {
    const bound = await this.identities.find(workspaceId, identity);
    if (bound) return { account: bound, isNew: false, isNewlyBound: false };
    const existing = await this.identities.findByEmail(identity.email);
    const account = existing ?? (await this.createAccount(identity));
    if (!(await this.identities.add(identity, account))) {
      // Another sign-in of the same person binds it at the same time in another workspace; or it is another person.
      if (await this.identities.find(workspaceId, identity)) throw new AccountChanged();
      throw new OidcRefused({
        message:
          "The account with your mail address belongs to somebody else at your organisation's sign-in service. Tell the operator of Consigliere.",
      });
    }
    return { account, isNew: !existing, isNewlyBound: true };
  }

  private async createAccount({ email, displayName }: OidcIdentity): Promise<OidcAccount> {
    const userId = newId('usr');
    const isNew = await this.members.addAccount({ userId, email, displayName, passwordHash: null });
    if (!isNew) throw new AccountChanged();
    return { userId, displayName, email };
  }

  private async addMember(workspaceId: string, { userId }: OidcAccount): Promise<string> {
    const { members } = await this.members.count(workspaceId);
    if (members >= MAX_MEMBERS) throw limitReached('members', MAX_MEMBERS);
    const memberId = newId('mem');
    this.members.add({
      memberId,
      workspaceId,
      userId,
      role: ROLE,
      status: 'active',
      teamOnly: false,
      joinedAt: this.clock.now(),
      lastSeenAt: null,
      openedAt: null,
    });
    return memberId;
  }

  private recordLink(actor: Actor, { userId }: OidcAccount, { issuer }: OidcIdentity): void {
    this.receipts.append({
      actor,
      action: 'identity.linked',
      entity: { type: 'member', id: actor.id },
      summary: `${actor.name} signed in by OpenID Connect for the first time, which linked the account.`,
      details: { userId, issuer },
    });
  }

  private recordJoin(
    actor: Actor,
    { userId }: OidcAccount,
    { issuer }: OidcIdentity,
    isNewAccount: boolean,
  ): void {
    this.receipts.append({
      actor,
      action: 'member.joined',
      entity: { type: 'member', id: actor.id },
      summary: `${actor.name} joined the workspace as ${ROLE} by signing in with OpenID Connect.`,
      details: { memberId: actor.id, userId, role: ROLE, issuer, isNewAccount },
    });
  }
}

function removed(): Error {
  return new OidcRefused({
    message: 'You were removed from this workspace. Ask an owner or an admin of it to invite you again.',
  });
}

/** Somebody else made or bound the account since it was looked for. */
class AccountChanged extends Error {
  constructor() {
    super('the account has changed meanwhile');
  }
}
