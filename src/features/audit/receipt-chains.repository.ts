import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import type { ChainPoint, SignedCheckpoint, StoredReceipt } from '../../platform/receipts/verify-chain.js';

/** The ends of a chain at one moment. */
export interface ChainEnds {
  head: ChainPoint;
  /** The number of the last receipt; the head's, unless someone has tampered. */
  lastSeq: number;
  /** When the head's receipt was written, Unix milliseconds; null when it is not there. */
  at: number | null;
  checkpoint: SignedCheckpoint | null;
}

interface EndsRow extends ChainPoint, Pick<ChainEnds, 'lastSeq' | 'at'> {
  checkpointSeq: number | null;
  checkpointHash: string;
  signedAt: number;
  keyId: string;
  signature: string;
}

/** A stretch of a chain with the checkpoints that lie in it. */
export interface Stretch {
  receipts: StoredReceipt[];
  checkpoints: SignedCheckpoint[];
}

/**
 * Reads whole chains, past the caller's teams: a chain with holes can be verified by nobody. What leaves this
 * feature are numbers, hashes and signatures.
 */
@Injectable()
export class ReceiptChains {
  constructor(private readonly db: Db) {}

  async head(workspaceId: string): Promise<ChainPoint> {
    const [row] = await this.db.read<ChainPoint>(
      whole(workspaceId),
      'select seq, hash from receipt_heads where workspace_id = $1',
      [workspaceId],
    );
    return row!;
  }

  async headSeq(workspaceId: string): Promise<number> {
    const [row] = await this.db.read<{ seq: number }>(
      whole(workspaceId),
      'select seq from receipt_heads where workspace_id = $1',
      [workspaceId],
    );
    return row!.seq;
  }

  /** The head, and the hash of receipt `seq`, whosever it is; null when there is none of that number. */
  async headBeside(
    workspaceId: string,
    seq: number,
  ): Promise<{ head: ChainPoint; hashThere: string | null }> {
    const [row] = await this.db.read<ChainPoint & { hashThere: string | null }>(
      whole(workspaceId),
      'select seq, hash, app.receipt_hash($2) as hash_there from receipt_heads where workspace_id = $1',
      [workspaceId, seq],
    );
    const { hashThere, ...head } = row!;
    return { head, hashThere };
  }

  async ends(workspaceId: string): Promise<ChainEnds> {
    const [row] = await this.db.read<EndsRow>(
      whole(workspaceId),
      `select h.seq, h.hash, r.at, c.seq as checkpoint_seq, c.hash as checkpoint_hash, c.signed_at, c.key_id, c.signature,
         coalesce((select max(seq) from receipts where workspace_id = $1), 0) as last_seq
       from receipt_heads h
       left join receipts r on r.workspace_id = h.workspace_id and r.seq = h.seq
       left join lateral (
         select seq, hash, signed_at, key_id, signature from receipt_checkpoints
         where workspace_id = $1 order by seq desc limit 1
       ) c on true
       where h.workspace_id = $1`,
      [workspaceId],
    );
    const { seq, hash, at, lastSeq, checkpointSeq, checkpointHash, signedAt, keyId, signature } = row!;
    const checkpoint =
      checkpointSeq === null
        ? null
        : { workspaceId, seq: checkpointSeq, hash: checkpointHash, signedAt, keyId, signature };
    return { head: { seq, hash }, lastSeq, at, checkpoint };
  }

  /** The next `limit` receipts behind `after`, none behind `upTo`, in one round trip and a transaction of its own. */
  async stretch(workspaceId: string, after: number, upTo: number, limit: number): Promise<Stretch> {
    const values = [workspaceId, after, upTo, limit];
    const [receipts, checkpoints] = await this.db.readAll(whole(workspaceId), [
      {
        text: `select workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id,
                 directive_id, team_id, capo, body, prev_hash, hash
               from receipts where workspace_id = $1 and seq > $2 and seq <= $3 order by seq limit $4`,
        values,
      },
      {
        text: `select workspace_id, seq, hash, signed_at, key_id, signature from receipt_checkpoints
               where workspace_id = $1 and seq > $2 and seq <= (select max(seq) from (
                 select seq from receipts where workspace_id = $1 and seq > $2 and seq <= $3 order by seq limit $4
               ) receipts_read) order by seq`,
        values,
      },
    ]);
    return { receipts: receipts as StoredReceipt[], checkpoints: checkpoints as SignedCheckpoint[] };
  }

  /** The stored hash of one receipt; undefined when there is none of that number. */
  async hashAt(workspaceId: string, seq: number): Promise<string | undefined> {
    const [row] = await this.db.read<{ hash: string }>(
      whole(workspaceId),
      'select hash from receipts where workspace_id = $1 and seq = $2',
      [workspaceId, seq],
    );
    return row?.hash;
  }
}

const whole = (workspaceId: string): Scope => ({ workspaceId, teamIds: 'all' });
