import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { PartnerSecretView } from './partner-secret.dto.js';
import { PartnerSecretChanges } from './partner-secret-changes.js';
import { PartnerSecrets } from './partner-secrets.repository.js';
import { secretPurpose } from './partner-signatures.js';

/** For as long both secrets are accepted, so that the partner can change over without losing an update. */
const OVERLAP_MS = 24 * 3_600_000;

/** Gives a workspace its partner secret, or another one (CONTRACT, Partner). */
@Injectable()
export class RotatePartnerSecret {
  constructor(
    private readonly db: Db,
    private readonly secrets: PartnerSecrets,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly changes: PartnerSecretChanges,
  ) {}

  /** Answers the secret that is in force now. */
  execute(
    workspaceId: string,
    by: Actor,
    secret: string = randomBytes(32).toString('base64url'),
  ): Promise<PartnerSecretView> {
    return this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      const setAt = this.clock.now();
      const previousUntil = setAt + OVERLAP_MS;
      const sealed = this.box.seal(secret, secretPurpose(workspaceId));
      const replaced = await this.secrets.replace(sealed, { setAt, previousUntil });
      this.receipts.append({
        actor: by,
        action: replaced ? 'partner_secret.rotated' : 'partner_secret.created',
        entity: { type: 'partner_secret', id: workspaceId },
        summary: replaced
          ? `${by.name} rotated the signing secret of the partner.`
          : `${by.name} created the signing secret of the partner.`,
        details: replaced ? { previousUntil } : {},
      });
      await this.changes.tell();
      return { secret, setAt, previousUntil: replaced ? previousUntil : null };
    });
  }
}
