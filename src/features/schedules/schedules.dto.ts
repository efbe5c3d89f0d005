import {
  ApiProperty,
  ApiPropertyOptional,
  IntersectionType,
  OmitType,
  PartialType,
  PickType,
} from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsDefined, IsIn, IsObject, IsOptional, Matches, ValidateBy, ValidateNested } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { CLOCK_TIME, IsIanaZone } from '../../platform/kernel/time-zone.js';
import { DirectiveBody, QueuedDirectiveBody } from '../directives/index.js';
import { WEEKDAYS, type Weekday } from '../standing-orders/index.js';
import type { CapoRole, Priority } from '../terms/index.js';
import {
  type Missed,
  MISSED,
  SCHEDULE_STATUSES,
  type ScheduledDirective,
  type ScheduleStatus,
} from './schedule.entity.js';
import { type Period, PERIODS, type ScheduleRule } from './schedule-rule.js';

/** The parameter of the paths, as it is documented. */
export const SCHEDULE_PARAM = {
  name: 'scheduleId',
  description: 'The id of the schedule.',
  example: 'sch_01khqw6q006hs686p8sr7arg9t',
};

const ON = {
  description:
    'For `week` the day of the week, for `month` the day of the month, where 29 to 31 mean the last day of a shorter month; left out for `day`.',
  example: 'mon',
  oneOf: [
    { type: 'string', enum: [...WEEKDAYS] },
    { type: 'integer', minimum: 1, maximum: 31 },
  ],
};

/** What `on` must be, by what `every` says. */
const DAYS: Record<Period, { must: string; isDay: (value: unknown) => boolean }> = {
  day: { must: 'be left out where every is day', isDay: (value) => value === undefined || value === null },
  week: {
    must: `be one of ${WEEKDAYS.join(', ')} where every is week`,
    isDay: (value) => WEEKDAYS.some((day) => day === value),
  },
  month: {
    must: 'be a whole number from 1 to 31 where every is month',
    isDay: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 31,
  },
};

function IsDayOfPeriod(): PropertyDecorator {
  const ruleFor = (body: object | undefined) => {
    const { every } = body as ScheduleRuleBody;
    // Another rule refuses what is no period.
    return PERIODS.includes(every) ? DAYS[every] : undefined;
  };
  return ValidateBy({
    name: 'isDayOfPeriod',
    validator: {
      validate: (value, given) => ruleFor(given?.object)?.isDay(value) ?? true,
      defaultMessage: (given) => `$property must ${ruleFor(given?.object)?.must}`,
    },
  });
}

/** When a schedule is due. */
export class ScheduleRuleBody {
  /** day, week or month @example 'week' */
  @IsIn(PERIODS)
  every!: Period;

  @ApiPropertyOptional(ON)
  @IsDayOfPeriod()
  on?: Weekday | number;

  /**
   * HH:MM as the clock of the zone shows it. Where it shows the time twice the first counts; a time that it skips is as long
   * after midnight as if it did not.
   * @example '09:00'
   */
  @Matches(CLOCK_TIME, { message: '$property must be a time from 00:00 to 23:59' })
  at!: string;

  /** UTC or an IANA zone; left out: the workspace's, kept with the schedule from then on. @example 'Europe/Vienna' */
  @IsOptional()
  @IsIanaZone()
  timezone?: string;
}

/** What is handed in at each due time. */
export class ScheduledDirectiveBody extends IntersectionType(
  OmitType(QueuedDirectiveBody, ['deadline', 'teamId'] as const),
  PickType(DirectiveBody, ['requiresApproval'] as const),
) {}

/** Body of `POST /schedules`. */
export class CreateScheduleBody {
  /** One line of at most 120 characters, by which receipts name the schedule. @example 'Monday checklist' */
  @IsPlainText(120, { oneLine: true })
  name!: string;

