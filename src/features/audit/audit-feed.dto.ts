import { IsIn, IsInt, IsOptional, Matches, Max, Min, ValidateIf } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { FromDigits } from '../../platform/kernel/from-digits.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';
import { UNIX_MILLISECONDS } from '../../platform/kernel/unix-milliseconds.js';

/** What one call answers at the most: a page as JSON, or a stretch as lines. */
export const MAX_PAGE = 100;
const MAX_LINES = 10_000;
const YEAR_9999 = 253_402_300_799_999;

/** Ids and roles are visible ASCII; anything else can be told to match nothing without a look. */
const NAME = /^[\x21-\x7e]{1,100}$/;
const NAME_MESSAGE = { message: '$property must be 1 to 100 visible characters' };

const FEED_FORMATS = ['json', 'jsonl', 'csv'] as const;
export type FeedFormat = (typeof FEED_FORMATS)[number];

/** Query of `GET /audit-feed`; what is left out does not narrow it. */
export class AuditFeedQuery {
  /** The id of who acted: a member, a capo, or `system`. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  @IsOptional()
  @Matches(NAME, NAME_MESSAGE)
  actor?: string;

  /**
   * An action such as `approval.approved`, or `approval.*` for every one that begins so; at most 100 characters.
   * @example 'approval.approved'
   */
  @IsOptional()
  @MaxLength(100)
  @Matches(/^[a-z_]+(\.[a-z_]+)*(\.\*)?$/, {
    message: '$property must be an action, or its beginning and .*',
  })
  action?: string;

  /** Only what concerns this capo. @example 'capo_ops' */
  @IsOptional()
  @IsIn(CAPO_ROLES)
  capo?: CapoRole;

  /** Only what concerns this team. @example 'team_01kerq74k0wtbyzq0h359nrdxj' */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: string;

  /** The id of what was acted upon. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  @IsOptional()
  @Matches(NAME, NAME_MESSAGE)
  entity?: string;

  /** Only the receipt with this id. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  @IsOptional()
  @Matches(/^rcp_[0-7][0-9a-hjkmnp-tv-z]{25}$/, { message: '$property must be the id of a receipt' })
  receipt?: string;

  /** From then on, Unix milliseconds. @example 1771401600000 */
  @IsOptional()
  @FromDigits()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  @Max(YEAR_9999)
  from?: number;

  /** Before then, Unix milliseconds. @example 1771488000000 */
  @IsOptional()
  @FromDigits()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  @Max(YEAR_9999)
  to?: number;

  /** Only receipts with a smaller number; `nextBefore` of the page before. @example 1200 */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  before?: number;

  /**
   * How many receipts at most: up to 100 as json (20 unless said), up to 10,000 as jsonl and csv (all of them unless
   * said).
   * @example 20
   */
  @IsOptional()
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(MAX_LINES)
  limit?: number;

  /** The format of the answer, instead of an Accept header. @example 'json' */
  @IsOptional()
  @IsIn(FEED_FORMATS)
  format?: FeedFormat;
}

export class ReceiptEntity {
  /** What kind of record it is. @example 'approval' */
  type!: string;
  /** The id of the record. @example 'apr_01khqw6q00tp9w1md2nw5hc13a' */
  id!: string;
}

/** What happened, and where it stands in the chain. */
export class ReceiptItem {
  /** The id of the receipt. @example 'rcp_01khqw9ewg14azqhp5x4vkpz0a' */
  receiptId!: string;
  /** Its number in the chain of the workspace, counted from 1. @example 1204 */
  seq!: number;
  /** When it happened, Unix milliseconds. @example 1771401690000 */
  at!: number;
  /** Who acted. */
  actor!: ActorView;
  /** What was done. @example 'approval.approved' */
  action!: string;
  /** What was acted upon. */
  entity!: ReceiptEntity;
  /** The directive that it belongs to; null: none. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string | null;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The capo that it concerns; null: none. @example 'capo_ops' */
  capo!: string | null;
  /** How it ended. @example 'success' */
  outcome!: 'success' | 'denied' | 'failure';
  /** One sentence for a person. @example 'Mira Novak approved the mail to jane@acme.example.' */
  summary!: string;
  /**
   * What else is recorded; the action says which fields there are.
   * @example { "contentHash": "9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f" }
   */
  details!: Record<string, unknown>;
  /** How many kills there had been; null where it does not matter. @example 0 */
  guardianEpoch!: number | null;
  /** The request that caused it; null: none did. @example 'req_01khqw6q00wy74pjf1avkzwmgz' */
  requestId!: string | null;
  /**
   * The hash of the receipt before this one, in hex.
   * @example '84fd9bac333ad79154348296204fa7f8c537a96e08983e5f73b3f5aca8e8edf7'
   */
  prevHash!: string;
  /**
   * SHA-256 over `prevHash` and the canonical JSON of the receipt, in hex.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  hash!: string;
}

export class AuditPage {
  /** The receipts of this page, newest first. */
  items!: ReceiptItem[];
  /** Send it as `before` to read on; null behind the last page. @example 1204 */
  nextBefore!: number | null;
}

/** Query of `GET /audit-feed/verify`: what was kept elsewhere, or nothing. */
export class VerifyQuery {
  /** The `seq` of a `receiptHead` that was kept elsewhere; comes with `heldHash`. @example 1204 */
  @ValidateIf(isHeldNamed)
  @FromDigits()
  @IsInt()
  @Min(1)
  @Max(Number.MAX_SAFE_INTEGER)
  heldSeq?: number;

  /**
   * The `hash` of that head, 64 lower-case hex digits; comes with `heldSeq`.
   * @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa'
   */
  @ValidateIf(isHeldNamed)
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be a SHA-256 in lower-case hex' })
  heldHash?: string;

  /**
   * The id of a signing key that was kept elsewhere: it must still be trusted. 16 lower-case hex digits.
   * @example '9deb65b8788f41ff'
   */
  @IsOptional()
  @Matches(/^[0-9a-f]{16}$/, {
    message: '$property must be the id of a signing key, 16 digits in lower-case hex',
  })
  heldKeyId?: string;
}

/** Half a head names nothing, so either half makes both required. */
function isHeldNamed({ heldSeq, heldHash }: VerifyQuery): boolean {
  return heldSeq !== undefined || heldHash !== undefined;
}
