import { Injectable } from '@nestjs/common';
import { type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { Forbidden, NotFound } from '../../platform/kernel/errors.js';
import { AssertSeesWhole } from '../reports/assert-sees-whole.js';
import { Reports } from '../reports/reports.repository.js';
import { Teams } from '../workspaces/teams.repository.js';
import { TeamOfRequest } from '../workspaces/team-of-request.js';
import { type Audience, dateOfReport, familyReportIdOf } from './report-id.js';
import { LocalDays } from './local-days.js';

/** A report that the caller may read. */
export interface ReadableReport {
  reportId: string;
  date: string;
  audience: Audience;
}

/** Which family reports a caller may read: the same as the rows that they show. */
@Injectable()
export class ReportAudiences {
  constructor(
    private readonly teams: Teams,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly days: LocalDays,
    private readonly reports: Reports,
    private readonly seesWhole: AssertSeesWhole,
  ) {}

  /**
   * Of the team that is named, else of all that the caller may see.
   * @throws NotFound for a team that the caller may not see; ValidationFailed for a member of several teams who names none
   */
  async of(caller: Caller, teamId: string | undefined): Promise<Audience> {
    if (teamId === undefined && hasRole(caller.role, 'admin')) return 'all';
    return (await this.teamOfRequest.resolve(caller, teamId)) ?? 'none';
  }

  /** A family report or a Daily Report. @throws NotFound for what is none, or for one that the caller may not read */
  async get(caller: Caller, reportId: string): Promise<ReadableReport> {
    const date = dateOfReport(reportId);
    if (date === undefined) return this.daily(caller, reportId);
    const { workspaceId } = caller;
    const audience = (await this.readableBy(caller)).find(
      (one) => familyReportIdOf(workspaceId, date, one) === reportId,
    );
    if (audience === undefined) return this.daily(caller, reportId);
    await this.days.read(scopeOf(caller), date);
    return { reportId, date, audience };
  }

  /** A Daily Report, which is of the whole workspace. @throws NotFound */
  private async daily(caller: Caller, reportId: string): Promise<ReadableReport> {
    const { workspaceId } = caller;
    const report = await this.reports.find({ workspaceId, teamIds: 'all' }, reportId);
    // To whoever may not read it, it is as if it were not there.
    if (!report || !(await this.mayReadDaily(caller))) throw new NotFound();
    return { reportId, date: report.date, audience: 'all' };
  }

  /** Whether the Daily Reports are the caller's to read. */
  async mayReadDaily(caller: Caller): Promise<boolean> {
    try {
      await this.seesWhole.execute(caller);
      return true;
    } catch (error) {
      if (error instanceof Forbidden) return false;
      throw error;
    }
  }

  private async readableBy(caller: Caller): Promise<Audience[]> {
    const { role, teamIds } = caller;
    if (!hasRole(role, 'admin')) return teamIds.length === 0 ? ['none'] : [...teamIds];
    return ['all', 'none', ...(await this.teams.allIds(scopeOf(caller)))];
  }
}

/** The team whose rows a report shows, as records carry it. */
export function teamOf(audience: Audience): string | null {
  return audience === 'all' || audience === 'none' ? null : audience;
}
