import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../config/config.js';
import { Db } from '../database/db.js';
import { Clock } from '../kernel/clock.js';
import { SigningKeys } from './signing-keys.js';
import { Metrics } from '../observability/metrics.js';
import { checkpointText } from './verify-chain.js';

const LOOK_EVERY_MS = 5_000;
const CHAINS_AT_ONCE = 100;

/**
 * Signs the head of each chain that has grown by 1,000 receipts or for 60 seconds. A checkpoint shows that a chain was
 * cut or written anew, which the chain alone cannot.
 */
@Injectable()
export class Checkpoints {
  readonly #count: (outcome: 'signed' | 'failed') => void;

  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly keys: SigningKeys,
    private readonly logger: PinoLogger,
    metrics: Metrics,
  ) {
    this.#count = metrics.outcomes(
      'consigliere_checkpoints_total',
      'Tries of this process to sign the head of a receipt chain; failed: the chain or its key was changed by hand, or the database is gone',
      ['signed', 'failed'],
    );
  }

  @Interval(LOOK_EVERY_MS)
  async signDue(): Promise<void> {
    if (this.config.processRole === 'api') return;
    try {
      const due = await this.db.system<{ workspaceId: string; seq: number; hash: string }>(
        'select workspace_id, seq, hash from app.unsigned_chains($1)',
        [CHAINS_AT_ONCE],
      );
      for (const chain of due) await this.signHead(chain).catch((error: unknown) => this.warn(error, chain));
    } catch (error) {
      this.warn(error);
    }
  }

  /** One chain that cannot be signed (its head was changed by hand) must not keep the others from their signature. */
  private warn(err: unknown, chain?: { workspaceId: string; seq: number }): void {
    this.#count('failed');
    const { workspaceId, seq } = chain ?? {};
    this.logger.warn(
      { err, workspaceId, seq },
      'a checkpoint could not be signed; the next try follows in 5 s',
    );
  }

  private async signHead(chain: { workspaceId: string; seq: number; hash: string }): Promise<void> {
    const signedAt = this.clock.now();
    const { keyId, signature } = await this.keys.sign(checkpointText({ ...chain, signedAt }));
    await this.db.transaction({ workspaceId: chain.workspaceId, teamIds: 'all' }, (unit) =>
      unit.query('select app.add_checkpoint($1, $2, $3, $4, $5, $6)', [
        chain.workspaceId,
        chain.seq,
        chain.hash,
        new Date(signedAt),
        keyId,
        signature,
      ]),
    );
    this.#count('signed');
  }
}
