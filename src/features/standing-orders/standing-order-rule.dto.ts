import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { IsCurrency } from '../../platform/kernel/currency.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { CLOCK_TIME, IsIanaZone } from '../../platform/kernel/time-zone.js';
import { PRIORITIES, type Priority, REVERSIBILITIES, type Reversibility } from '../terms/index.js';
import {
  APPROVING_ROLES,
  BUDGET_WINDOWS,
  ON_EXCEED,
  ON_EXPIRY,
  PRESENCES,
  WEEKDAYS,
} from './standing-order.js';
import type {
  ApprovingRole,
  BudgetWindow,
  FieldCondition,
  OnExceed,
  OnExpiry,
  OrderApproval,
  OrderApprovers,
  OrderBudget,
  OrderLimits,
  OrderMatch,
  OrderWhen,
  Presence,
  Weekday,
} from './standing-order.js';
import { AreFieldConditions, HasOtherEnd } from './rule-faults.js';

const THIRTY_DAYS_IN_MINUTES = 30 * 24 * 60;

/** Which work packets the order speaks about; `{}` is every work packet. What is left out does not narrow it. */
export class StandingOrderMatch implements OrderMatch {
  /**
   * Action types, and tools of agents from outside; these also by a prefix of whole segments, such as `crm.*`. At most 50. An
   * order that allows or throttles is about tools only where it names them.
   * @example ['email.send']
   */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(50)
  @ArrayUnique()
  @MaxLength(257, { each: true })
  @Matches(/^[a-z][a-z0-9_-]{0,63}(\.[A-Za-z0-9_/-]{1,128}){0,7}(\.\*)?$/, {
    each: true,
    message:
      'each value in $property must be an action type such as email.send, or a tool such as crm.refund or crm.*',
  })
  actionTypes?: string[] | null;

  /** Names of agents from outside, as their tokens have them, at most 50. Left out: all of them. @example ['invoice-bot'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(50)
  @ArrayUnique()
  @MaxLength(100, { each: true })
  @Matches(/\S/, { each: true, message: 'each value in $property must be the name of an agent' })
  @Matches(ONE_LINE, { each: true, message: 'each value in $property must be the name of an agent' })
  agents?: string[] | null;

  /** Classes of reversibility. @example ['irreversible'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(REVERSIBILITIES, { each: true })
  reversibility?: Reversibility[] | null;

  /** Priorities of the directive. @example ['medium', 'low'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(PRIORITIES, { each: true })
  priorities?: Priority[] | null;

  /**
   * Conditions on what the work packet contains, by path: `{ "params.amount": { "$lte": 500 } }`. Operators: `$eq
   * $ne $lt $lte $gt $gte $in $nin $exists $prefix $suffix $domainIn`; all must hold. A value that is missing
   * satisfies none. For a list, every element must satisfy an order that allows, and one is enough for an order that tightens.
   * @example { "params.to": { "$domainIn": ["acme.example"] } }
   */
  @IsOptional()
  @AreFieldConditions()
  fields?: Record<string, FieldCondition> | null;
}

/** When the order speaks; without it, always. */
export class StandingOrderWhen implements OrderWhen {
  /** Whether the operator is `present` or `away`. @example ['away'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(PRESENCES, { each: true })
  presence?: Presence[] | null;

  /**
   * Days of the week. A window over midnight belongs to the day on which it opens.
   * @example ['mon', 'tue', 'wed', 'thu', 'fri']
   */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(WEEKDAYS, { each: true })
  days?: Weekday[] | null;

  /** HH:MM at which the window opens; comes with `to`. @example '08:00' */
  @IsOptional()
  @Matches(CLOCK_TIME, { message: '$property must be a time from 00:00 to 23:59' })
  @HasOtherEnd('to')
  from?: string | null;

  /** HH:MM at which it closes, on the next day when that is earlier than `from`. @example '18:00' */
  @IsOptional()
  @Matches(CLOCK_TIME, { message: '$property must be a time from 00:00 to 23:59' })
  @HasOtherEnd('from')
  to?: string | null;

  /**
   * IANA zone of the days and times. Left out: the zone of the workspace, kept with the order from then on.
   * @example 'Europe/Vienna'
   */
  @IsOptional()
  @IsIanaZone()
  timezone?: string | null;
}

/** How much may go through; what goes beyond asks, or waits when the order throttles. */
export class StandingOrderLimits implements OrderLimits {
  /** Work packets in any hour. @example 10 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  maxPerHour?: number | null;

  /** Work packets in any day. @example 50 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  maxPerDay?: number | null;

  /** Recipients of each single work packet. @example 3 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  maxRecipients?: number | null;

  /** Sum of the amounts of a day, for each currency by itself. @example 500 */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1e12)
  maxAmountPerDay?: number | null;
}

/** How much may be spent under the order. */
export class StandingOrderBudget implements OrderBudget {
  /** `day`, `week` or `month`. @example 'week' */
  @IsIn(BUDGET_WINDOWS)
  window!: BudgetWindow;

  /** How much may be spent in each window, in `currency`. @example 20 */
  @IsNumber()
  @Min(0.01)
  @Max(1e12)
  amount!: number;

  /** ISO 4217 code. A work packet in another currency is never within the budget. @example 'USD' */
  @IsCurrency()
  currency!: string;

  /** From this share on, 1 to 100, decisions mention how much is used. @example 80 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  warnPercent?: number | null;

  /** What happens to a work packet beyond the budget. Left out: `require_approval`. @example 'require_approval' */
  @IsOptional()
  @IsIn(ON_EXCEED)
  onExceed?: OnExceed | null;
}

/** Who may approve: members with one of the roles or a higher one, and the members named; at least one of the two lists. */
export class StandingOrderApprovers implements OrderApprovers {
  /** The roles, in the team of what is approved: operator, admin or owner. @example ['admin'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayUnique()
  @IsIn(APPROVING_ROLES, { each: true })
  roles?: ApprovingRole[] | null;

  /** Ids of members who may approve, at most 50. @example ['mem_01kerq74k0wtbyzq0h359nrdxj'] */
  @IsOptional()
  @IsArray()
  @ArrayNotEmpty()
  @ArrayMaxSize(50)
  @ArrayUnique()
  @Matches(/^mem_[0-9a-z]{26}$/, {
    each: true,
    message: 'each value in $property must be the id of a member',
  })
  memberIds?: string[] | null;
}

/** The terms of an approval that is asked for under this order; of several orders the strictest. */
export class StandingOrderApproval implements OrderApproval {
  /** After how many minutes the approval expires, at most 30 days. Left out: 72 hours. @example 240 */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(THIRTY_DAYS_IN_MINUTES)
  expiresInMinutes?: number | null;

  /** What happens when nobody decides in time. Left out: `reject`. @example 'reject' */
  @IsOptional()
  @IsIn(ON_EXPIRY)
  onExpiry?: OnExpiry | null;

  /** Whether the member who asked may also approve. Left out: yes. @example false */
  @IsOptional()
  @IsBoolean()
  selfApproval?: boolean | null;

  /**
   * How many people have to approve, at most 100; with more than one, nobody who asked for it or edited it is among them. Only
   * with the effect `require_approval`. Left out: 1.
   * @example 2
   */
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  quorum?: number | null;

  /** Who may approve. Only with the effect `require_approval`. Left out: everybody who may approve. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => StandingOrderApprovers)
  approvers?: StandingOrderApprovers | null;
}
