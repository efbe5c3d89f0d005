import { PickType } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import type { Tier } from '../../platform/auth/caller.js';
import { IsCurrency } from '../../platform/kernel/currency.js';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { IsOmittable } from '../../platform/kernel/decorators.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { CLOCK_TIME, IsIanaZone } from '../../platform/kernel/time-zone.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import { TierLimits } from '../../platform/rate-limit/tier-limits.dto.js';
import { MemberView } from './members.dto.js';
import { ChangeNotifications, NotificationsView } from './notifications.dto.js';
import type { SecondFactorSetting } from './workspaces.entity.js';

/** class-validator's own check of decimals passes numbers that JavaScript writes with an exponent. */
function IsInMillionths(): PropertyDecorator {
  return ValidateBy({
    name: 'isInMillionths',
    validator: {
      validate: (value) => typeof value === 'number' && Number(value.toFixed(6)) === value,
      defaultMessage: () => '$property must have at most six decimals',
    },
  });
}

/** How much the model calls of a workspace may use on one day of its zone. */
class ModelBudgetView {
  /** Where the prices of the model are known: in `currency`; 0 stops every call. Null: what the tier has. @example 25 */
  @IsOptional()
  @IsNumber({ allowNaN: false, allowInfinity: false })
  @IsInMillionths()
  @Min(0)
  @Max(1_000_000)
  amount?: number | null;

  /** Always US dollars, in which the prices of the model are given. @example 'USD' */
  @IsOptional()
  @IsIn(['USD'])
  currency?: 'USD';

  /** Where they are not known: tokens, read and written; 0 stops every call. Null: what the tier has. @example 2000000 */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000_000_000)
  tokens?: number | null;
}

/** An empty budget would be the tier's, which null says more clearly. */
function NamesALimit(): PropertyDecorator {
  return ValidateBy({
    name: 'namesALimit',
    validator: {
      validate: (budget: Partial<ModelBudgetView> | null) =>
        (budget?.amount ?? null) !== null || (budget?.tokens ?? null) !== null,
      defaultMessage: () => '$property must name an amount or tokens; null as a whole is what the tier has',
    },
  });
}

/** For how many days what is kept for a while is kept, unless the workspace says otherwise (docs/retention.md). */
export const RETENTION_DAYS = { deliveries: 30, signals: 365, withdrawnDocuments: 365, partnerUpdates: 400 };

/** The fewest days: receivers and readers look back as far. `app.delete_expired` takes no other number either. */
export const FEWEST_DAYS: Record<keyof typeof RETENTION_DAYS, number> = {
  deliveries: 1,
  signals: 30,
  withdrawnDocuments: 1,
  // The trends of the buyers look back seven days.
  partnerUpdates: 30,
};
export const MOST_DAYS = 3_650;

/** Days by subject; null: the default. What is left out stays as it is. */
export class ChangeRetention {
  /** Deliveries that have ended, and their events; 30 unless said otherwise. @example 90 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.deliveries)
  @Max(MOST_DAYS)
  deliveries?: number | null;

  /** Signals that were acknowledged or withdrawn; 365 unless said otherwise. @example 365 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.signals)
  @Max(MOST_DAYS)
  signals?: number | null;

  /** Documents that were withdrawn; 365 unless said otherwise. @example 365 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.withdrawnDocuments)
  @Max(MOST_DAYS)
  withdrawnDocuments?: number | null;

  /** Updates of the partner; 400 unless said otherwise. @example 400 */
  @IsOptional()
  @IsInt()
  @Min(FEWEST_DAYS.partnerUpdates)
  @Max(MOST_DAYS)
  partnerUpdates?: number | null;
}

/** For how many days each subject is kept. */
class RetentionView {
  /** Deliveries that have ended, and their events. @example 90 */
  deliveries!: number;
  /** Signals that were acknowledged or withdrawn. @example 365 */
  signals!: number;
  /** Documents that were withdrawn. @example 365 */
  withdrawnDocuments!: number;
  /** Updates of the partner. @example 400 */
  partnerUpdates!: number;
}

/** What holds: the stored days where they are within the bounds, as `app.delete_expired` reads them, else the default. */
export function retentionOf(stored: Readonly<Record<string, unknown>>): RetentionView {
  const days = Object.entries(RETENTION_DAYS).map(([name, standard]) => {
    const own = stored[name];
    const isFit =
      Number.isInteger(own) &&
      (own as number) >= FEWEST_DAYS[name as keyof RetentionView] &&
      (own as number) <= MOST_DAYS;
    return [name, isFit ? own : standard];
  });
  return Object.fromEntries(days) as unknown as RetentionView;
}

