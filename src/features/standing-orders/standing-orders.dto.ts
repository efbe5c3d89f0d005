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
  MaxLength,
  ValidateNested,
} from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { Id } from '../../platform/kernel/ids.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { CAPO_ROLES, type CapoRole } from '../terms/terms.js';
import { EFFECTS, STANDING_ORDER_STATUSES } from './standing-order.js';
import type { Effect, StandingOrderRule, StandingOrderStatus } from './standing-order.js';
import {
  StandingOrderApproval,
  StandingOrderBudget,
  StandingOrderLimits,
  StandingOrderMatch,
  StandingOrderWhen,
} from './standing-order-rule.dto.js';
import { HasPaceToThrottle, OnlyWithEffect } from './standing-order-validation.js';

/** Body of `POST /standing-orders`. */
export class CreateStandingOrderBody {
  /** One line, by which decisions name the order. */
  @MaxLength(120)
  @Matches(/^(?=.*\S)\P{Cc}+$/u, { message: '$property must be one line of text' })
  name!: string;

  /** The order in a person's words. */
  @IsOptional()
  @IsString()
  @MaxLength(4000)
  text?: string | null;

  /**
   * The team whose work packets it is about. Left out: the caller's only team, else the whole workspace. Null: the whole
   * workspace, which takes an admin or a member of no team.
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: '$property must be the id of a team' })
  teamId?: Id<'team'> | null;

  /** The capos it is about. Left out: all. */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(CAPO_ROLES, { each: true })
  capos?: CapoRole[] | null;

  /** What it does with a work packet. The strictest of the orders that match decides. */
  @IsIn(EFFECTS)
  @HasPaceToThrottle()
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

  /** For `allow` and `throttle`. */
  @IsOptional()
  @OnlyWithEffect('allow', 'throttle')
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderLimits)
  limits?: StandingOrderLimits | null;

  /** For `allow` and `throttle`. */
  @IsOptional()
  @OnlyWithEffect('allow', 'throttle')
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

  /** Unix milliseconds, in the future, from which on it is silent. */
  @IsOptional()
  @IsInt()
  @IsPositive()
  @Max(8.64e15)
  expiresAt?: number | null;
}

/** Body of `POST /standing-orders/{id}/activate`; it may be empty. */
export class ActivateStandingOrderBody {
  /** That the owner knows: the order lets work packets go out that cannot be undone. */
  @IsOptional()
  @Equals(true)
  acknowledge?: true;
}

/** Query of `GET /standing-orders`. */
export class StandingOrdersQuery extends PageQuery {
  /** Only orders of this status. */
  @IsOptional()
  @IsIn(STANDING_ORDER_STATUSES)
  status: StandingOrderStatus = 'active';
}

/** A standing order as lists show it, without its rule. */
export class StandingOrderSummary {
  standingOrderId!: Id<'so'>;
  /** One line, by which decisions name the order. */
  name!: string;
  /** The order in a person's words; the name where none were given. Lists show its beginning. */
  text!: string;
  /** Null: the whole workspace. */
  teamId!: Id<'team'> | null;
  /** Null: every capo. */
  capos!: CapoRole[] | null;
  /** Only active orders decide. A shadow order is computed and reported, a draft waits for its activation. */
  status!: StandingOrderStatus;
  /** Why a new order stays a draft, and who activates it. */
  heldBecause!: string | null;
  /** Counts up with every change of the rule. */
  version!: number;
  effect!: Effect;
  limits!: StandingOrderLimits | null;
  budget!: StandingOrderBudget | null;
  /** Unix milliseconds from which on it is silent. */
  expiresAt!: number | null;
  /** The simulation of this version, and null before it has run. */
  simulation!: object | null;
  /** The safety eval of this version, and null before it has run. */
  evalRunId!: string | null;
  /** SHA-256 of the rule of this version. */
  hash!: string;
  createdBy!: ActorView;
  /** Unix milliseconds, as all times below. */
  createdAt!: number;
  updatedAt!: number;
  /** Null while it has never been active. */
  activatedAt!: number | null;
}

/** A standing order. */
export class StandingOrderView extends StandingOrderSummary implements StandingOrderRule {
  match!: StandingOrderMatch;
  when!: StandingOrderWhen | null;
  approval!: StandingOrderApproval | null;
}

export class StandingOrderPage extends PageFacts {
  items!: StandingOrderSummary[];
}
