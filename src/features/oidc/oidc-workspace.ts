import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import { Workspaces } from '../workspaces/index.js';

/** The workspace that people sign in to by OpenID Connect: the provider of one organisation speaks for no other. */
@Injectable()
export class OidcWorkspace {
  constructor(
    private readonly config: Config,
    private readonly workspaces: Workspaces,
  ) {}

  /** @throws Unavailable when there is no such workspace */
  async id(): Promise<string> {
    const workspaceId = this.config.oidcWorkspace ?? (await this.workspaces.first());
    if (workspaceId !== undefined && (await this.workspaces.isThere(workspaceId))) return workspaceId;
    const message =
      'The workspace for sign-in does not exist; the operator of Consigliere sets OIDC_WORKSPACE.';
    throw new Unavailable({ message, retryAfterSeconds: 300 });
  }
}
