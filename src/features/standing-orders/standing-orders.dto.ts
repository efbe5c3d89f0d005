import { ApiPropertyOptional, IntersectionType, OmitType, PartialType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayNotEmpty,
  ArrayUnique,
  Equals,
  IsArray,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsPositive,
  IsString,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { Id } from '../../platform/kernel/ids.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { UNIX_MILLISECONDS } from '../../platform/kernel/decorators.js';
import { type CapoRole, CAPO_ROLES } from '../terms/index.js';
import { SimulationSummary } from './simulation/simulation.dto.js';
import {
  type Effect,
  EFFECTS,
  STANDING_ORDER_STATUSES,
  type StandingOrderRule,
  type StandingOrderStatus,
} from './standing-order.js';
import {
  StandingOrderApproval,
  StandingOrderBudget,
  StandingOrderLimits,
  StandingOrderMatch,
  StandingOrderWhen,
} from './standing-order-rule.dto.js';

export const VERSION_PARAM = {
  name: 'version',
  description: 'The number of the version.',
  example: '1',
};

/** A version of a standing order as lists show it, without its rule. Versions never change. */
export class StandingOrderVersionSummary {
  /** Counts up with every change of the order. @example 1 */
  version!: number;
  /** Whether it is what the order says now. @example true */
  isCurrent!: boolean;
  /** The order's name then. @example 'Delivery mail to Acme' */
  name!: string;
  /** The order in a person's words. Lists show its beginning. @example 'Mail about deliveries may go to Acme on workdays.' */
  text!: string;
  /** The capos it was about; null: every capo. @example ['capo_ops'] */
  capos!: CapoRole[] | null;
  /** What it did with a work packet. @example 'allow' */
  effect!: Effect;
  /** How much could go through; null: no limits. */
  limits!: StandingOrderLimits | null;
  /** How much could be spent; null: no budget. */
  budget!: StandingOrderBudget | null;
  /** From when on it is silent, Unix milliseconds; null: never. @example 1798758000000 */
  expiresAt!: number | null;
  /** SHA-256 of the rule, in hex. @example '7369949b47ef2c6ba26fbbee659cedc76123a75c17d321a52d8d1ef35e948042' */
  hash!: string;
  /** Who wrote this version. */
  createdBy!: ActorView;
  /** When it was written, Unix milliseconds. @example 1768209600000 */
  createdAt!: number;
}

/** A version of a standing order with its rule. */
export class StandingOrderVersionView extends StandingOrderVersionSummary {
  /** Which work packets it was about. */
  match!: StandingOrderMatch;
  /** When it spoke; null: always. */
  when!: StandingOrderWhen | null;
  /** The terms on which it asked; null: the usual ones. */
  approval!: StandingOrderApproval | null;
}

export class StandingOrderVersionPage extends PageFacts {
  /** The versions of this page, newest first. */
  items!: StandingOrderVersionSummary[];
}

/** The parameter of the paths, as it is documented. */
export const STANDING_ORDER_PARAM = {
  name: 'standingOrderId',
  description: 'The id of the standing order.',
  example: 'so_01kerr2kg0xaen9f9sdsg8py4z',
};

/** The optional header of what changes an order, as it is documented. */
export const ORDER_IF_MATCH = {
  name: 'if-match',
  required: false,
  description:
    'The `hash` of the order as it was read, in quotes or bare: another one is 412. `*`, or none, asks for nothing.',
  schema: { type: 'string', example: '"7369949b47ef2c6ba26fbbee659cedc76123a75c17d321a52d8d1ef35e948042"' },
} as const;

/** Body of `POST /standing-orders`. */
export class CreateStandingOrderBody {
  /** One line of at most 120 characters, by which decisions name the order. @example 'Delivery mail to Acme' */
  @MaxLength(120)
  @Matches(/\S/, { message: '$property must be one line of text' })
  @Matches(ONE_LINE, { message: '$property must be one line of text' })
  @IsNotBlank()
  name!: string;

  /** The order in a person's words, at most 4,000 characters. @example 'Mail about deliveries may go to Acme on workdays.' */
  @IsOptional()
  @IsString()
  @MaxLength(4000)
  text?: string | null;

  /**
   * The team whose work packets it is about. Left out: the caller's only team; for owner and admin, and for
   * members of no team, the whole workspace. Null: the whole workspace, which takes an admin or a member of no team.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: Id<'team'> | null;

  /** The capos it is about. Left out: all. @example ['capo_ops'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(CAPO_ROLES, { each: true })
  capos?: CapoRole[] | null;

  /** What it does with a work packet. The strictest of the orders that match decides. @example 'allow' */
  @IsIn(EFFECTS)
  effect!: Effect;

  /** Which work packets it is about. Never left out: an order about every work packet says so, with `{}`. */
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderMatch)
  match!: StandingOrderMatch;

  /** When it speaks. Left out: always. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderWhen)
  when?: StandingOrderWhen | null;

  /** How much may go through; for `allow` and `throttle`. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderLimits)
  limits?: StandingOrderLimits | null;

  /** How much may be spent; for `allow` and `throttle`. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderBudget)
  budget?: StandingOrderBudget | null;

  /** The terms on which it asks. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderApproval)
  approval?: StandingOrderApproval | null;

  /** From when on it is silent, Unix milliseconds in the future. Left out: never. @example 1798758000000 */
  @IsOptional()
  @IsInt(UNIX_MILLISECONDS)
  @IsPositive()
  @Max(8.64e15)
  expiresAt?: number | null;

  /** Keeps it a draft, to read its simulation before it is activated. @example true */
  @IsOptional()
  @Equals(true)
  draft?: true;
}

