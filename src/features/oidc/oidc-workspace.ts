import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Unavailable } from '../../platform/kernel/errors.js';
import { WorkspaceEntity } from '../workspaces/workspaces.entity.js';

/** The workspace that people sign in to by OpenID Connect: the provider of one organisation speaks for no other. */
@Injectable()
export class OidcWorkspace {
  constructor(
    private readonly config: Config,
    private readonly db: Db,
  ) {}

  /** @throws Unavailable when there is no such workspace */
  async id(): Promise<string> {
    const workspaceId = this.config.oidcWorkspace ?? (await this.first());
    if (workspaceId !== null && (await this.exists(workspaceId))) return workspaceId;
    const message =
      'The workspace that people sign in to is not there; whoever runs Consigliere sets OIDC_WORKSPACE.';
    throw new Unavailable({ message, retryAfterSeconds: 300 });
  }

  private async first(): Promise<string | null> {
    const [row] = await this.db.system<{ workspaceId: string | null }>(
      'select app.first_workspace() as workspace_id',
    );
    return row!.workspaceId;
  }

  private async exists(workspaceId: string): Promise<boolean> {
    const scope = { workspaceId, teamIds: 'all' as const };
    return (await this.db.findOne(scope, WorkspaceEntity, { workspaceId })) !== undefined;
  }
}
