import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../config/config.js';
import { Db } from '../database/db.js';
import { canonicalJson } from '../kernel/canonical-json.js';
import { Clock } from '../kernel/clock.js';
import { SigningKeys } from './signing-keys.js';

const LOOK_EVERY_MS = 5_000;
const CHAINS_AT_ONCE = 100;

/** What a checkpoint's signature covers. */
export function checkpointText(checkpoint: {
  workspaceId: string;
  seq: number;
  hash: string;
  signedAt: number;
}): string {
  const { workspaceId, seq, hash, signedAt } = checkpoint;
  return canonicalJson({ workspaceId, seq, hash, signedAt });
}

/**
 * Signs the head of each chain that has grown by 1,000 receipts or for 60 seconds. Someone who holds a checkpoint can
 * show that a chain was cut or written anew, which the chain alone cannot.
 */
@Injectable()
export class Checkpoints {
  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly keys: SigningKeys,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  async signDue(): Promise<void> {
    if (this.config.processRole === 'api') return;
    try {
      const due = await this.db.system<{ workspaceId: string; seq: number; hash: string }>(
        'select workspace_id, seq, hash from app.unsigned_chains($1)',
        [CHAINS_AT_ONCE],
      );
      for (const chain of due) await this.signHead(chain);
    } catch (error) {
      this.logger.warn({ err: error }, 'checkpoints could not be signed; the next look follows');
    }
  }

  private async signHead(chain: { workspaceId: string; seq: number; hash: string }): Promise<void> {
    const signedAt = this.clock.now();
    const { keyId, signature } = await this.keys.sign(checkpointText({ ...chain, signedAt }));
    await this.db.transaction({ workspaceId: chain.workspaceId, teamIds: 'all' }, (unit) =>
      unit.query(
        `insert into receipt_checkpoints (workspace_id, seq, hash, signed_at, key_id, signature)
         values ($1, $2, $3, $4, $5, $6) on conflict (workspace_id, seq) do nothing`,
        [chain.workspaceId, chain.seq, chain.hash, new Date(signedAt), keyId, signature],
      ),
    );
  }
}
