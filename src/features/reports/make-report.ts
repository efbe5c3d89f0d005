import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, SYSTEM } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { computedBeforehand } from '../../platform/database/beforehand.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { dayAfter, dayBefore, dayOf, startOf } from '../../platform/kernel/local-day.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { ModelBudget } from '../capos/index.js';
import { COST_CURRENCY } from '../terms/index.js';
import {
  hashOfApproval,
  hashOfReport,
  headlineOf,
  reportIdOf,
  type ReportReceiptDetails,
} from '../verifier/index.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import { type CountedDay, type OpenNow, ReportFactsReader } from './report-facts.reader.js';
import type { ReportEntity } from './report.entity.js';
import { type AllSections, SECTION_KEYS, sectionsThatAreOn, type SectionSwitches } from './report.js';
import { Reports } from './reports.repository.js';

/** So many receipts are counted in a moment; more are not while a transaction is open. */
const COUNTED_AT_ONCE = 1_000;

/** A report before it is kept. */
export interface CountedReport {
  report: ReportEntity;
  open: OpenNow;
}

/** The work of writing the custom sections of a report; its id is the report's. */
export const SECTIONS_WORK = 'report.sections';

/**
 * Counts the report of a day, and keeps it. The numbers of the day are those of its receipts, and what is open is told as of
 * the last receipt there is (docs/decisions/0023). The receipts of a day begin behind those of the day before it, if that has
 * its report: each receipt is counted in one report, whatever the clocks of the processes say.
 */
@Injectable()
export class MakeReport {
  constructor(
    private readonly facts: ReportFactsReader,
    private readonly reports: Reports,
    private readonly budget: ModelBudget,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly configs: ReportConfigs,
    private readonly work: Work,
    private readonly config: Config,
  ) {}

  /**
   * With no transaction open: the count of a long day takes seconds.
   *
   * @param isOver false for the day that it is: all its receipts so far
   * @param seen what the reader may see: only that is counted, and such a report is not kept
   */
  async count(config: Configured, date: string, isOver: boolean, seen?: Scope): Promise<CountedReport> {
    const range = await this.rangeOf(config, date);
    return this.counted(config, date, isOver ? range : { ...range, to: undefined }, this.day, seen);
  }

  /**
   * A report that was made, as far as members of these teams may read it: its sections and its receipts, and what is open now.
   * With no transaction open.
   */
  async countOfTeams(made: ReportEntity, teams: readonly { teamId: string }[]): Promise<ReportEntity> {
    const { workspaceId, date, fromSeq: from, toSeq: to } = made;
    const isOn = (key: keyof SectionSwitches) => [key, key in made.sections] as const;
    const sections = Object.fromEntries(SECTION_KEYS.map(isOn)) as SectionSwitches;
    const seen = { workspaceId, teamIds: teams.map(({ teamId }) => teamId) };
    const { report } = await this.counted({ ...made, sections }, date, { from, to }, this.day, seen);
    return report;
  }

  /**
   * Makes and keeps the report of a day that is over, once. In the open transaction, which has locked the configuration of the
   * workspace. Answers the one that is there already, if there is one.
   *
   * @param asker who asks for it; undefined: the schedule
   * @throws NeededBeforehand while the receipts of a long day are not counted
   */
  async store(configured: Configured, date: string, asker: Caller | undefined): Promise<ReportEntity> {
    const scope = { workspaceId: configured.workspaceId, teamIds: 'all' } as const;
    const stored = await this.reports.ofDay(scope, date);
    if (stored) return asker ? stored : this.scheduled(stored);
    const counted = await this.countBeforehand(configured, date);
    const { zone } = configured;
    // A section tells how things stand as it is written, and each costs a model call: nobody gets them by reading old days.
    const hasSections = !asker || date === dayBefore(dayOf(counted.report.generatedAt, zone), zone);
    const all = hasSections ? await this.configs.sections(scope) : [];
    const wanted = all.filter(({ includeInReport }) => includeInReport);
    const report: ReportEntity = {
      ...counted.report,
      trigger: asker ? 'on-demand' : 'schedule',
      customSections: wanted.map(({ sectionId, title, capo, directive }) => ({
        sectionId,
        title,
        capo,
        directive,
        status: 'pending',
        body: null,
        error: null,
      })),
      sectionsUntil:
        wanted.length === 0 ? null : counted.report.generatedAt + this.config.reportSectionSeconds * 1_000,
    };
    this.keep({ ...counted, report }, asker);
    if (wanted.length > 0) this.work.enqueue(SECTIONS_WORK, { id: report.reportId });
    return report;
  }