export class QuietHours {
  /** HH:MM in the workspace's zone. @example '22:00' */
  @Matches(CLOCK_TIME, { message: '$property must be a time from 00:00 to 23:59' })
  from!: string;

  /** HH:MM; not later than `from`: the next day. @example '07:00' */
  @Matches(CLOCK_TIME, { message: '$property must be a time from 00:00 to 23:59' })
  @IsAnotherTime()
  to!: string;
}

/** Who signs the mails of the workspace: omitted fields stay unchanged, null restores the default. */
class ChangeSender {
  /** Who signs; null: the name of the member who hands in the directive. @example 'Mira Novak' */
  @IsOptional()
  @IsVisibleName(100)
  name?: string | null;

  /** What stands at the end of a mail, below the name; null: nothing. @example 'Northwind Customer Care\n+43 1 234 5678' */
  @IsOptional()
  @IsPlainText(1_000)
  signature?: string | null;

  /**
   * The address that answers go to (Reply-To), part of every mail that is drafted from now on; null: answers go to the
   * sender of the mail.
   * @example 'care@northwind.example'
   */
  @IsOptional()
  @IsMailAddress()
  replyTo?: string | null;
}

/** Who signs the mails of the workspace. */
export class SenderView {
  /** Who signs; null: the name of the member who hands in the directive. @example 'Mira Novak' */
  name!: string | null;
  /** What stands at the end of a mail, below the name; null: nothing. @example 'Northwind Customer Care\n+43 1 234 5678' */
  signature!: string | null;
  /**
   * The address that answers go to (Reply-To); null: answers go to the sender of the mail.
   * @example 'care@northwind.example'
   */
  replyTo!: string | null;
}

/** Body of `PUT /settings`: omitted fields stay unchanged. */
export class ChangeSettingsBody {
  /** UTC or an IANA zone. @example 'Europe/Vienna' */
  @IsOmittable()
  @IsIanaZone()
  timezone?: string;

  /** A BCP 47 language tag. @example 'de-AT' */
  @IsOmittable()
  @IsLanguageTag()
  locale?: string;

  /** ISO 4217 code: the currency in which sums are given. Amounts in others stand beside them, unconverted. @example 'EUR' */
  @IsOmittable()
  @IsCurrency()
  currency?: string;

  /** Whether the operator is present or away. @example 'away' */
  @IsOmittable()
  @IsIn(['present', 'away'])
  presence?: 'present' | 'away';

  /** When nobody is to be disturbed; null: there are none. */
  @IsOptional()
  // A list of them would pass as nested.
  @IsObject()
  @ValidateNested()
  @Type(() => QuietHours)
  quietHours?: QuietHours | null;

  /** The mails that members get unless they choose otherwise; omitted fields stay unchanged. */
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ChangeNotifications)
  notifications?: ChangeNotifications;

  /** Who signs the mails of the workspace, and where answers go. */
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ChangeSender)
  sender?: ChangeSender;

  /**
   * How much model calls may use on one day; directives wait for the next day, or for more. Null: what the tier has, which
   * is 1, 10 or 100 US dollars (free, pro, enterprise), or 500,000, 5,000,000 or 50,000,000 tokens.
   */
  @IsOptional()
  @IsObject()
  @NamesALimit()
  @ValidateNested()
  @Type(() => ModelBudgetView)
  modelBudget?: ModelBudgetView | null;

  /** For how many days what is not kept for ever is kept; by subject, and omitted fields stay unchanged. */
  @IsOmittable()
  @IsObject()
  @ValidateNested()
  @Type(() => ChangeRetention)
  retention?: ChangeRetention;

  /**
   * Who must have a second factor to use the admin area: nobody (optional), owners and admins (required), or everyone. Only an
   * owner changes it.
   * @example 'required'
   */
  @IsOmittable()
  @IsIn(['optional', 'required', 'everyone'])
  secondFactor?: SecondFactorSetting;
}

