import { PickType } from '@nestjs/swagger';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { FromDigits } from '../../platform/kernel/from-digits.js';
import { ReceiptItem } from './audit-feed.dto.js';

/** A receipt in a person's words. */
export class FeedItem extends PickType(ReceiptItem, [
  'seq',
  'at',
  'actor',
  'action',
  'entity',
  'directiveId',
  'capo',
  'outcome',
]) {
  /** What happened, in one sentence. @example 'Mira Novak approved the mail to jane@acme.example.' */
  text!: string;
}

export class FeedPage {
  /** The entries of this page, newest first. */
  items!: FeedItem[];
  /** Send it as `before` to read on; null behind the last page. @example 1204 */
  nextBefore!: number | null;
}

/** Query of `GET /feed/stream`. */
export class FeedStreamQuery {
  /** The number of the last receipt you have; the header `Last-Event-ID` goes before it. @example 1203 */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  lastEventId?: number;
}