  /**
   * In an open transaction: the receipts of a long day are counted with none open.
   *
   * @throws NeededBeforehand
   */
  private async countBeforehand(config: Configured, date: string): Promise<CountedReport> {
    const range = await this.rangeOf(config, date);
    return this.counted(config, date, range, async (scope, from, to) => {
      const count = () => this.day(scope, from, to);
      if (to - from < COUNTED_AT_ONCE) return count();
      return computedBeforehand<CountedDay>(`receipts ${from} to ${to} of ${scope.workspaceId}`, count);
    });
  }

  /**
   * Keeps it with its receipt, in the open transaction, which has locked the configuration of the workspace.
   *
   * @param asker who asked for it; undefined: the schedule
   */
  private keep({ report, open }: CountedReport, asker: Caller | undefined): void {
    this.reports.add(report);
    const { reportId, date, zone, currency, sections } = report;
    const receiptRange = { from: report.fromSeq, to: report.toSeq };
    const receiptHead = { seq: report.headSeq, hash: report.headHash };
    const details: ReportReceiptDetails = {
      date,
      zone,
      generatedAt: new Date(report.generatedAt).toISOString(),
      receiptRange,
      receiptHead,
      contentHash: hashOfReport({ date, currency, sections, receiptRange, receiptHead }),
      urgentCount: open.urgent,
      urgent: open.urgentIds.map(hashOfApproval),
    };
    this.receipts.append({
      actor: asker ? actorOf(asker) : SYSTEM,
      action: 'report.generated',
      entity: { type: 'report', id: reportId },
      summary: asker
        ? `${asker.name} asked for the Daily Report of ${date}, and it was made.`
        : `The Daily Report of ${date} was made.`,
      details: { ...details },
    });
  }

  private readonly day = (scope: Scope, from: number, to: number) => this.facts.day(scope, from, to);

  /** @param range of the receipts of the day; without an end: up to the last there is */
  private async counted(
    config: Pick<Configured, 'workspaceId' | 'zone' | 'currency' | 'format' | 'sections'>,
    date: string,
    range: { from: number; to: number | undefined },
    countDay: (scope: Scope, from: number, to: number) => Promise<CountedDay>,
    seen: Scope = { workspaceId: config.workspaceId, teamIds: 'all' },
  ): Promise<CountedReport> {
    const { workspaceId, zone, currency } = config;
    const generatedAt = this.clock.now();
    const open = await this.facts.open(seen, generatedAt);
    const to = Math.max(range.from - 1, range.to ?? open.head.seq);
    const { figures, events } = await countDay(seen, range.from, to);
    const counted = figures.in(currency);
    const { limit, unit } = await this.budget.limit({ workspaceId, teamIds: 'all' });
    const all: AllSections = {
      ...counted,
      revenue: { ...counted.revenue, events },
      approvalQueue: {
        pending: open.pending,
        urgent: open.urgent,
        items: open.approvals,
        escalations: { open: open.escalationsOpen, items: open.escalations },
      },
      costLedger: {
        ...counted.costLedger,
        budget: { limit, unit, currency: unit === 'amount' ? COST_CURRENCY : null },
      },
      guardianState: {
        mode: open.mode,
        pendingMoves: open.pendingMoves,
        ...counted.guardianState,
      },
      tomorrowQueue: { total: open.queued, items: open.directives },
    };
    const report: ReportEntity = {
      workspaceId,
      reportId: reportIdOf(workspaceId, date),
      date,
      zone,
      currency,
      format: config.format,
      trigger: 'on-demand',
      headline: headlineOf(all),
      sections: sectionsThatAreOn(all, config.sections),
      customSections: [],
      fromSeq: range.from,
      toSeq: to,
      headSeq: open.head.seq,
      headHash: open.head.hash,
      generatedAt,
      sectionsUntil: null,
      announcedAt: null,
      deliveryChannel: 'none',
      deliveryStatus: 'none',
      deliveryAt: null,
    };
    return { report, open };
  }

  private async rangeOf(
    { workspaceId, zone }: Configured,
    date: string,
  ): Promise<{ from: number; to: number }> {
    const scope: Scope = { workspaceId, teamIds: 'all' };
    const { before, after } = await this.reports.around(scope, date);
    const first =
      before?.date === dayBefore(date, zone)
        ? before.toSeq + 1
        : (await this.facts.lastBefore(scope, startOf(date, zone))) + 1;
    const from = Math.max(first, (before?.toSeq ?? 0) + 1);
    const next = dayAfter(date, zone);
    const last =
      after?.date === next ? after.fromSeq - 1 : await this.facts.lastBefore(scope, startOf(next, zone));
    return { from, to: Math.min(last, (after?.fromSeq ?? Infinity) - 1) };
  }

  /** Somebody has asked for it before the schedule came to its day; now the recipients of reports are notified. */
  private scheduled(report: ReportEntity): ReportEntity {
    if (report.trigger === 'schedule') return report;
    this.reports.update(report, { trigger: 'schedule' });
    return { ...report, trigger: 'schedule' };
  }
}
