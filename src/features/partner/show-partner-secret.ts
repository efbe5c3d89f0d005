import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import type { PartnerSecretView } from './partner-secret.dto.js';
import { PartnerSecrets } from './partner-secrets.repository.js';
import { secretPurpose } from './partner-signatures.js';

/** Shows the partner secret of the workspace to a person who sets the partner up (CONTRACT, Partner). */
@Injectable()
export class ShowPartnerSecret {
  constructor(
    private readonly secrets: PartnerSecrets,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound while the workspace has none, InvalidTransition for one that cannot be decrypted */
  async execute(caller: Caller): Promise<PartnerSecretView> {
    const { workspaceId } = caller;
    const kept = await this.secrets.get(workspaceId);
    if (!kept)
      throw new NotFound({ message: 'This workspace has no partner secret yet; rotate it to make one.' });
    const secret = this.open(kept.sealedSecret, workspaceId);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'partner_secret.shown',
      entity: { type: 'partner_secret', id: workspaceId },
      summary: `${caller.name} looked at the signing secret of the partner.`,
      details: {},
    });
    const { setAt, previousUntil } = kept;
    const isOver = previousUntil !== null && previousUntil <= this.clock.now();
    return { secret, setAt, previousUntil: isOver ? null : previousUntil };
  }

  private open(sealed: string, workspaceId: string): string {
    try {
      return this.box.open(sealed, secretPurpose(workspaceId));
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      throw new InvalidTransition({
        message:
          'The partner secret cannot be decrypted with the present SECRETS_KEY; rotate it to make another.',
        cause: error,
      });
    }
  }
}
