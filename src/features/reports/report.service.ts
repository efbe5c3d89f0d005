import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Forbidden, NotFound } from '../../platform/kernel/errors.js';
import { dayBefore, dayOf, isDayIn } from '../../platform/kernel/local-day.js';
import { reportIdOf } from '../verifier/index.js';
import { Audiences } from '../workspaces/index.js';
import { MakeReport } from './make-report.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import type { ReportEntity } from './report.entity.js';
import { type DailyReport, lastDueDay } from './report.js';
import { Reports } from './reports.repository.js';

/** A report that was made, as it is answered. */
export function viewOf(report: ReportEntity): DailyReport {
  return {
    reportId: report.reportId,
    date: report.date,
    timezone: report.zone,
    generatedAt: new Date(report.generatedAt).toISOString(),
    partial: false,
    currency: report.currency,
    headline: report.headline,
    sections: report.sections,
    customSections: report.customSections.map(({ directive: _directive, ...section }) => section),
    receiptRange: { from: report.fromSeq, to: report.toSeq },
    receiptHead: { seq: report.headSeq, hash: report.headHash },
  };
}

/** Daily Reports, as they are read. */
@Injectable()
export class ReportService {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly audiences: Audiences,
    private readonly configs: ReportConfigs,
    private readonly reports: Reports,
    private readonly makeReport: MakeReport,
  ) {}

  /**
   * The report of a day. One that was not made yet is made and kept as an operator asks for it, unless the schedule will make it;
   * and counted without being kept for a viewer, who changes nothing, and of a day that is not over. A report tells what all teams
   * did; a member who does not see all of that gets a count of what they may see (docs/decisions/0039).
   * @throws NotFound for a day that is to come, was before the workspace, or is none in its zone
   */
  async read(caller: Caller, asked: string | undefined): Promise<DailyReport> {
    const seesWhole = await this.audiences.seesWhole(caller);
    const scope: Scope = { workspaceId: caller.workspaceId, teamIds: 'all' };
    const config = await this.configs.read(scope);
    const now = this.clock.now();
    const today = dayOf(now, config.zone);
    const date = asked ?? latestOver(config, today);
    // Before anything is said of the day: in another zone than it was made in there may be no such day yet, or any more.
    const stored = seesWhole ? await this.reports.ofDay(scope, date) : undefined;
    if (stored) return viewOf(stored);
    assertHas(config, today, date);
    const made =
      seesWhole && hasRole(caller.role, 'operator') && isMadeOnDemand(config, date, now)
        ? await withComputed(() => this.make(scope, date, caller))
        : undefined;
    if (made) return viewOf(made);
    const { report } = await this.makeReport.count(
      config,
      date,
      date < today,
      seesWhole ? scope : scopeOf(caller),
    );
    return { ...viewOf(report), partial: true };
  }

  /** @throws NotFound for a day that has no report, and will have none */
  async assertDay(scope: Scope, date: string): Promise<void> {
    const config = await this.configs.read(scope);
    assertHas(config, dayOf(this.clock.now(), config.zone), date);
  }

  /** The reports of today and of the day before, which may not have been made yet. */
  async latestIds({ workspaceId }: Pick<Scope, 'workspaceId'>): Promise<string[]> {
    const { zone } = await this.configs.read({ workspaceId, teamIds: 'all' });
    const today = dayOf(this.clock.now(), zone);
    return [today, dayBefore(today, zone)].map((date) => reportIdOf(workspaceId, date));
  }

  /**
   * A Daily Report is of the whole workspace, so it is for those who see all of it (docs/decisions/0023).
   * @throws Forbidden
   */
  async requireWholeWorkspace(caller: Caller): Promise<void> {
    if (await this.audiences.seesWhole(caller)) return;
    throw new Forbidden({
      message:
        'A report tells what all teams did: in a workspace with teams only its owner and admins read it.',
      details: { requiredRoles: ['admin', 'owner'] },
    });
  }

  /** Undefined where the schedule or the zone has changed so that it is not to be made any more. */
  private make(scope: Scope, date: string, caller: Caller): Promise<ReportEntity | undefined> {
    return this.db.transaction(scope, async () => {
      const locked = await this.configs.lock(scope.workspaceId);
      if (!isMadeOnDemand(locked, date, this.clock.now())) return undefined;
      await this.makeReport.store(locked, date, caller);
      // As everybody gets it from now on, down to the order of its properties.
      return this.reports.ofDay(scope, date);
    });
  }
}

/** Whether the day is over, and the schedule is done with it or makes no reports: what it will make stays its own. */
function isMadeOnDemand(config: Configured, date: string, now: number): boolean {
  const { schedule, zone, lastDate } = config;
  const today = dayOf(now, zone);
  if (date >= today) return false;
  return (
    schedule === 'on-demand' ||
    date <= earliest(lastDueDay(config, zone, now), lastDate ?? dayBefore(today, zone))
  );
}

function earliest(one: string, other: string): string {
  return one < other ? one : other;
}

/** The day before; on its first day a workspace has only that one. */
function latestOver({ zone, createdAt }: Configured, today: string): string {
  const yesterday = dayBefore(today, zone);
  return yesterday >= dayOf(createdAt, zone) ? yesterday : today;
}

function assertHas({ zone, createdAt }: Configured, today: string, date: string): void {
  if (date > today) throw missing(`${date} is still to come in the zone ${zone}.`);
  const first = dayOf(createdAt, zone);
  if (date < first) throw missing(`The workspace began on ${first}; there is no report of ${date}.`);
  if (!isDayIn(date, zone)) throw missing(`The zone ${zone} had no ${date}: its calendar skipped the day.`);
}

function missing(message: string) {
  return new NotFound({ message });
}
