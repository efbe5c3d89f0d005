import { Injectable } from '@nestjs/common';
import { JoinByOidc } from './join-by-oidc.js';
import { OidcProvider } from './oidc-provider.js';
import { type OidcTransaction, OidcTransactions } from './oidc-transaction.js';
import { OidcWorkspace } from './oidc-workspace.js';
import { OidcRefused, OidcSignInExpired } from './oidc.errors.js';
import { type Origin, Sessions, SessionService, type StartedSession } from '../accounts/index.js';

/** Signs in by the provider of OpenID Connect: there, and back with a code that is used once. */
@Injectable()
export class SignInByOidc {
  constructor(
    private readonly provider: OidcProvider,
    private readonly transactions: OidcTransactions,
    private readonly oidcWorkspace: OidcWorkspace,
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
    const workspaceId = await this.oidcWorkspace.id();
    const account = await this.joinByOidc.execute(workspaceId, identity);
    const workspaces = await this.sessions.membershipsOf(account.userId);
    const workspace = workspaces.find((one) => one.workspaceId === workspaceId);
    // Removed a moment ago, or the workspace is gone.
    if (!workspace) throw new OidcRefused({ message: 'You are not a member of this workspace any more.' });
    const proved = { ...account, method: 'oidc' as const, secondFactor: identity.secondFactor };
    const { presented } = transaction;
    return this.session.start(proved, { workspace, workspaces }, { ...origin, presented });
  }
}
