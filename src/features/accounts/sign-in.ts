import { Injectable } from '@nestjs/common';
import { NotFound } from '../../platform/kernel/errors.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { wrongCredentials } from './accounts.errors.js';
import { ProveAccount } from './prove-account.js';
import type { SignInBody } from './sessions.dto.js';
import { type Membership, Sessions } from './sessions.repository.js';
import { SignInTries } from './sign-in-tries.js';
import { type Origin, type StartedSession, StartSession } from './start-session.js';

/** Signs in by mail address and password, and by a code where the account has a second factor. */
@Injectable()
export class SignIn {
  constructor(
    private readonly sessions: Sessions,
    private readonly tries: SignInTries,
    private readonly proveAccount: ProveAccount,
    private readonly startSession: StartSession,
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
      const account = await this.proveAccount.byPassword(email, password);
      const workspaces = await this.sessions.membershipsOf(account.userId);
      if (workspaces.length === 0) throw wrongCredentials();
      const workspace = chosen(workspaces, workspaceId);
      // Last, since a code is used up by that.
      const secondFactor = await this.proveAccount.byCode(account, code);
      return this.startSession.execute(
        { ...account, email, method: 'password', secondFactor },
        { workspace, workspaces },
        origin,
      );
    });
  }
}

/** The workspace that is asked for, else the one where the account may do most. @throws NotFound */
function chosen(workspaces: readonly Membership[], workspaceId: string | undefined): Membership {
  const workspace = workspaces.find((one) => workspaceId === undefined || one.workspaceId === workspaceId);
  if (!workspace) throw new NotFound({ message: 'You are a member of no such workspace.' });
  return workspace;
}
