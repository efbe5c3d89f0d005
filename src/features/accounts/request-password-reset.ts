import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import { Work } from '../../platform/work/work.js';
import { ACCOUNTS, NO_WORKSPACE } from './no-workspace.js';
import { newResetToken, RESET_LASTS_MS, tokenPurpose } from './password-reset.js';
import { PasswordResets } from './password-resets.repository.js';

export const RESET_MAIL = 'password.mail';

/**
 * Notes that somebody has forgotten the password of an account with this address. Whether there is one is looked up by the
 * work that mails: the request does, writes and answers the same either way, and so takes as long.
 */
@Injectable()
export class RequestPasswordReset {
  constructor(
    private readonly db: Db,
    private readonly resets: PasswordResets,
    private readonly secrets: SecretBox,
    private readonly work: Work,
    private readonly clock: Clock,
  ) {}

  async execute(address: string): Promise<void> {
    const resetId = newId('rst');
    const { token, tokenHash } = newResetToken();
    const requestedAt = this.clock.now();
    await this.db.transaction(NO_WORKSPACE, async () => {
      const isAdded = await this.resets.add({
        resetId,
        email: foldedMailAddress(address),
        tokenHash,
        sealedToken: this.secrets.seal(token, tokenPurpose(resetId)),
        requestedAt,
        expiresAt: requestedAt + RESET_LASTS_MS,
      });
      if (isAdded) this.work.enqueue(RESET_MAIL, { id: resetId, queue: ACCOUNTS });
    });
  }
}
