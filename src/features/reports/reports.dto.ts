import { IsIn, IsOptional } from 'class-validator';
import { IsCalendarDate } from '../../platform/kernel/calendar-date.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import type { CapoRole } from '../terms/index.js';
import type { ReportFormat } from './report.js';
import { ReportSectionsView } from './report-sections.dto.js';

/** A section of the workspace's own, as a capo wrote it for this report. */
export class WrittenSectionView {
  /** The id of the section. @example 'sec_01khqw6q006hs686p8sr7arg9t' */
  sectionId!: string;
  /** Its name. @example 'Pipeline' */
  title!: string;
  /** Who wrote it. @example 'capo_revenue' */
  capo!: CapoRole;
  /** pending while it is being written, done, failed, or late: it was not written in time @example 'done' */
  status!: 'pending' | 'done' | 'failed' | 'late';
  /** Markdown; null unless it is done. @example 'Two offers are out.' */
  body!: string | null;
  /** Why it is not there; null where it is. */
  error!: string | null;
}

/** The receipts that the numbers of the day are counted from. */
export class ReceiptRangeView {
  /** The number of the first. @example 1021 */
  from!: number;
  /** The number of the last; below `from`: there were none. @example 1204 */
  to!: number;
}

/** The last receipt as the report was made: what is open is told as of then. */
export class ReceiptHeadView {
  /** Its number. @example 1236 */
  seq!: number;
  /** Its hash. @example 'd04b98f48e8f8bcc15c6ae5ac050801cd6dcfd428fb5f9e65c4e16e7807340fa' */
  hash!: string;
}

/** The Daily Report (SPECIFICATION, Daily Report). Times in it are ISO 8601. */
export class DailyReportView {
  /** The id of the report; the day has it before its report is made, too. @example 'rpt_01khq1ntg0a5m3k4s8xw2v7c9d' */
  reportId!: string;
  /** The day, YYYY-MM-DD in the zone. @example '2026-02-17' */
  date!: string;
  /** The zone in which the day began and ended. @example 'Europe/Vienna' */
  timezone!: string;
  /** When it was made, ISO 8601. @example '2026-02-18T06:00:00.412Z' */
  generatedAt!: string;
  /**
   * True: the report has not been made yet, and its numbers may still change. So it is for a day that is not over, and for one
   * whose report is to be made later, and what a member gets who does not see what every team does: it counts what they may see.
   * @example false
   */
  partial!: boolean;
  /** ISO 4217 code: the workspace's, in which single numbers of revenue are given. @example 'EUR' */
  currency!: string;
  /** The day in one line. @example '12 directives executed, 1,204.50 EUR earned, 3 approvals waiting (1 urgent).' */
  headline!: string;
  /** The sections that are on. */
  sections!: ReportSectionsView;
  /** Sections of the workspace's own; none while the report is partial. */
  customSections!: WrittenSectionView[];
  /** The receipts of the day. */
  receiptRange!: ReceiptRangeView;
  /** The last receipt as it was made. */
  receiptHead!: ReceiptHeadView;
}

/** Whether the report was mailed. */
export class ReportDeliveryState {
  /** email, or none: mail was off @example 'email' */
  channel!: 'none' | 'email';
  /** none, waiting, sending, sent or failed @example 'sent' */
  status!: 'none' | 'waiting' | 'sending' | 'sent' | 'failed';
  /** When that ended, ISO 8601; null: it has not. @example '2026-02-18T06:00:02.101Z' */
  at!: string | null;
}

/** What became of the mail of a report to one recipient. */
export class ReportRecipientView {
  /** The member; null: an address. @example 'mem_01kerq74k0wtbyzq0h359nrdxj' */
  memberId!: string | null;
  /** The address, for admins; null for a member. @example null */
  address!: string | null;
  /** none, waiting, sending, sent or failed @example 'failed' */
  status!: 'none' | 'waiting' | 'sending' | 'sent' | 'failed';
  /** When that ended, ISO 8601; null: it has not. @example '2026-02-18T06:00:02.101Z' */
  at!: string | null;
  /**
   * Why it was not mailed, or not yet; null: it was, or waits for its first attempt.
   * @example 'The mail server refused the recipient: 550 No such mailbox'
   */
  error!: string | null;
}

/** Body of `POST /reports/{reportId}/resend`. */
export class ResendReportBody {
  /** To all recipients that are configured now, unless `failed`: only to those whose last mail failed. @example 'failed' */
  @IsOptional()
  @IsIn(['all', 'failed'])
  to?: 'all' | 'failed';
}

/** A report in the history. */
export class ReportSummary {
  /** The id of the report. @example 'rpt_01khq1ntg0a5m3k4s8xw2v7c9d' */
  reportId!: string;
  /** The day, YYYY-MM-DD. @example '2026-02-17' */
  date!: string;
  /** When it was made, ISO 8601. @example '2026-02-18T06:00:00.412Z' */
  generatedAt!: string;
  /** email, plain-text or json @example 'email' */
  format!: ReportFormat;
  /** schedule, or on-demand: somebody asked for it, and nobody else is told of it @example 'schedule' */
  trigger!: 'schedule' | 'on-demand';
  /** Whether it was mailed: what is still to come of all its mails, else whether one failed. */
  delivery!: ReportDeliveryState;
  /** What became of each mail; none where it was mailed to nobody. */
  recipients!: ReportRecipientView[];
  /** The day in one line. @example '12 directives executed, 3 approvals waiting.' */
  headline!: string;
}

/** A page of the reports that were made. */
export class ReportPage extends PageFacts {
  /** The latest day first. */
  items!: ReportSummary[];
}

/** Query of `GET /reports/daily`. */
export class DailyQuery {
  /** The day, YYYY-MM-DD in the zone of the reports; the last one that is over, unless said. @example '2026-02-17' */
  @IsOptional()
  @IsCalendarDate()
  date?: string;
}
