import { derivedId, timeOfId, type Id } from '../../platform/kernel/ids.js';
import { clockTimeOn, dayAfter, dayBefore, dayOf } from '../../platform/kernel/local-day.js';
import type { Audience } from '../workspaces/index.js';
import type { EscalationKind } from '../escalations/index.js';
import type { CapoRole, Priority } from '../terms/index.js';
import type { DayOfAgents, DayOfGuardian, ReportFigures } from '../verifier/index.js';

/** When reports are made. */
interface ReportSchedule {
  schedule: 'daily' | 'on-demand';
  /** HH:MM. */
  time: string;
}

/** So many missed days are made up for; older ones can be asked for. */
export const MOST_MADE_UP = 31;

/** When the next report is made after this moment; null when none is made by itself. */
export function nextRun({ schedule, time }: ReportSchedule, zone: string, after: number): number | null {
  if (schedule === 'on-demand') return null;
  for (let day = dayBefore(dayOf(after, zone), zone); ; day = dayAfter(day, zone)) {
    const run = clockTimeOn(day, time, zone);
    if (run > after) return run;
  }
}

/** The latest day whose report was to be made by now. */
export function lastDueDay({ time }: Pick<ReportSchedule, 'time'>, zone: string, now: number): string {
  let made = dayOf(now, zone);
  while (clockTimeOn(made, time, zone) > now) made = dayBefore(made, zone);
  return dayBefore(made, zone);
}

/**
 * The days behind `last` whose reports are due now, oldest first; after a long outage the latest {@link MOST_MADE_UP} of them.
 */
export function dueDays(schedule: ReportSchedule, zone: string, last: string, now: number): string[] {
  if (schedule.schedule === 'on-demand') return [];
  const due: string[] = [];
  for (
    let day = lastDueDay(schedule, zone, now);
    day > last && due.length < MOST_MADE_UP;
    day = dayBefore(day, zone)
  )
    due.unshift(day);
  return due;
}

const DAY_MS = 86_400_000;

/** The id of a family report: the same for the same day of the same workspace and audience. */
export function familyReportIdOf(workspaceId: string, date: string, audience: Audience): Id<'rpt'> {
  return derivedId('rpt', Date.parse(date), `family report ${workspaceId} ${date} ${keyOf(audience)}`);
}

/** The day that an id of a family report names; undefined for what is none. */
export function dateOfReport(reportId: string): string | undefined {
  const at = timeOfId('rpt', reportId);
  if (at === undefined || at % DAY_MS !== 0 || at > LAST_DAY) return undefined;
  return new Date(at).toISOString().slice(0, 10);
}

/** 31 December 9999, the last day with a year of four digits. */
const LAST_DAY = 253_402_214_400_000;

function keyOf(audience: Audience): string {
  if (audience === 'all') return 'all';
  return audience.length === 0 ? 'none' : audience.join(' ');
}

export const REPORT_FORMATS = ['email', 'plain-text', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The sections in the order of the report (SPECIFICATION, Daily Report). */
export const SECTION_KEYS = [
  'revenue',
  'agentActivity',
  'approvalQueue',
  'trustIntelligence',
  'costLedger',
  'guardianState',
  'tomorrowQueue',
] as const;
export type SectionKey = (typeof SECTION_KEYS)[number];
export type SectionSwitches = Record<SectionKey, boolean>;

/** Times in a report are ISO 8601. */
export interface ReportedEvent {
  eventId: string;
  amount: number;
  currency: string;
  source: string;
  description: string | null;
  occurredAt: string;
}

export interface ReportedApproval {
  approvalId: string;
  title: string;
  capo: CapoRole | null;
  /** Who asks from outside; reports that were made by earlier versions do not tell. */
  agent?: string | null;
  priority: Priority;
  requestedAt: string;
  expiresAt: string;
}

export interface ReportedEscalation {
  escalationId: string;
  kind: EscalationKind;
  reason: string;
  options: string[];
  createdAt: string;
  /** When it ends by itself, or becomes worse. */
  dueAt: string | null;
}

export interface ReportedDirective {
  directiveId: string;
  capo: CapoRole | null;
  title: string;
  deadline: string | null;
}

/** What model calls may use on one day. */
interface ReportedBudget {
  limit: number;
  unit: 'amount' | 'tokens';
  /** Null where it is counted in tokens. */
  currency: 'USD' | null;
}

/** All sections; a report has those that are on, and one of an earlier version less in them. */
export interface AllSections {
  revenue: ReportFigures['revenue'] & { events: ReportedEvent[] };
  agentActivity: Omit<ReportFigures['agentActivity'], keyof DayOfAgents> & Partial<DayOfAgents>;
  approvalQueue: {
    pending: number;
    urgent: number;
    items: ReportedApproval[];
    escalations?: { open: number; items: ReportedEscalation[] };
  };
  trustIntelligence: ReportFigures['trustIntelligence'];
  costLedger: ReportFigures['costLedger'] & { budget: ReportedBudget };
  guardianState: { mode: string; pendingMoves: number; blockedMoves: number } & Partial<DayOfGuardian>;
  tomorrowQueue: { total: number; items: ReportedDirective[] };
}
export type ReportSections = Partial<AllSections>;

/** A section of the workspace's own, as a report has it. */
export interface WrittenSection {
  sectionId: string;
  title: string;
  capo: CapoRole;
  /** What the capo was asked. */
  directive: string;
  status: 'pending' | 'done' | 'failed' | 'late';
  /** Markdown; null unless it is done. */
  body: string | null;
  /** Why it is not there, in a sentence. */
  error: string | null;
}

/** A Daily Report as it is answered and sent. */
export interface DailyReport {
  reportId: string;
  date: string;
  timezone: string;
  /** ISO 8601. */
  generatedAt: string;
  /** It is not made yet, and its numbers may still change. */
  partial: boolean;
  currency: string;
  headline: string;
  sections: ReportSections;
  customSections: Omit<WrittenSection, 'directive'>[];
  receiptRange: { from: number; to: number };
  receiptHead: { seq: number; hash: string };
}

/** What is on: all but what was switched off. */
export function switchesOf(set: Partial<SectionSwitches>): SectionSwitches {
  return Object.fromEntries(SECTION_KEYS.map((key) => [key, set[key] ?? true])) as SectionSwitches;
}

export function sectionsThatAreOn(all: AllSections, set: Partial<SectionSwitches>): ReportSections {
  const on = switchesOf(set);
  return Object.fromEntries(SECTION_KEYS.filter((key) => on[key]).map((key) => [key, all[key]]));
}

/** Why a section is late. */
export const LATE = 'Its capo had not written it in time.';
