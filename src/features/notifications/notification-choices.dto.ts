import { Type } from 'class-transformer';
import { IsBoolean, IsObject, IsOptional, ValidateIf, ValidateNested } from 'class-validator';
import {
  ChangeNotifications,
  type NotifyChoice,
  QuietHours,
  type ReportChoice,
} from '../workspaces/index.js';

/** What holds for the caller. */
export class NotificationChoiceView {
  /** Approvals: `all` of them, only `urgent` ones, a `digest` once a day (urgent ones at once), or `none`. @example 'digest' */
  approvals!: NotifyChoice;
  /** Escalations: `all` of them, only `urgent` ones, a `digest` once a day (urgent ones at once), or `none`. @example 'all' */
  escalations!: NotifyChoice;
  /** Daily reports that admins have mailed to a member: `all`, or `none` of them. @example 'all' */
  reports!: ReportChoice;
  /** When only what is urgent is mailed, in the workspace's zone; null: there are none. */
  quietHours!: QuietHours | null;
}

/** What the caller has chosen; null: what the settings of the workspace say. */
export class OwnNotificationChoice {
  /** Approvals. @example 'digest' */
  approvals!: NotifyChoice | null;
  /** Escalations. @example null */
  escalations!: NotifyChoice | null;
  /** Daily reports that admins have mailed to the caller. @example null */
  reports!: ReportChoice | null;
  /** The caller's own quiet hours. */
  quietHours!: QuietHours | null;
  /** True: no quiet hours hold for the caller. @example false */
  atAnyHour!: boolean;
}

/** Who in the workspace is mailed. */
export class MailedView {
  /**
   * The addresses that are mailed about approvals, up to 200; of a team's, those of its members and of owner and admins.
   * @example ['mira@northwind.example']
   */
  approvals!: string[];
  /** The addresses that are mailed about escalations, up to 200. @example ['mira@northwind.example'] */
  escalations!: string[];
  /** The addresses that the Daily Report is mailed to. @example [] */
  reports!: string[];
  /**
   * Where nobody is mailed: why, and what to do.
   * @example ['No Daily Report is mailed. Switch its mail on and name a recipient: PUT /reports/config.']
   */
  advice!: string[];
}

/** What the caller is mailed, and when. */
export class NotificationChoicesView {
  /**
   * The address that mails go to; null while nobody receives mail there (example.com).
   * @example 'mira@northwind.example'
   */
  address!: string | null;
  /** The zone of all times: the workspace's. @example 'Europe/Vienna' */
  timezone!: string;
  /** What the caller has chosen. */
  own!: OwnNotificationChoice;
  /** What holds: what the caller has chosen, and for the rest the settings of the workspace. */
  effective!: NotificationChoiceView;
  /** Who in the workspace is mailed; null for members who are neither owner nor admin. */
  mailed!: MailedView | null;
}

/** Body of `PUT /profile/notifications`: what is left out stays as it is, null goes back to the settings of the workspace. */
export class ChangeNotificationChoices extends ChangeNotifications {
  /** When only what is urgent is mailed, in the workspace's zone. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => QuietHours)
  quietHours?: QuietHours | null;

  /** True: no quiet hours hold, neither the caller's nor the workspace's. @example false */
  @ValidateIf((body: ChangeNotificationChoices) => body.atAnyHour !== undefined)
  @IsBoolean()
  atAnyHour?: boolean;
}
