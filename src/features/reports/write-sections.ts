import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { SYSTEM } from '../../platform/auth/caller.js';
import { isLateResult } from '../../platform/database/database-errors.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import { withoutUnseen } from '../../platform/kernel/unseen.js';
import { throughOutage } from '../../platform/work/through-outage.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import {
  BriefingReader,
  CAPO_RUNNER,
  capoActor,
  type CapoRunner,
  CAPOS,
  type Draft,
  isPaid,
  ModelBudget,
  type Paid,
  paidBefore,
  PausedCapos,
  RunnerFailed,
} from '../capos/index.js';
import { nothingPrepared } from '../directives/index.js';
import { Guardians, isHalted, KILLED_TOPIC } from '../guardian/index.js';
import { NO_COST } from '../terms/index.js';
import { hashOfText } from '../verifier/index.js';
import { DELIVER_WORK } from './scheduled-reports.js';
import { SECTIONS_WORK } from './make-report.js';
import type { ReportEntity } from './report.entity.js';
import { LATE, type WrittenSection } from './report.js';
import { Reports } from './reports.repository.js';

/** What came of asking a capo for a section. */
interface Written extends Paid {
  section: WrittenSection;
  /** What a capo was paid that nobody waited for: known when it ends. */
  paidLater?: Promise<Paid>;
}

const LONGEST_BODY = 20_000;
const KILLED = 'The kill switch was engaged while its capo was writing it.';
const STOPPED = 'It was stopped before its capo had written it.';
const NOTHING: Paid = { engine: null, cost: NO_COST };

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
    private readonly budget: ModelBudget,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
    private readonly guardians: Guardians,
    private readonly paused: PausedCapos,
    private readonly briefings: BriefingReader,
    @Inject(CAPO_RUNNER) private readonly runner: CapoRunner,
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
    const writing = Array.from({ length: this.runner.perWorkspace }, async () => {
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
    const written = await this.textFor(report, section, until).catch(async (error: unknown) => {
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

  /**
   * Asks a capo for the text of a section. The capo gets what it gets for a directive of no team; of what it makes only
   * documents are used, and what else it proposes is not carried out: a section reports and does nothing. Never fails: what goes
   * wrong stands in the section. Ends when a signal aborts, whatever the capo does then.
   *
   * @param stop aborts where the work is to stop, as at a kill
   * @param deadline aborts when the report waits no longer
   */
  private async textFor(
    report: ReportEntity,
    section: WrittenSection,
    { stop, deadline }: { stop: AbortSignal; deadline: AbortSignal },
  ): Promise<Written> {
    const signal = AbortSignal.any([stop, deadline]);
    const scope: Scope = { workspaceId: report.workspaceId, teamIds: 'all' };
    const failed = (error: string, paid: Paid = NOTHING): Written => ({
      section: { ...section, status: 'failed', error },
      ...paid,
    });
    const cutOff = async (paid: Paid): Promise<Written> =>
      stop.aborted
        ? failed(await this.whyStopped(scope), paid)
        : { section: { ...section, status: 'late', error: LATE }, ...paid };
    try {
      if (signal.aborted) return await cutOff(NOTHING);
      const obstacle = await this.obstacle(scope, section);
      if (obstacle !== undefined) return failed(obstacle);
      const drafting = this.draft(report, section, signal);
      const draft = await untilAborted(signal, drafting);
      if (draft === 'aborted') return { ...(await cutOff(NOTHING)), paidLater: drafting.catch(paidBefore) };
      // A reader must see all of the section.
      const body = withoutUnseen(textOf(draft)).trim();
      const { engine, cost } = draft;
      if (body === '') return failed(whyNothing(draft), { engine, cost });
      return { section: { ...section, status: 'done', body: cutText(body, LONGEST_BODY) }, engine, cost };
    } catch (error) {
      if (!(error instanceof RunnerFailed)) throw error;
      return signal.aborted ? cutOff(paidBefore(error)) : failed(error.message, paidBefore(error));
    }
  }

  /** Why its capo may not work now, if it may not. */
  private async obstacle(scope: Scope, { capo }: WrittenSection): Promise<string | undefined> {
    const { mode } = await this.guardians.read(scope);
    if (isHalted(mode)) return 'The kill switch was engaged as the report was made, so no capo worked.';
    const { text, values } = this.paused.statement(scope.workspaceId);
    const paused = await this.db.read<{ capo: string }>(scope, text, values);
    return paused.some((one) => one.capo === capo)
      ? `${CAPOS[capo].name} was paused as the report was made.`
      : undefined;
  }

  /** A failed read must not lose the costs. */
  private async whyStopped(scope: Scope): Promise<string> {
    const { mode } = await this.guardians.read(scope).catch(() => ({ mode: null }));
    return mode !== null && isHalted(mode) ? KILLED : STOPPED;
  }

  private async draft(
    { workspaceId, date, zone, headline }: ReportEntity,
    { sectionId, directive, capo }: WrittenSection,
    signal: AbortSignal,
  ): Promise<Draft> {
    const briefing = await this.briefings.read(
      { workspaceId, teamIds: 'all' },
      {
        directiveId: sectionId,
        teamId: null,
        text: directive,
        capo,
        priority: 'medium',
        context: { report: { date, zone, headline } },
        deadline: null,
        feedback: [],
        createdBy: SYSTEM,
      },
    );
    return this.runner.run(briefing, { signal });
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

/** A model may answer in its remarks; those of the built-in runner only say what it did not do. */
function textOf({ packets, remarks, engine }: Draft): string {
  const documents = packets.flatMap(({ type, params }) =>
    type === 'document.file' && typeof params['body'] === 'string' ? [params['body'].trim()] : [],
  );
  if (documents.length > 0) return documents.join('\n\n');
  return engine.model === null ? '' : remarks.trim();
}

function whyNothing(draft: Draft): string {
  return draft.engine.model === null && draft.packets.length === 0
    ? nothingPrepared(draft).message
    : 'Its capo wrote no text for it.';
}

async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | 'aborted'> {
  const { promise: aborted, resolve } = Promise.withResolvers<'aborted'>();
  const end = () => resolve('aborted');
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
