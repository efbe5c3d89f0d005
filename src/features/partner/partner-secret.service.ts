import { randomBytes } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { type Actor, actorOf, type Caller, SYSTEM } from '../../platform/auth/caller.js';
import type { SignatureClaim, SignatureScheme } from '../../platform/auth/signed-requests.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { FirstRun } from '../workspaces/index.js';
import { PartnerSecrets } from './partner.repository.js';
import type { PartnerSecretView } from './partner.dto.js';

/** What the secret of a workspace is sealed for. */
function secretPurpose(workspaceId: string): string {
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

/** For as long both secrets are accepted, so that the partner can change over without losing an update. */
const OVERLAP_MS = 24 * 3_600_000;

/** Called in the transaction that put the secret in force; what it writes commits with it or not at all. */
type PartnerSecretListener = () => void | Promise<void>;

/**
 * What a workspace shares with the partner persona service (CONTRACT, Partner). Other workspaces than the first have no secret, and so
 * no partner, until one is made for them.
 */
@Injectable()
export class PartnerSecretService implements OnApplicationBootstrap {
  readonly #listeners: PartnerSecretListener[] = [];

  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly secrets: PartnerSecrets,
    private readonly box: SecretBox,
    private readonly firstRun: FirstRun,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** The first workspace gets the configured secret, else one that the first start makes and keeps with its credentials. */
  async onApplicationBootstrap(): Promise<void> {
    const configured = this.config.partnerSigningSecret;
    if (configured === undefined && !this.firstRun.credentials) return;
    const workspaceId = await this.secrets.firstWorkspace();
    await this.db.transaction({ workspaceId, teamIds: 'all' }, () =>
      configured === undefined ? this.make(workspaceId) : this.putInForce(workspaceId, configured),
    );
  }

  /** Who is told when a workspace gets its partner secret, or another one: features above register here. */
  register(listener: PartnerSecretListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Shows the partner secret of the workspace to a person who sets the partner up (CONTRACT, Partner).
   * @throws NotFound while the workspace has none, InvalidTransition for one that cannot be decrypted
   */
  async show(caller: Caller): Promise<PartnerSecretView> {
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

  /**
   * Gives a workspace its partner secret, or another one (CONTRACT, Partner).
   * Answers the secret that is in force now.
   */
  rotate(
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
      for (const listener of this.#listeners) await listener();
      return { secret, setAt, previousUntil: replaced ? previousUntil : null };
    });
  }

  /**
   * Whether the secret that its requests are signed with opens under the SECRETS_KEY of this process: the partner calls us, and we
   * never call it, so no more can be known of it. Undefined while the workspace has no partner secret, and so no partner.
   */
  async isReadable(scope: Scope): Promise<boolean | undefined> {
    const sealed = await this.secrets.sealed(scope);
    if (sealed === undefined) return undefined;
    try {
      this.box.open(sealed, secretPurpose(scope.workspaceId));
      return true;
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      return false;
    }
  }

  /** Kept before the COMMIT: a secret that nobody ever saw would be of no use. */
  private async make(workspaceId: string): Promise<void> {
    const { secret } = await this.rotate(workspaceId, SYSTEM);
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
      await this.rotate(workspaceId, SYSTEM, configured);
    }
    this.secrets.noteConfigured(this.box.seal(configured, purpose));
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
