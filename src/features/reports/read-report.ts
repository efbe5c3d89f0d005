import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { AssertSeesWhole } from './assert-sees-whole.js';
import { MakeReport } from './make-report.js';
import { dayBefore, dayOf, isDayIn, lastDueDay } from './report-calendar.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import { viewOf } from './report-view.js';
import type { DailyReport } from './report.js';
import { Reports } from './reports.repository.js';
import { StoreReport } from './store-report.js';

/**
 * The report of a day. The one of a day that is not over, or whose time to be made has not come, is counted and not kept; any
 * other is made once and kept, whoever asks for it first.
 */
@Injectable()
export class ReadReport {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly seesWhole: AssertSeesWhole,
    private readonly configs: ReportConfigs,
    private readonly reports: Reports,
    private readonly makeReport: MakeReport,
    private readonly storeReport: StoreReport,
  ) {}

  /** @throws Forbidden; NotFound for a day that is to come, was before the workspace, or is none in its zone */
  async execute(caller: Caller, asked: string | undefined): Promise<DailyReport> {
    await this.seesWhole.execute(caller);
    const scope: Scope = { workspaceId: caller.workspaceId, teamIds: 'all' };
    const config = await this.configs.read(scope);
    const now = this.clock.now();
    const today = dayOf(now, config.zone);
    const date = asked ?? latestOver(config, today);
    assertHas(config, today, date);
    // Also where a change of the zone has it begin again.
    const stored = await this.reports.ofDay(scope, date);
    if (stored) return viewOf(stored);
    if (date === today) return this.count(config, date, false);
    const isToCome = config.schedule === 'daily' && date > lastDueDay(config, config.zone, now);
    if (isToCome) return this.count(config, date, true);
    return this.db.transaction(scope, async () => {
      const locked = await this.configs.lock(caller.workspaceId);
      await this.storeReport.execute(locked, date, 'on-demand');
      // As everybody gets it from now on, down to the order of its properties.
      return viewOf((await this.reports.ofDay(scope, date))!);
    });
  }

  private async count(config: Configured, date: string, isOver: boolean): Promise<DailyReport> {
    const { report } = await this.makeReport.count(config, date, isOver);
    return { ...viewOf(report), partial: !isOver };
  }
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