/** What an owner acknowledges, and of which version. */
class Acknowledgement {
  /** That the owner knows: from now on the order lets work packets go out that cannot be undone. @example true */
  @IsOptional()
  @Equals(true)
  acknowledge?: true;

  /**
   * The version that was read; while the order has another, nothing is changed (412). An acknowledgement takes it, or
   * If-Match.
   * @example 1
   */
  @IsOptional()
  @IsInt()
  @IsPositive()
  version?: number;
}

/**
 * Body of `PATCH /standing-orders/{id}`: what is to be different from now on. What is left out stays as it is, and null
 * takes away what may be left out. The team stays: an order of another team is another order.
 */
export class ReviseStandingOrderBody extends IntersectionType(
  PartialType(OmitType(CreateStandingOrderBody, ['teamId', 'draft']), { skipNullProperties: false }),
  Acknowledgement,
) {}

/** Body of `POST /standing-orders/{id}/rollback`. */
export class RollBackStandingOrderBody {
  /**
   * The version whose content the order gets again, as a further version. An acknowledgement holds for what it says.
   * @example 1
   */
  @IsInt()
  @Min(1)
  @Max(2_147_483_647)
  version!: number;

  /** That the owner knows: from now on the order lets work packets go out that cannot be undone. @example true */
  @IsOptional()
  @Equals(true)
  acknowledge?: true;
}

/** Body of `POST /standing-orders/{id}/activate`; it may be empty. */
export class ActivateStandingOrderBody extends Acknowledgement {
  /** Only tries the order out: decisions say what it would have changed, and it changes nothing. @example true */
  @IsOptional()
  @Equals(true)
  shadow?: true;
}

/** Query of `GET /standing-orders`. */
export class StandingOrdersQuery extends PageQuery {
  /** Only orders of this status, or `all`; active ones unless said otherwise. @example 'active' */
  @ApiPropertyOptional()
  @IsOptional()
  @IsIn([...STANDING_ORDER_STATUSES, 'all'])
  status: StandingOrderStatus | 'all' = 'active';
}

