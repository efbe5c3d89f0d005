import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { exclusiveMembership } from '../../platform/auth/membership.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Rejoin } from '../teams/index.js';
import { MAX_MEMBERS, type Member, Members, limitReached, Workspaces } from '../workspaces/index.js';
import { type Origin, Sessions, SessionService, type StartedSession } from '../accounts/index.js';
import { type OidcAccount, OidcIdentities } from './oidc-identities.repository.js';
import type { OidcIdentity } from './oidc-identity.js';
import { OidcRefused, OidcSignInExpired } from './oidc.errors.js';
import { OidcProvider } from './oidc-provider.js';
import { type OidcTransaction, OidcTransactions } from './oidc-transaction.js';

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

/** Signs in by the provider of OpenID Connect: there, and back with a code that is used once. */
@Injectable()
export class SignInByOidc {
  constructor(
    private readonly config: Config,
    private readonly provider: OidcProvider,
    private readonly transactions: OidcTransactions,
    private readonly workspaces: Workspaces,
    private readonly joinByOidc: JoinByOidc,
    private readonly sessions: Sessions,
    private readonly session: SessionService,
  ) {}

  /** Where the browser goes, and what it keeps until it comes back. @throws NotFound, Unavailable */
  async begin(
    returnTo: string | null,
    presented: string | undefined,
  ): Promise<{ location: string; sealed: string }> {
    const transaction = this.transactions.begin(returnTo, presented);
    const location = await this.provider.authorizationUrl(transaction);
    return { location: location.href, sealed: this.transactions.seal(transaction) };
  }

  /** The sign-in that this browser began and this query belongs to. @throws OidcSignInExpired */
  transactionOf(query: URLSearchParams, sealed: string | undefined): OidcTransaction {
    const transaction = this.transactions.open(sealed);
    const states = query.getAll('state');
    if (!transaction || states.length !== 1 || states[0] !== transaction.state) throw new OidcSignInExpired();
    return transaction;
  }

  /** @throws OidcSignInExpired, OidcRefused, OidcNotVerified, LimitReached, NotFound, Unavailable */
  async complete(
    query: URLSearchParams,
    transaction: OidcTransaction,
    origin: Omit<Origin, 'presented'>,
  ): Promise<StartedSession> {
    await this.transactions.spend(transaction);
    const identity = await this.provider.identify(query, transaction);
    const workspaceId = await this.workspace();
    const account = await this.joinByOidc.execute(workspaceId, identity);
    const workspaces = await this.sessions.membershipsOf(account.userId);
    const workspace = workspaces.find((one) => one.workspaceId === workspaceId);
    // Removed a moment ago, or the workspace is gone.
    if (!workspace) throw new OidcRefused({ message: 'You are not a member of this workspace any more.' });
    const proved = { ...account, method: 'oidc' as const, secondFactor: identity.secondFactor };
    const { presented } = transaction;
    return this.session.start(proved, { workspace, workspaces }, { ...origin, presented });
  }

  /**
   * The workspace that people sign in to by OpenID Connect: the provider of one organisation speaks for no other.
   * @throws Unavailable when there is no such workspace
   */
  private async workspace(): Promise<string> {
    const workspaceId = this.config.oidcWorkspace ?? (await this.workspaces.first());
    if (workspaceId !== undefined && (await this.workspaces.isThere(workspaceId))) return workspaceId;
    const message =
      'The workspace for sign-in does not exist; the operator of Consigliere sets OIDC_WORKSPACE.';
    throw new Unavailable({ message, retryAfterSeconds: 300 });
  }
}
