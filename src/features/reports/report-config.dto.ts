import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsObject,
  IsOptional,
  Matches,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { IsPlainText } from '../../platform/kernel/plain-text.js';
import { CLOCK_TIME, IsIanaZone } from '../../platform/kernel/time-zone.js';
import { CAPO_ROLES, type CapoRole } from '../terms/index.js';
import { REPORT_FORMATS, type ReportFormat } from './report.js';

/** Null is a value here, and the wrong one; only what is not named at all is left as it is. */
function isGiven(property: string): (body: object) => boolean {
  return (body) => (body as Record<string, unknown>)[property] !== undefined;
}

/** Which sections reports have; what is left out stays as it is. */
class ChangeReportSections {
  /** What was earned on the day. @example true */
  @ValidateIf(isGiven('revenue'))
  @IsBoolean()
  revenue?: boolean;
  /** What the capos did on the day. @example true */
  @ValidateIf(isGiven('agentActivity'))
  @IsBoolean()
  agentActivity?: boolean;
  /** What waits for a person as the report is made. @example true */
  @ValidateIf(isGiven('approvalQueue'))
  @IsBoolean()
  approvalQueue?: boolean;
  /** What the partner persona service reported on the day. @example true */
  @ValidateIf(isGiven('trustIntelligence'))
  @IsBoolean()
  trustIntelligence?: boolean;
  /** What models cost on the day. @example true */
  @ValidateIf(isGiven('costLedger'))
  @IsBoolean()
  costLedger?: boolean;
  /** The guardian as the report is made, and what it blocked on the day. @example true */
  @ValidateIf(isGiven('guardianState'))
  @IsBoolean()
  guardianState?: boolean;
  /** Directives under way as the report is made. @example true */
  @ValidateIf(isGiven('tomorrowQueue'))
  @IsBoolean()
  tomorrowQueue?: boolean;
}

/** When and to whom reports go; what is left out stays as it is. */
export class ChangeReportDelivery {
  /** HH:MM of the day after the one reported. @example '07:00' */
  @ValidateIf(isGiven('time'))
  @Matches(CLOCK_TIME, { message: '$property must be a time from 00:00 to 23:59' })
  time?: string;
  /** UTC or an IANA zone; null: the workspace's. @example 'Europe/Vienna' */
  @IsOptional()
  @IsIanaZone()
  timezone?: string | null;
  /** Whether reports are mailed. @example true */
  @ValidateIf(isGiven('email'))
  @IsBoolean()
  email?: boolean;
  /**
   * An address they are mailed to; null: none. That of a member gets what the member may read, that of nobody's the whole report. That of
   * somebody who is invited is answered as one of `inviteIds`.
   * @example 'boss@acme.example'
   */
  @IsOptional()
  @IsMailAddress()
  emailAddress?: string | null;
  /**
   * The members whom they are mailed to, each in a mail of their own with what they may read, at most 20 together with `inviteIds`. With
   * `email`, these, those or the address must name somebody.
   * @example ['mem_01kerq74k0wtbyzq0h359nrdxj']
   */
  @ValidateIf(isGiven('memberIds'))
  @IsArray()
  @ArrayMaxSize(20)
  @ArrayUnique()
  @Matches(/^mem_[0-9a-z]{26}$/, {
    each: true,
    message: 'each value in $property must be the id of a member',
  })
  memberIds?: string[];
  /**
   * Invites of people who are mailed nothing yet: they are recipients like other members from the moment they accept. One that is
   * withdrawn or expires is no recipient any more.
   * @example []
   */
  @ValidateIf(isGiven('inviteIds'))
  @IsArray()
  @ArrayMaxSize(20)
  @ArrayUnique()
  @Matches(/^inv_[0-9a-z]{26}$/, {
    each: true,
    message: 'each value in $property must be the id of an invite',
  })
  inviteIds?: string[];
}

