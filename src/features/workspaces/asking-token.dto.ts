import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { AskingAgent } from '../../platform/auth/actor.dto.js';
import { TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';

/** What each request of an agent from outside says besides its content. */
export class AskBody {
  /**
   * Why the agent asks; shown to people as its claim.
   * @example 'The customer returned the goods on Monday.'
   */
  @ApiPropertyOptional({ maxLength: 500 })
  @IsOptional()
  @IsPlainText(500, { visible: true })
  reason?: string | null;

  /**
   * The agent's own name for this request, unique for its token: sent again with the same content it is answered as it is now.
   * @example 'refund-A-17'
   */
  @IsOptional()
  @Matches(/^[\x21-\x7e]{1,255}$/, { message: '$property must have 1 to 255 visible ASCII characters' })
  externalId?: string | null;

  /**
   * The team whose people decide. Left out: the caller's only team, else none.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string | null;

  /** How long people may take, in seconds; the default is 72 hours. @example 3600 */
  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(604_800)
  expiresInSeconds?: number;
}

/** What is shown of each request of an agent from outside, besides its content. */
export class AskedView {
  /** Why it asks, in the agent's words. */
  reason!: string | null;
  /** The agent's own name for the request. */
  externalId!: string | null;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** Who asks. */
  agent!: AskingAgent;
  /** When it expires without a decision, Unix milliseconds. @example 1771660800000 */
  expiresAt!: number;
  /** When it was made, Unix milliseconds. @example 1771401600000 */
  createdAt!: number;
}

/** By which the lists of these requests are narrowed; what is left out does not narrow them. */
export class AskedQuery extends TeamPageQuery {
  /** Only those of the agent with this name. @example 'invoice-bot' */
  @IsOptional()
  @IsString()
  @MaxLength(100)
  agent?: string;
}
