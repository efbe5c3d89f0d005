import { PickType } from '@nestjs/swagger';
import { ChainHead, CheckpointView } from './receipt-chain.dto.js';

export class ChainFaultView {
  /**
   * hash_mismatch, missing, prev_hash_mismatch, content_mismatch, head_mismatch, tail_cut, checkpoint_mismatch,
   * bad_signature, untrusted_key or dispatch_in_halt
   * @example 'hash_mismatch'
   */
  kind!: string;
  /** The number of the receipt; 0 for a fault of a signing key. @example 731 */
  seq!: number;
  /** What is wrong, for a person. @example 'The hash of receipt 731 does not match its content.' */
  message!: string;
  /** The signing key at fault; left out when none is. @example '9deb65b8788f41ff' */
  keyId?: string;
}

export class VerifiedHead extends PickType(ChainHead, ['seq', 'hash']) {}

export class VerifiedCheckpoints {
  /** How many signed checkpoints were checked. @example 12 */
  checked!: number;
  /** The newest of them; null: there is none. */
  latest!: CheckpointView | null;
}

export type Comparison = 'not_given' | 'matches' | 'differs';

/** What the comparison with copies outside of the database found, and what cannot be known without one. */
export class KeptElsewhereView {
  /** Of the head in `heldSeq` and `heldHash`: not_given, matches or differs. @example 'matches' */
  head!: Comparison;
  /** Of the signing key in `heldKeyId`: not_given, matches or differs. @example 'not_given' */
  key!: Comparison;
  /**
   * How far this answer can be relied on, in a sentence or two.
   * @example 'The chain still holds the head that was kept elsewhere.'
   */
  notice!: string;
}

/** A dispatch that began, or an action request that was consumed, while the kill switch was engaged. */
export class DispatchInHaltView {
  /** The number of the receipt that records it. @example 1198 */
  seq!: number;
  /** The number of the kill's receipt. @example 1190 */
  killedSeq!: number;
  /** The id of the receipt. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  receiptId!: string;
  /** The id of the work packet, or of the action request. @example 'pkt_01khqw8n1tb6q4m0v8wdjt5r2c' */
  workPacketId!: string;
}

/** A work packet that was being sent, or an action request that had been consumed, when the kill switch was engaged. */
export class UnderWayView {
  /** The id of the work packet, or of the action request. @example 'pkt_01khqw8n1tb6q4m0v8wdjt5r2c' */
  workPacketId!: string;
  /** Since when it was being sent, Unix milliseconds. @example 1771401690000 */
  since!: number;
  /** The number of the receipt that says how it ended; null: there is none. @example 1193 */
  endedSeq!: number | null;
  /** How it ended; null: that is not known. @example 'executed' */
  ended!: 'executed' | 'failed' | null;
}

/** One use of the kill switch, and what the receipts show of the time until its revert. */
export class HaltView {
  /** Which kill of the workspace it was, counted from 1. @example 1 */
  epoch!: number;
  /** The number of the kill's receipt. @example 1190 */
  killedSeq!: number;
  /** When it was engaged, Unix milliseconds. @example 1771401690000 */
  killedAt!: number;
  /** The number of the revert's receipt; null while the kill switch is engaged. @example 1204 */
  revertedSeq!: number | null;
  /** When it was reverted, Unix milliseconds; null while it is engaged. @example 1771401750000 */
  revertedAt!: number | null;
  /**
   * The dispatches that began in between, the first 50 of them; there should be none. Those of teams that the caller
   * does not see are only counted.
   * @example []
   */
  dispatchesBetween!: DispatchInHaltView[];
  /** How many dispatches began in between, of every team. @example 0 */
  dispatchCount!: number;
  /**
   * The work packets that were being sent when it was engaged, as its receipts name them: the first 50 of those that the
   * caller may see.
   */
  unconfirmed!: UnderWayView[];
  /** How many were being sent when it was engaged, of every team. @example 1 */
  unconfirmedCount!: number;
}

export class ChainVerification {
  /** Whether no fault was found; `keptElsewhere.notice` says what that can mean. @example true */
  ok!: boolean;
  /** How many receipts were checked. @example 1204 */
  checked!: number;
  /** The end of the chain. */
  head!: VerifiedHead;
  /** What is wrong: the first 100 faults. @example [] */
  faults!: ChainFaultView[];
  /** The signed checkpoints that were checked. */
  checkpoints!: VerifiedCheckpoints;
  /** Each use of the kill switch, newest first: the last 50. */
  halts!: HaltView[];
  /** How often the kill switch was used. @example 1 */
  haltCount!: number;
  /** How what was kept elsewhere compares. */
  keptElsewhere!: KeptElsewhereView;
}
