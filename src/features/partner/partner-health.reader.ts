import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { secretPurpose } from './partner-signatures.js';

/** What can be known of the partner: it calls us, and we never call it. */
interface PartnerHealth {
  /** Whether the secret that its requests are signed with opens under the SECRETS_KEY of this process. */
  isReadable: boolean;
}

@Injectable()
export class PartnerHealthReader {
  constructor(
    private readonly db: Db,
    private readonly box: SecretBox,
  ) {}

  /** Undefined while the workspace has no partner secret, and so no partner. */
  async read(scope: Scope): Promise<PartnerHealth | undefined> {
    const { workspaceId } = scope;
    const [row] = await this.db.read<{ sealedSecret: string }>(
      scope,
      'select sealed_secret from partner_secrets where workspace_id = $1',
      [workspaceId],
    );
    return row && { isReadable: this.opens(row.sealedSecret, workspaceId) };
  }

  private opens(sealed: string, workspaceId: string): boolean {
    try {
      this.box.open(sealed, secretPurpose(workspaceId));
      return true;
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      return false;
    }
  }
}