/** Body of `PUT /reports/config` (SPECIFICATION, Report configuration): what is left out stays as it is. */
export class ChangeReportConfigBody {
  /** Which sections reports have. */
  @ValidateIf(isGiven('sections'))
  @IsObject()
  @ValidateNested()
  @Type(() => ChangeReportSections)
  sections?: ChangeReportSections;
  /** When and to whom reports go. */
  @ValidateIf(isGiven('delivery'))
  @IsObject()
  @ValidateNested()
  @Type(() => ChangeReportDelivery)
  delivery?: ChangeReportDelivery;
  /**
   * What is mailed: email is HTML with a text part, plain-text is Markdown, json is the report as the API answers it.
   * @example 'email'
   */
  @ValidateIf(isGiven('format'))
  @IsIn(REPORT_FORMATS)
  format?: ReportFormat;
  /** daily, or on-demand: none is made until somebody asks for it. @example 'daily' */
  @ValidateIf(isGiven('schedule'))
  @IsIn(['daily', 'on-demand'])
  schedule?: 'daily' | 'on-demand';
}

/** Which sections reports have. */
class ReportSectionsSwitches {
  /** What was earned on the day. @example true */
  revenue!: boolean;
  /** What the capos did on the day. @example true */
  agentActivity!: boolean;
  /** What waits for a person as the report is made. @example true */
  approvalQueue!: boolean;
  /** What the partner persona service reported on the day. @example true */
  trustIntelligence!: boolean;
  /** What models cost on the day. @example true */
  costLedger!: boolean;
  /** The guardian as the report is made, and what it blocked on the day. @example true */
  guardianState!: boolean;
  /** Directives under way as the report is made. @example true */
  tomorrowQueue!: boolean;
}

/** When and to whom reports go. */
class ReportDeliveryView {
  /** HH:MM of the day after the one reported. @example '07:00' */
  time!: string;
  /** The zone that was set; null: the workspace's. @example 'Europe/Vienna' */
  timezone!: string | null;
  /** Whether reports are mailed. @example true */
  email!: boolean;
  /** An address they are mailed to; null: none was named. @example 'boss@acme.example' */
  emailAddress!: string | null;
  /** The members whom they are mailed to; those who have left are not among them. @example ['mem_01kerq74k0wtbyzq0h359nrdxj'] */
  memberIds!: string[];
  /**
   * The invites whose people are mailed nothing before they accept; then they are among the members.
   * @example ['inv_01kerq74k0wtbyzq0h359nrdxj']
   */
  inviteIds!: string[];
}

/** How the workspace wants its reports. */
export class ReportConfigView {
  /** Which sections reports have. */
  sections!: ReportSectionsSwitches;
  /** When and to whom reports go. */
  delivery!: ReportDeliveryView;
  /** What is mailed: email, plain-text or json. @example 'email' */
  format!: ReportFormat;
  /** daily, or on-demand @example 'daily' */
  schedule!: 'daily' | 'on-demand';
  /** The zone in which days begin: the configured one, else the workspace's. @example 'Europe/Vienna' */
  timezone!: string;
  /** When the next report is made, ISO 8601; null: none is made by itself. @example '2026-02-19T06:00:00.000Z' */
  nextReportAt!: string | null;
}

/** Body of `POST /reports/custom-sections` (SPECIFICATION, Custom report section). */
export class CustomSectionBody {
  /** The section's name; at most 120 characters on one line. @example 'The week' */
  @IsPlainText(120, { oneLine: true })
  title!: string;
  /**
   * What the capo is asked for each report; at most 4,000 characters.
   * @example 'Write a document "Monday": Check the open offers.'
   */
  @IsPlainText(4_000)
  directive!: string;
  /** Who writes it. @example 'capo_revenue' */
  @IsIn(CAPO_ROLES)
  capo!: CapoRole;
  /** Whether reports have it; true unless said. @example true */
  @IsOptional()
  @IsBoolean()
  includeInReport?: boolean;
}

/** A section that the workspace has added to its reports. */
export class CustomSectionView {
  /** The id of the section. @example 'sec_01khqw6q006hs686p8sr7arg9t' */
  sectionId!: string;
  /** Its name. @example 'The week' */
  title!: string;
  /** What the capo is asked for each report. @example 'Write a document "Monday": Check the open offers.' */
  directive!: string;
  /** Who writes it. @example 'capo_revenue' */
  capo!: CapoRole;
  /** Whether reports have it. @example true */
  includeInReport!: boolean;
  /** When it was added, Unix milliseconds. @example 1771401690000 */
  createdAt!: number;
}

/** The sections that the workspace has added to its reports, the oldest first. */
export class CustomSectionList {
  /** At most ten. */
  items!: CustomSectionView[];
}
