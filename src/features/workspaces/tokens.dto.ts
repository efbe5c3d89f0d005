import { PageFacts } from '../../platform/kernel/pages.dto.js';

import { IsInt, IsOptional, Matches, Max } from 'class-validator';

const YEAR_9999 = 253_402_300_799_999;

/** Body of `POST /tokens`. */
export class CreateTokenBody {
  /** One line, to tell tokens apart. */
  @Matches(/^(?=.*\S)\P{Cc}{1,100}$/u, { message: '$property must be one line of 1 to 100 characters' })
  name!: string;

  /** The member that the token is for. Left out: whoever calls. */
  @IsOptional()
  @Matches(/^mem_[0-9a-z]{26}$/, { message: '$property must be the id of a member' })
  memberId?: string;

  /** When it stops to open anything, Unix milliseconds; left out: never. */
  @IsOptional()
  @IsInt()
  @Max(YEAR_9999)
  expiresAt?: number | null;
}

/** A token as everyone may see it; the token itself is nowhere. */
export class TokenView {
  tokenId!: string;
  name!: string;
  memberId!: string;
  memberName!: string;
  /** The last four characters. */
  hint!: string;
  /** Ids of the other members who made it for this one; what is done with it counts for them as well (four eyes). */
  madeBy!: string[];
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds, to the minute. */
  lastUsedAt!: number | null;
  /** Unix milliseconds. */
  expiresAt!: number | null;
  /** Unix milliseconds. */
  revokedAt!: number | null;
}

/** A new token; nothing shows it again. */
export class NewToken extends TokenView {
  token!: string;
}

export class TokenPage extends PageFacts {
  items!: TokenView[];
}