/** The workspace's settings. */
export class SettingsView {
  /** UTC or an IANA zone. @example 'Europe/Vienna' */
  timezone!: string;
  /** A BCP 47 language tag. @example 'de-AT' */
  locale!: string;
  /** ISO 4217 code: the currency in which sums are given. @example 'EUR' */
  currency!: string;
  /** Whether the operator is present or away. @example 'away' */
  presence!: 'present' | 'away';
  /** When nobody is to be disturbed; null: there are none. */
  quietHours!: QuietHours | null;
  /** The mails that members get unless they choose otherwise. */
  notifications!: NotificationsView;
  /** Who signs the mails of the workspace, and where answers go. */
  sender!: SenderView;
  /** How much model calls may use on one day; null: what the tier has. */
  modelBudget!: ModelBudgetView | null;
  /** For how many days what is not kept for ever is kept, by subject. */
  retention!: RetentionView;
  /**
   * Who must have a second factor to use the admin area: nobody (optional), owners and admins (required), or everyone.
   * @example 'optional'
   */
  secondFactor!: SecondFactorSetting;
}

function IsAnotherTime(): PropertyDecorator {
  return ValidateBy({
    name: 'isAnotherTime',
    validator: {
      // From 22:00 to 22:00 could mean no hour or all of them.
      validate: (to, args) => to !== (args!.object as QuietHours).from,
      defaultMessage: () => '$property must differ from the time in from',
    },
  });
}

function IsLanguageTag(): PropertyDecorator {
  return ValidateBy({
    name: 'isLanguageTag',
    validator: {
      validate: (tag) => typeof tag === 'string' && tag.length <= 85 && isLanguageTag(tag),
      defaultMessage: () => '$property must be a BCP 47 language tag such as en or de-AT',
    },
  });
}

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

const MAX_NAME = 60;

/** Body of `PATCH /api/admin/workspace`. */
export class WorkspaceBody {
  /** One line of 1 to 60 characters: the name that members and mail recipients see. @example 'Northwind' */
  @IsVisibleName(MAX_NAME)
  name!: string;
}

/** The workspace that is open. */
export class WorkspaceView extends TierLimits {
  /** The id of the workspace. @example 'wks_01kerpxzm02h8rz4dtvnsqab5g' */
  workspaceId!: string;
  /** The workspace's name. @example 'Northwind' */
  name!: string;
  /** free, pro or enterprise; it comes from the licence, and is changed by no request. @example 'pro' */
  tier!: Tier;
  /**
   * Whether it is the first workspace of the service, whose owners make the others, and which cannot be deleted.
   * @example false
   */
  isFirst!: boolean;
  /** When it was made, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
}

/** The workspace that is open, and what is left of the requests that its tier allows. */
export class WorkspaceUsageView extends WorkspaceView {
  /** Requests left in this minute, after this one; null is unlimited. @example 112 */
  leftThisMinute!: number | null;
  /** Requests left on this day of UTC, after this one; null is unlimited. @example 9204 */
  leftToday!: number | null;
}

export class ProfileOperator extends PickType(MemberView, ['memberId', 'email', 'displayName', 'role']) {
  /** How the caller is called. @example 'Mira Novak' */
  handle!: string;
  /** free, pro or enterprise @example 'pro' */
  tier!: Tier;
}

class ProfileAutonomy {
  /** The guardian's mode. @example 'guardrailed' */
  mode!: string;
  /** Whether the operator is present or away. @example 'present' */
  presence!: 'present' | 'away';
  /** When nobody is to be disturbed; null: there are none. */
  quietHours!: QuietHours | null;
}

export class ProfileDevice {
  /** What the client calls itself (`POST /api/local/hydrate`). @example 'mira-laptop' */
  deviceId!: string;
  /** When it was here for the first time, Unix milliseconds. @example 1771228800000 */
  firstSeenAt!: number;
  /** When it was here last, Unix milliseconds. @example 1771401690000 */
  lastSeenAt!: number;
}

/** A skill pack that the workspace has. */
export class InstalledPackView {
  /** The id of the pack; it stays through upgrades. @example 'pck_01kerr2kg0s8c5m2v7x4z9b1nd' */
  packId!: string;
  /** What its publisher calls it. @example 'invoice-reminders' */
  name!: string;
  /** Who signed it, by the name in SKILL_PACK_PUBLISHERS. @example 'acme' */
  publisher!: string;
  /** The version that was installed last. @example '1.0.0' */
  version!: string;
  /** installing, installed or failed @example 'installed' */
  status!: string;
}

/** Who calls, and how far the workspace acts by itself. */
export class Profile {
  /** Who calls. */
  operator!: ProfileOperator;
  /** How far the workspace acts by itself. */
  autonomy!: ProfileAutonomy;
  /** The skill packs that the workspace has, by name. */
  packs!: InstalledPackView[];
  /** The tier of the workspace: free, pro or enterprise. @example 'pro' */
  tier!: Tier;
  /** The devices of the caller, at most 20, the one that was here last first. */
  devices!: ProfileDevice[];
}
