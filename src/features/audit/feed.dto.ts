import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FromDigits } from '../../platform/kernel/from-digits.js';
import { ReceiptEntity } from './audit-feed.dto.js';

/** A receipt in a person's words. */
export class FeedItem {
  /**
   * The number of the receipt.
   * @example 1204
   */
  seq!: number;
  /**
   * When it happened, Unix milliseconds.
   * @example 1771401690000
   */
  at!: number;
  /**
   * What happened, in one sentence.
   * @example 'Mira Novak approved the mail to jane@acme.example.'
   */
  text!: string;
  /** Who acted. */
  actor!: ActorView;
  /**
   * What was done.
   * @example 'approval.approved'
   */
  action!: string;
  /** What was acted upon. */
  entity!: ReceiptEntity;
  /**
   * The directive that it belongs to; null: none.
   * @example 'dir_01khqw6q006hs686p8sr7arg9t'
   */
  directiveId!: string | null;
  /**
   * The capo that it concerns; null: none.
   * @example 'capo_ops'
   */
  capo!: string | null;
  /**
   * How it ended.
   * @example 'success'
   */
  outcome!: 'success' | 'denied' | 'failure';
}

export class FeedPage {
  /** The entries of this page, newest first. */
  items!: FeedItem[];
  /**
   * Send it as `before` to read on; null behind the last page.
   * @example 1204
   */
  nextBefore!: number | null;
}

/** Query of `GET /feed/stream`. */
export class FeedStreamQuery {
  /**
   * The number of the last receipt you have; the header `Last-Event-ID` goes before it.
   * @example 1203
   */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  lastEventId?: number;
}
