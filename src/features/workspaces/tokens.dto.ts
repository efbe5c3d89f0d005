import { IsInt, IsOptional, Matches, Max } from 'class-validator';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { UNIX_MILLISECONDS } from '../../platform/kernel/unix-milliseconds.js';

/** The parameter of the paths, as it is documented. */
export const TOKEN_PARAM = {
  name: 'id',
  description: 'The id of the token.',
  example: 'tok_01kerqg9j0k7zrqfjnrxthcm4w',
};

const YEAR_9999 = 253_402_300_799_999;

/** Body of `POST /tokens`. */
export class CreateTokenBody {
  /**
   * One line of 1 to 100 characters, to tell tokens apart.
   * @example 'Ledger'
   */
  @Matches(/^(?=.*\S)\P{Cc}{1,100}$/u, { message: '$property must be one line of 1 to 100 characters' })
  @IsNotBlank()
  name!: string;

  /**
   * The member that the token is for. Left out: the caller.
   * @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd'
   */
  @IsOptional()
  @Matches(/^mem_[0-9a-z]{26}$/, { message: '$property must be the id of a member' })
  memberId?: string;

  /**
   * When it stops to open anything, Unix milliseconds; left out: never.
   * @example 1798758000000
   */
  @IsOptional()
  @IsInt(UNIX_MILLISECONDS)
  @Max(YEAR_9999)
  expiresAt?: number | null;
}

/** A token as everyone may see it; the token itself is nowhere. */
export class TokenView {
  /**
   * The id of the token.
   * @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w'
   */
  tokenId!: string;
  /**
   * One line, to tell tokens apart.
   * @example 'Ledger'
   */
  name!: string;
  /**
   * The member whose rights it carries.
   * @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd'
   */
  memberId!: string;
  /**
   * The name of that member.
   * @example 'Mira Novak'
   */
  memberName!: string;
  /**
   * The last four characters.
   * @example 'Qz7m'
   */
  hint!: string;
  /**
   * Ids of the other members who made it for this one; what is done with it counts for them as well (four eyes).
   * @example []
   */
  madeBy!: string[];
  /**
   * When it was made, Unix milliseconds.
   * @example 1768209000000
   */
  createdAt!: number;
  /**
   * When it was last used, Unix milliseconds, to the minute; null: never.
   * @example 1771401600000
   */
  lastUsedAt!: number | null;
  /**
   * When it stops to open anything, Unix milliseconds; null: never.
   * @example 1798758000000
   */
  expiresAt!: number | null;
  /** When it was revoked, Unix milliseconds; null: it is not. */
  revokedAt!: number | null;
}

/** A new token; nothing shows it again. */
export class NewToken extends TokenView {
  /**
   * The token; nothing shows it again.
   * @example 'cons_7Hq2mXv9Rk4TbWz1NcYp8LsJd3FgUa6EoKi5QtVx0BnMr4ShQz7m'
   */
  token!: string;
}

export class TokenPage extends PageFacts {
  /** The tokens of this page, newest first. */
  items!: TokenView[];
}
