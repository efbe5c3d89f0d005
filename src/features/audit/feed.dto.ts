import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { FromDigits } from '../../platform/kernel/from-digits.js';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { ReceiptEntity } from './audit-feed.dto.js';

/** A receipt in a person's words. */
export class FeedItem {
  seq!: number;
  /** Unix milliseconds. */
  at!: number;
  /** One sentence. */
  text!: string;
  actor!: ActorView;
  action!: string;
  entity!: ReceiptEntity;
  directiveId!: string | null;
  capo!: string | null;
  outcome!: 'success' | 'denied' | 'failure';
}

export class FeedPage {
  items!: FeedItem[];
  /** The number to page on with; null behind the last page. */
  nextBefore!: number | null;
}

/** Query of `GET /feed/stream`. */
export class FeedStreamQuery {
  /** Where to go on from; the header `Last-Event-ID` goes before it. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  lastEventId?: number;
}
