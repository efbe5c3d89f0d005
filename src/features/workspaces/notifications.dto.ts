import { IsIn, IsOptional } from 'class-validator';

/**
 * `all`: at once, and in quiet hours what is urgent; `urgent`: only that; `digest`: what is urgent at once and the rest once a
 * day; `none`: nothing.
 */
const NOTIFY_CHOICES = ['all', 'urgent', 'digest', 'none'] as const;
export type NotifyChoice = (typeof NOTIFY_CHOICES)[number];

const REPORT_CHOICES = ['all', 'none'] as const;
export type ReportChoice = (typeof REPORT_CHOICES)[number];

/** What holds where nobody has chosen: people are asked, so they are told. */
const STANDARD: NotificationsView = { approvals: 'all', escalations: 'all', reports: 'all' };

/** The mails that members get: omitted fields stay unchanged, null restores the default, `all`. */
export class ChangeNotifications {
  /** Approvals: `all` of them, only `urgent` ones, a `digest` once a day (urgent ones at once), or `none`. @example 'digest' */
  @IsOptional()
  @IsIn(NOTIFY_CHOICES)
  approvals?: NotifyChoice | null;

  /** Escalations: `all` of them, only `urgent` ones, a `digest` once a day (urgent ones at once), or `none`. @example 'all' */
  @IsOptional()
  @IsIn(NOTIFY_CHOICES)
  escalations?: NotifyChoice | null;

  /** Daily reports that admins have mailed to a member's address: `all`, or `none` of them. @example 'none' */
  @IsOptional()
  @IsIn(REPORT_CHOICES)
  reports?: ReportChoice | null;
}

/** The mails that members get. */
export class NotificationsView {
  /** Approvals: `all` of them, only `urgent` ones, a `digest` once a day (urgent ones at once), or `none`. @example 'digest' */
  approvals!: NotifyChoice;
  /** Escalations: `all` of them, only `urgent` ones, a `digest` once a day (urgent ones at once), or `none`. @example 'all' */
  escalations!: NotifyChoice;
  /** Daily reports that admins have mailed to a member's address: `all`, or `none` of them. @example 'all' */
  reports!: ReportChoice;
}

/** What holds with these settings of the workspace; of each, what is not named has its default. */
export function notificationsOf(stored: Partial<NotificationsView>): NotificationsView {
  return { ...STANDARD, ...stored };
}
