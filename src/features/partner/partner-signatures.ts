import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import type { SignatureClaim, SignatureScheme } from '../../platform/auth/signed-requests.js';
import { Clock } from '../../platform/kernel/clock.js';
import { isId } from '../../platform/kernel/ids.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { PartnerSecrets } from './partner-secrets.repository.js';

/** What the secret of a workspace is sealed for. */
export function secretPurpose(workspaceId: string): string {
  return `partner-secret ${workspaceId}`;
}

/**
 * How the partner persona service signs (SPECIFICATION, Authentication 5): HMAC-SHA256 over the body, under the secret
 * of the workspace that the body names.
 */
@Injectable()
export class PartnerSignatures implements SignatureScheme {
  readonly header = 'x-partner-signature';
  /** Stands in for a secret that is not there, so that the work is the same. */
  readonly #nobodys: { sealed: string; purpose: string };

  constructor(
    private readonly secrets: PartnerSecrets,
    private readonly box: SecretBox,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {
    const purpose = secretPurpose('nobody');
    this.#nobodys = { sealed: box.seal(randomBytes(32).toString('base64url'), purpose), purpose };
  }

  /** One look-up and two secrets, whatever the body is. */
  async claimOf(rawBody: Buffer): Promise<SignatureClaim> {
    const workspaceId = namedWorkspace(rawBody) ?? '';
    const kept = await this.secrets.find(workspaceId);
    const previous = (kept?.previousUntil ?? 0) > this.clock.now() ? kept?.sealedPrevious : undefined;
    return {
      workspaceId,
      secrets: [kept?.sealedSecret, previous].map((sealed) => this.open(sealed, workspaceId)),
    };
  }

  private open(sealed: string | null | undefined, workspaceId: string): string {
    if (sealed) {
      try {
        return this.box.open(sealed, secretPurpose(workspaceId));
      } catch (error) {
        if (!(error instanceof SecretUnreadable)) throw error;
        // Nothing can be signed with it, and the sender can do nothing about it: a person here must set a new one.
        this.logger.error(
          { err: error, workspaceId },
          'the secret of the partner cannot be read, so its requests are refused: set a new one',
        );
      }
    }
    return this.box.open(this.#nobodys.sealed, this.#nobodys.purpose);
  }
}

/** Nobody has vouched for these bytes yet: they may be anything, and what is wrong with them is not said. */
function namedWorkspace(rawBody: Buffer): string | undefined {
  try {
    const { workspaceId } = JSON.parse(rawBody.toString()) as { workspaceId?: unknown };
    return typeof workspaceId === 'string' && isId('wks', workspaceId) ? workspaceId : undefined;
  } catch {
    return undefined;
  }
}
