import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import { type Origin, Sessions, SessionService, type StartedSession } from '../accounts/index.js';
import { Workspaces } from '../workspaces/index.js';
import { JoinByOidc } from './join-by-oidc.js';
import { OidcProvider } from './oidc-provider.js';
import { type OidcTransaction, OidcTransactions } from './oidc-transaction.js';
import { OidcRefused, OidcSignInExpired } from './oidc.errors.js';

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
