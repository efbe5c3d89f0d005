import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { isLateResult } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { throughOutage } from '../../platform/work/through-outage.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { ModelBudget, type Paid, capoActor, isPaid, paidBefore } from '../capos/index.js';
import { KILLED_TOPIC } from '../guardian/index.js';
import { NO_COST } from '../terms/index.js';
import { hashOfText } from '../verifier/index.js';
import { DELIVER_WORK } from './deliver-report.js';
import type { WrittenSection } from './report.js';
import type { ReportEntity } from './report.entity.js';
import { Reports } from './reports.repository.js';
import { SectionWriter, type Written } from './section-writer.js';
import { SECTIONS_WORK } from './make-report.js';

/**
 * Has the capos write the custom sections of a report, as many at once as the runner does for a workspace, and none longer than
 * the report waits. What fails or comes late is marked, and the report goes out without it.
 */
@Injectable()
export class WriteSections implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly reports: Reports,
    private readonly writer: SectionWriter,
    private readonly budget: ModelBudget,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SECTIONS_WORK,
      pool: 2,
      perQueue: 1,
      tries: 3,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) => this.execute(item, signal),
      giveUp: async ({ workspaceId, id }, { message: error }) => {
        const report = await this.reports.lock(workspaceId, id);
        if (report) {
          this.enter(
            report,
            pendingIn(report).map((section) => ({
              section: { ...section, status: 'failed', error },
              engine: null,
              cost: NO_COST,
            })),
          );
        }
      },
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const report = await this.reports.find(scopeOfWork(item), item.id);
    const pending = report ? pendingIn(report) : [];
    if (!report || pending.length === 0) return;
    const left = Math.max(0, (report.sectionsUntil ?? 0) - this.clock.now());
    const until = { stop: signal, deadline: AbortSignal.timeout(left) };
    const waiting = pending.values();
    const writing = Array.from({ length: this.writer.perWorkspace }, async () => {
      for (const section of waiting) await this.writeOne(item, report, section, until);
    });
    const failed = (await Promise.allSettled(writing)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** It is entered as it comes: one that is late takes none with it. */
  private async writeOne(
    item: WorkItem,
    report: ReportEntity,
    section: WrittenSection,
    until: { stop: AbortSignal; deadline: AbortSignal },
  ): Promise<void> {
    const charged = (paid: Paid) => this.chargeUnused(report, section, paid);
    const written = await this.writer.write(report, section, until).catch(async (error: unknown) => {
      await charged(paidBefore(error));
      throw error;
    });
    // Nobody waits for it: a capo that goes on for ever holds nothing back.
    void written.paidLater?.then(charged).catch((error: unknown) => {
      this.logger.error({ err: error }, 'what a section that came too late has cost could not be written');
    });
    try {
      await this.db.transaction(scopeOfWork(item), async () => {
        this.work.check(item);
        const current = await this.reports.lock(item.workspaceId, item.id);
        if (current) this.enter(current, [written]);
      });
    } catch (error) {
      if (isLateResult(error)) await charged(written);
      throw error;
    }
  }

  /** A model is paid when it answers, whether or not the report can still use that. */
  private async chargeUnused(
    { workspaceId, reportId, date }: ReportEntity,
    { sectionId, title, capo }: WrittenSection,
    paid: Paid,
  ): Promise<void> {
    if (!isPaid(paid)) return;
    await throughOutage(() =>
      this.db.transaction({ workspaceId, teamIds: 'all' }, async () => {
        this.budget.charge(
          {
            actor: capoActor(capo),
            action: 'report.section_unused',
            entity: { type: 'report', id: reportId },
            capo,
            outcome: 'failure',
            summary: `The model's text for the section "${title}" of the Daily Report of ${date} was paid for and cannot be used.`,
            details: { sectionId },
          },
          paid,
        );
      }),
    );
  }

  /** What the report has gone out without stays as it is; what it cost is told all the same. */
  private enter(report: ReportEntity, written: readonly Written[]): void {
    const hasGone = report.announcedAt !== null;
    const customSections = hasGone
      ? report.customSections
      : report.customSections.map(
          (section) => written.find((one) => one.section.sectionId === section.sectionId)?.section ?? section,
        );
    for (const one of written) this.record({ ...report, customSections }, hasGone ? tooLate(one) : one);
    if (hasGone) return;
    this.reports.update(report, { customSections });
    const isComplete = customSections.every(({ status }) => status !== 'pending');
    // An on-demand report is told to nobody.
    if (isComplete && report.trigger === 'schedule')
      this.work.enqueueBy(DELIVER_WORK, [{ id: report.reportId, waitMs: 0 }]);
  }

  /** With the hash of the section as the report has it, so that a saved report can be checked against its receipts. */
  private record({ reportId, date, customSections }: ReportEntity, { section, engine, cost }: Written): void {
    const { sectionId, title, capo, status, error } = section;
    const told = customSections.find((one) => one.sectionId === sectionId) ?? section;
    const receipt = {
      actor: capoActor(capo),
      action: 'report.section_written',
      entity: { type: 'report', id: reportId },
      capo,
      outcome: status === 'done' ? ('success' as const) : ('failure' as const),
      summary:
        status === 'done'
          ? `The section "${title}" of the Daily Report of ${date} was written.`
          : `The section "${title}" is not in the Daily Report of ${date}. ${error}`,
      details: { sectionId, status, contentHash: hashOfText(told) },
    };
    this.budget.charge(receipt, { engine, cost });
  }
}

/** The receipt says the same as the report, which was told without it. */
function tooLate({ section, ...paid }: Written): Written {
  if (section.status !== 'done') return { section, ...paid };
  return {
    section: {
      ...section,
      status: 'late',
      body: null,
      error: 'It was written too late: the report had gone by then.',
    },
    ...paid,
  };
}

function pendingIn({ customSections }: ReportEntity) {
  return customSections.filter(({ status }) => status === 'pending');
}
