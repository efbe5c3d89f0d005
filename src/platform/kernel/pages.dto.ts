import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { FromDigits } from './from-digits.js';

/** `limit` and `offset` of every paged list (CONTRACT section 1). */
export class PageQuery {
  /** How many items at the most. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;

  /** How many items to pass over. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  offset: number = 0;
}

/** A page of a list, with the number of all items. */
export interface Page<T> {
  items: T[];
  total: number;
  limit: number;
  offset: number;
}

/** `before` and `limit` of the append-only lists (`/feed`, `/audit-feed`). */
export class BeforeQuery {
  /** Only entries with a smaller sequence number. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  before?: number;

  /** How many items at the most. */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;
}
