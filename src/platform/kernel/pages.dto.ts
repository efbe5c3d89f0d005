import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { FromDigits } from './decorators.js';
import { MaxLength } from './text-length.js';

/** How far `total` counts; a list that is longer says that this is a minimum (CONTRACT section 1). */
export const COUNT_UP_TO = 10_000;

/** How many items a page has at the most. */
export const LARGEST_PAGE = 100;

class LimitQuery {
  /** How many items to answer at most. @example 20 */
  @ApiPropertyOptional()
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(LARGEST_PAGE)
  limit: number = 20;
}

/** `limit`, `offset` and `cursor` of every paged list (CONTRACT section 1). */
export class PageQuery extends LimitQuery {
  /** How many items to pass over. Long lists are read with `cursor`, which costs the same wherever it stands. @example 0 */
  @ApiPropertyOptional()
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(0)
  @Max(10_000)
  offset: number = 0;

  /**
   * The `nextCursor` of the page before; goes on behind its last item, as far as the list goes.
   * @example 'eyJhdCI6MTc3MTQwMTYwMDAwMH0'
   */
  @IsOptional()
  @IsString()
  @MaxLength(500)
  cursor?: string;
}

/** The same for what belongs to teams. */
export class TeamPageQuery extends PageQuery {
  /** Only those of this team. @example 'team_01kerq74k0wtbyzq0h359nrdxj' */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string;
}

/** What a page of any list says besides its items. */
export class PageFacts {
  /** How many items there are in all, counted up to 10,000. @example 1 */
  total!: number;
  /** True when there are more than `total` says; left out otherwise. @example true */
  totalIsMinimum?: boolean;
  /** How many items a page has at the most. @example 20 */
  limit!: number;
  /** How many items were passed over. @example 0 */
  offset!: number;
  /** Send it as `cursor` to read on; null on the last page. */
  nextCursor!: string | null;
}

/** A page of a list. */
export interface Page<T> extends PageFacts {
  items: T[];
}

/** `before` and `limit` of the append-only lists (`/feed`, `/audit-feed`). */
export class BeforeQuery extends LimitQuery {
  /** Only entries with a smaller sequence number; `nextBefore` of the page before. @example 1200 */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  before?: number;
}
