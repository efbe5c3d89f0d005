import { ApiPropertyOptional, ApiProperty, PickType } from '@nestjs/swagger';
import {
  IsInt,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsObject,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Type } from 'class-transformer';
import { AskingAgent, ActorView } from '../../platform/auth/actor.dto.js';
import { TOKEN_SCOPES, type TokenScope } from '../../platform/auth/token-scopes.js';
import { TeamPageQuery, PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsPlainText, IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { UNIX_MILLISECONDS } from '../../platform/kernel/decorators.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import { isToolPattern } from '../terms/index.js';
import { IsNoneOfOurs } from './reserved-names.js';

/** What each request of an agent from outside says besides its content. */
export class AskBody {
  /** Why the agent asks; shown to people as its claim. @example 'The customer returned the goods on Monday.' */
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

  /** The team whose people decide. Left out: the caller's only team, else none. @example 'team_01kerq74k0wtbyzq0h359nrdxj' */
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

/** The parameter of the paths, as it is documented. */
export const TOKEN_PARAM = {
  name: 'id',
  description: 'The id of the token.',
  example: 'tok_01kerqg9j0k7zrqfjnrxthcm4w',
};

const YEAR_9999 = 253_402_300_799_999;

const MAX_TOOLS = 50;

function IsToolPattern(): PropertyDecorator {
  const message =
    'each value in $property must name a tool, such as crm.contacts.delete, or whole segments followed by .*, such as crm.contacts.*';
  return ValidateBy(
    {
      name: 'isToolPattern',
      validator: { validate: (value) => typeof value === 'string' && isToolPattern(value) },
    },
    { each: true, message },
  );
}

/** The agent that asks with a token. */
class TokenAgent {
  /**
   * What people read wherever the agent asks or acts: 1 to 60 characters, no other agent's, and not to be taken for Consigliere or a capo.
   * @example 'CRM cleaner'
   */
  @IsVisibleName(60)
  @IsNoneOfOurs('agent')
  name!: string;
}

/** Body of `POST /tokens`. */
export class CreateTokenBody {
  /** One line of 1 to 100 characters, to tell tokens apart. @example 'Ledger' */
  @MaxLength(100)
  @Matches(/\S/, { message: '$property must be one line of 1 to 100 characters' })
  @Matches(ONE_LINE, { message: '$property must be one line of 1 to 100 characters' })
  @IsNotBlank()
  name!: string;

  /** The member that the token is for. Left out: the caller. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  @IsOptional()
  @Matches(/^mem_[0-9a-z]{26}$/, { message: '$property must be the id of a member' })
  memberId?: string;

  /** When it stops to open anything, Unix milliseconds; left out: never. @example 1798758000000 */
  @IsOptional()
  @IsInt(UNIX_MILLISECONDS)
  @Max(YEAR_9999)
  expiresAt?: number | null;

  /** What it narrows the member's rights to; left out: all of them, and for an agent `["request"]`. @example ['read'] */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(TOKEN_SCOPES, { each: true })
  scopes?: TokenScope[] | null;

  /** For an agent: it asks, on behalf of the member, and can do nothing else. */
  @IsOptional()
  // A list of them would pass as nested.
  @IsObject()
  @ValidateNested()
  @Type(() => TokenAgent)
  @ApiProperty({ example: { name: 'CRM cleaner' } })
  agent?: TokenAgent | null;

  /**
   * The tools that the agent may ask for: names, or whole segments followed by `.*`.
   * @example ['crm.contacts.*', 'mailer.send']
   */
  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_TOOLS)
  @ArrayUnique()
  @IsToolPattern()
  tools?: string[] | null;
}

/** A token as everyone may see it; the token itself is nowhere. */
export class TokenView {
  /** The id of the token. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  tokenId!: string;
  /** One line, to tell tokens apart. @example 'Ledger' */
  name!: string;
  /** The member whose rights it carries. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  memberId!: string;
  /** The name of that member. @example 'Mira Novak' */
  memberName!: string;
  /** The last four characters. @example 'Qz7m' */
  hint!: string;
  /** Ids of the other members who made it for this one; what is done with it counts for them as well (four eyes). @example [] */
  madeBy!: string[];
  /** When it was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
  /** When it was last used, Unix milliseconds, to the minute; null: never. @example 1771401600000 */
  lastUsedAt!: number | null;
  /** When it stops to open anything, Unix milliseconds; null: never. @example 1798758000000 */
  expiresAt!: number | null;
  /** When it was revoked, Unix milliseconds; null: it is not. */
  revokedAt!: number | null;
  /** What it narrows the member's rights to; null: all of them. @example ['read'] */
  scopes!: TokenScope[] | null;
  /** The agent that asks with it; null: a person's token. */
  agent!: TokenAgent | null;
  /** The tools that the agent may ask for; null: no agent. */
  tools!: string[] | null;
  /** The id of the token that it replaced; null: none. */
  rotatedFrom!: string | null;
  /** When it was paused, Unix milliseconds; null: it is not. */
  pausedAt!: number | null;
  /** Who paused it; null while it is not paused. */
  @ApiProperty({ example: null })
  pausedBy!: ActorView | null;
}

/** A new token; nothing shows it again. */
export class NewToken extends TokenView {
  /** The token; nothing shows it again. @example 'cons_7Hq2mXv9Rk4TbWz1NcYp8LsJd3FgUa6EoKi5QtVx0BnMr4ShQz7m' */
  token!: string;
}

export class TokenPage extends PageFacts {
  /** The tokens of this page, newest first. */
  items!: TokenView[];
}

type OutsideAgentStatus = 'active' | 'paused' | 'idle';

/** An agent outside of Consigliere that asks before it acts: as every member may see it, without the token. */
export class OutsideAgentView extends PickType(TokenView, ['memberName', 'pausedBy']) {
  /** The id of its token, by which it is paused. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  tokenId!: string;
  /** The name that its token gives it. @example 'CRM cleaner' */
  name!: string;
  /** The tools that it may ask for. @example ['crm.contacts.*'] */
  tools!: string[];
  /** `paused` while its token is; `active` with a request in the last 24 hours, else `idle`. @example 'active' */
  status!: OutsideAgentStatus;
  /** One sentence on why it has this status. @example 'It sent a request within the last 24 hours.' */
  statusReason!: string;
  /** Its action requests and questions that are not decided yet, as far as the caller may see them. @example 1 */
  pendingRequests!: number;
  /** The member on whose behalf it asks. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  memberId!: string;
  /** Ids of the other members who made its token for this one. @example [] */
  madeBy!: string[];
  /** When it last sent a request, Unix milliseconds, to the minute; null: never. @example 1771401600000 */
  lastUsedAt!: number | null;
  /** When its token was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
}
