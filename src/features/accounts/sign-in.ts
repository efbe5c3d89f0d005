import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { noSession } from '../../platform/auth/callers.js';
import { Forbidden, NotFound } from '../../platform/kernel/errors.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { AccountProof } from './account-proof.js';
import { wrongCredentials } from './accounts.errors.js';
import { type Origin, SessionService, type StartedSession } from './session.service.js';
import type { OwnWorkspace, SignInBody } from './accounts.dto.js';
import { Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';

/** Signs in by mail address and password, and by a code where the account has a second factor. */
@Injectable()
export class SignIn {
  constructor(
    private readonly sessions: Sessions,
    private readonly tries: SignInTries,
    private readonly proof: AccountProof,
    private readonly session: SessionService,
  ) {}

  /**
   * @throws Unauthorized for what does not belong together or lacks a code, RateLimited after too many failures, NotFound for
   * a workspace that the account is not in
   */
  async execute(
    { email: given, password, code, workspaceId }: SignInBody,
    origin: Origin,
  ): Promise<StartedSession> {
    const email = foldedMailAddress(given);
    return this.tries.signIn(email, origin.address, async () => {
      const account = await this.proof.byPassword(email, password);
      const workspaces = await this.sessions.membershipsOf(account.userId);
      if (workspaces.length === 0) throw wrongCredentials();
      const workspace = chosen(workspaces, workspaceId);
      // Last, since a code is used up by that.
      const secondFactor = await this.proof.byCode(account, code);
      return this.session.start(
        { ...account, email, method: 'password', secondFactor },
        { workspace, workspaces },
        origin,
      );
    });
  }

  /**
   * Opens another workspace of the account that is signed in: by a session of its own, which ends no later than the present one.
   * @throws NotFound, Unauthorized; Forbidden where an organisation signed the account in, which vouches for it in one workspace
   */
  async openWorkspace(caller: Caller, workspaceId: string, origin: Origin): Promise<StartedSession> {
    const { userId, name: displayName, email } = caller;
    const [session, workspaces] = await Promise.all([
      this.sessions.get(caller, caller.credentialId),
      this.sessions.membershipsOf(userId),
    ]);
    if (!session) throw noSession('ended_session');
    const workspace = chosen(workspaces, workspaceId);
    const { method, secondFactor } = session;
    if (method === 'oidc') throw new Forbidden({ reason: 'sign_in_again', message: BY_ORGANISATION });
    return this.session.start(
      { userId, displayName, email, method, secondFactor, continues: session },
      { workspace, workspaces },
      origin,
    );
  }
}

const BY_ORGANISATION =
  'Your organisation has signed you in to this workspace alone. Sign in with your password to open another.';

/** The workspace that is asked for, else the one that the account opened last. @throws NotFound */
function chosen(workspaces: readonly OwnWorkspace[], workspaceId: string | undefined): OwnWorkspace {
  const workspace = workspaces.find((one) => workspaceId === undefined || one.workspaceId === workspaceId);
  if (!workspace) throw new NotFound({ message: 'You are a member of no such workspace.' });
  return workspace;
}
