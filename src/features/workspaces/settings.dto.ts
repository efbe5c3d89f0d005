import { Type } from 'class-transformer';
import { IsIn, IsObject, IsOptional, Matches, ValidateBy, ValidateNested } from 'class-validator';
import { IsCurrency } from '../../platform/kernel/currency.js';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { IsOmittable } from '../../platform/kernel/omittable.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { CLOCK_TIME, IsIanaZone } from '../../platform/kernel/time-zone.js';
import { IsVisibleName } from '../../platform/kernel/visible-name.js';
import type { SecondFactorSetting } from './workspaces.entity.js';
import { ModelBudgetView, NamesALimit } from './model-budget.dto.js';
import { ChangeNotifications, NotificationsView } from './notifications.dto.js';
import { ChangeRetention, RetentionView } from './retention.dto.js';

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
export class ChangeSender {
  /** Who signs; null: the name of the member who hands in the directive. @example 'Mira Novak' */
  @IsOptional()
  @IsVisibleName(100)
  name?: string | null;

  /**
   * What stands at the end of a mail, below the name; null: nothing.
   * @example 'Northwind Customer Care\n+43 1 234 5678'
   */
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
  /**
   * What stands at the end of a mail, below the name; null: nothing.
   * @example 'Northwind Customer Care\n+43 1 234 5678'
   */
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

  /**
   * ISO 4217 code: the currency in which sums are given. Amounts in others stand beside them, unconverted.
   * @example 'EUR'
   */
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
