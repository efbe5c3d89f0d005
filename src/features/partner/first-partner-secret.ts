import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { FirstRun } from '../workspaces/index.js';
import { PartnerSecrets } from './partner-secrets.repository.js';
import { secretPurpose } from './partner-signatures.js';
import { RotatePartnerSecret } from './rotate-partner-secret.js';

/**
 * The partner secret of the first workspace: the configured one, else one that the first start makes and keeps with
 * its credentials. Other workspaces have none, and so no partner, until one is made for them.
 */
@Injectable()
export class FirstPartnerSecret implements OnApplicationBootstrap {
  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly box: SecretBox,
    private readonly firstRun: FirstRun,
    private readonly secrets: PartnerSecrets,
    private readonly rotatePartnerSecret: RotatePartnerSecret,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const configured = this.config.partnerSigningSecret;
    if (configured === undefined && !this.firstRun.credentials) return;
    const workspaceId = await this.secrets.firstWorkspace();
    await this.db.transaction({ workspaceId, teamIds: 'all' }, () =>
      configured === undefined ? this.make(workspaceId) : this.putInForce(workspaceId, configured),
    );
  }

  /** Kept before the COMMIT: a secret that nobody ever saw would be of no use. */
  private async make(workspaceId: string): Promise<void> {
    const { secret } = await this.rotatePartnerSecret.execute(workspaceId, SYSTEM);
    this.firstRun.keep({ partnerSecret: secret });
  }

  /**
   * A configured value is put in force once, when it changes: after a rotation in the admin area a restart must not
   * bring it back. Processes that start together wait for each other, so that one of them rotates.
   */
  private async putInForce(workspaceId: string, configured: string): Promise<void> {
    const purpose = secretPurpose(workspaceId);
    const kept = await this.secrets.lockShared();
    const open = (sealed: string | null | undefined) => (sealed ? this.box.open(sealed, purpose) : undefined);
    if (open(kept?.sealedConfigured) === configured) return;
    if (open(kept?.sealedSecret) !== configured) {
      await this.rotatePartnerSecret.execute(workspaceId, SYSTEM, configured);
    }
    this.secrets.noteConfigured(this.box.seal(configured, purpose));
  }
}