/** A standing order in short, without its rule. */
export class StandingOrderSummary {
  /** The id of the standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: Id<'so'>;
  /** One line, by which decisions name the order. @example 'Delivery mail to Acme' */
  name!: string;
  /**
   * The order in a person's words; the name where none were given. Lists show its beginning.
   * @example 'Mail about deliveries may go to Acme on workdays.'
   */
  text!: string;
  /** The team whose work packets it is about; null: the whole workspace. */
  teamId!: Id<'team'> | null;
  /** The capos it is about; null: every capo. @example ['capo_ops'] */
  capos!: CapoRole[] | null;
  /** Only active orders decide. A shadow order is computed and reported, a draft waits for its activation. @example 'active' */
  status!: StandingOrderStatus;
  /** Why a new order stays a draft, and who activates it; null: it does not. */
  heldBecause!: string | null;
  /** Counts up with every change of the rule. @example 1 */
  version!: number;
  /** What it does with a work packet. The strictest of the orders that match decides. @example 'allow' */
  effect!: Effect;
  /** How much may go through; null: no limits. */
  limits!: StandingOrderLimits | null;
  /** How much may be spent; null: no budget. */
  budget!: StandingOrderBudget | null;
  /** From when on it is silent, Unix milliseconds; null: never. @example 1798758000000 */
  expiresAt!: number | null;
  /** The simulation of this version; null before it has run. */
  simulation!: SimulationSummary | null;
  /**
   * The safety eval of the last time that it was to become active; null before that.
   * @example 'evl_01kerr2p5t7w9y1b3d5f7h9k1m'
   */
  evalRunId!: string | null;
  /** SHA-256 of the rule of this version, in hex. @example '7369949b47ef2c6ba26fbbee659cedc76123a75c17d321a52d8d1ef35e948042' */
  hash!: string;
  /** Who wrote it. */
  createdBy!: ActorView;
  /** When it was written, Unix milliseconds. @example 1768209600000 */
  createdAt!: number;
  /** When it was last changed, Unix milliseconds. @example 1768209900000 */
  updatedAt!: number;
  /** When it was last activated, Unix milliseconds; null while it has never been active. @example 1768209900000 */
  activatedAt!: number | null;
}

/** A standing order. */
export class StandingOrderView extends StandingOrderSummary implements StandingOrderRule {
  /**
   * Of a new order or version: tools that are not registered and agents that nobody has made a token for, each in a sentence; left
   * out where there are none.
   * @example ['No tool crm.payout is registered, so the conditions on its parameters are not checked.']
   */
  warnings?: string[];
  /** Which work packets it is about. */
  match!: StandingOrderMatch;
  /** When it speaks; null: always. */
  when!: StandingOrderWhen | null;
  /** The terms on which it asks; null: the usual ones. */
  approval!: StandingOrderApproval | null;
}

/** How much of its limits an order has used. */
class UsedOfOrder {
  /** What it let through within the last hour, which `maxPerHour` bounds. @example 2 */
  lastHour!: number;
  /** What it let through within the last 24 hours, which `maxPerDay` bounds. @example 9 */
  lastDay!: number;
}

export class StandingOrderQuery {
  /** `used`: also how much of its limits is used. @example 'used' */
  @IsOptional()
  @IsIn(['used'])
  include?: 'used';
}

/** A standing order, and where it was asked for how much of its limits is used. */
export class OneStandingOrderView extends StandingOrderView {
  /** Left out unless it was asked for. Null where the order counts what the caller may not read: it is the whole workspace's, and the caller neither admin nor owner. */
  used?: UsedOfOrder | null;
}

/** A standing order that has just been created. */
export class NewStandingOrderView extends StandingOrderView {
  /**
   * Of a draft: where it is listed, since `GET /standing-orders` lists the active ones unless a status is asked for.
   * @example '/api/pro/standing-orders?status=draft'
   */
  listedAt?: string;
}

/** A standing order as lists show it. */
export class ListedStandingOrder extends StandingOrderSummary {
  /** Which work packets it is about; null where that is longer than 2,000 characters. The single record shows it. */
  match!: StandingOrderMatch | null;
  /** When it speaks; null: always. */
  when!: StandingOrderWhen | null;
  /** The terms on which it asks; null: the usual ones. */
  approval!: StandingOrderApproval | null;
}

export class StandingOrderPage extends PageFacts {
  /** The standing orders of this page, newest first. */
  items!: ListedStandingOrder[];
}