  /** What is handed in each time, as for `POST /directive`. */
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => ScheduledDirectiveBody)
  directive!: ScheduledDirectiveBody;

  /** When. */
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => ScheduleRuleBody)
  rule!: ScheduleRuleBody;

  /**
   * How due times are handled that passed by more than 15 minutes, after an outage or a kill: `once` hands in one directive for
   * all of them, `skip` none. `once` unless said.
   * @example 'once'
   */
  @IsOptional()
  @IsIn(MISSED)
  missed?: Missed;

  /**
   * The team it belongs to; left out: the caller's only team, for owner and admin of the workspace none.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string;
}

/** Body of `PATCH /schedules/{scheduleId}`: what is left out stays; `directive` and `rule` are replaced as a whole. */
export class ChangeScheduleBody extends PartialType(OmitType(CreateScheduleBody, ['teamId'] as const)) {
  /** `paused` stops it; `active` lets it run again from its next due time on, with the rights of the caller. @example 'paused' */
  @IsOptional()
  @IsIn(SCHEDULE_STATUSES)
  status?: ScheduleStatus;
}

export class SchedulesQuery extends TeamPageQuery {
  /** Only schedules of this status. @example 'active' */
  @IsOptional()
  @IsIn(SCHEDULE_STATUSES)
  status?: ScheduleStatus;
}

/** When a schedule is due. */
export class ScheduleRuleView implements ScheduleRule {
  /** day, week or month @example 'week' */
  every!: Period;
  @ApiPropertyOptional(ON)
  on?: Weekday | number;
  /** HH:MM as the clock of the zone shows it. @example '09:00' */
  at!: string;
  /** UTC or an IANA zone. @example 'Europe/Vienna' */
  timezone!: string;
}

/** What is handed in at each due time. */
export class ScheduledDirectiveView implements ScheduledDirective {
  /** The plain-language instruction. @example 'Write a document "Monday": Check the open offers.' */
  text!: string;
  /** The capo that is to do it; null: the consigliere chooses each time. @example 'capo_revenue' */
  capo!: CapoRole | null;
  /** high, medium or low @example 'medium' */
  priority!: Priority;
  /** Whether the output queues for review before anything is sent. @example true */
  requiresApproval!: boolean;
  /** Extra context passed to the capo. @example { "order": 17 } */
  context!: Record<string, unknown>;
}

/** A schedule as lists show it. */
export class ScheduleSummary {
  /** The id of the schedule. @example 'sch_01khqw6q006hs686p8sr7arg9t' */
  scheduleId!: string;
  /** One line, by which receipts name the schedule. @example 'Monday checklist' */
  name!: string;
  /** The first line of what it hands in. @example 'Write a document "Monday": Check the open offers.' */
  title!: string;
  /** When it is due. */
  rule!: ScheduleRuleView;
  /** How due times are handled that passed by more than 15 minutes. @example 'once' */
  missed!: Missed;
  /** active or paused @example 'active' */
  status!: ScheduleStatus;
  /** Why it is paused; null while it is active. */
  pausedReason!: string | null;
  /** When it is due next, Unix milliseconds; null while it is paused. @example 1771833600000 */
  nextRunAt!: number | null;
  /** When it handed in a directive last, Unix milliseconds; null: never. @example 1771228800412 */
  lastRunAt!: number | null;
  /** The directive that it handed in last; `GET /directives?scheduleId=` lists all. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  lastDirectiveId!: string | null;
  /** The team it belongs to, and its directives with it; null: none. */
  teamId!: string | null;
  /** With whose rights it runs: the member who made, changed or resumed it last. */
  @ApiProperty({ type: () => ActorView })
  owner!: ActorView;
  /** Who made it. */
  @ApiProperty({ type: () => ActorView })
  createdBy!: ActorView;
  /** When it was made, Unix milliseconds. @example 1771200000000 */
  createdAt!: number;
  /** When it was changed last, Unix milliseconds. @example 1771200000000 */
  updatedAt!: number;
}

/** A schedule. */
export class ScheduleView extends OmitType(ScheduleSummary, ['title'] as const) {
  /** What it hands in each time. */
  directive!: ScheduledDirectiveView;
  /**
   * The next five times when it is due, Unix milliseconds; none while it is paused.
   * @example [1768806000000, 1769410800000, 1770015600000, 1770620400000, 1771225200000]
   */
  nextRunsAt!: number[];
}

/** A page of schedules, newest first. */
export class SchedulePage extends PageFacts {
  /** Without contexts, and with the first line of the text alone. */
  items!: ScheduleSummary[];
}
