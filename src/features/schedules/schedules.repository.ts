import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf, selectOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page } from '../../platform/kernel/pages.dto.js';
import { ScheduleEntity } from './schedule.entity.js';
import type { SchedulesQuery } from './schedules.dto.js';

/** How much of a text stands in a list, in characters. */
const LISTED_TEXT = 500;
const SUMMARY = columnsOf(ScheduleEntity, { without: ['workspaceId', 'directive', 'requesterIds'] });

/** A schedule as lists show it: of its directive only the beginning of the text. */
export type ListedSchedule = Omit<ScheduleEntity, 'workspaceId' | 'directive' | 'requesterIds'> & {
  text: string;
};

/** By the clock of the database, which all processes share (docs/decisions/0035). */
const NOW: Statement = { text: 'select app.ms(app.clock()) as now' };

@Injectable()
export class Schedules {
  constructor(private readonly db: Db) {}

  add(schedule: ScheduleEntity): void {
    this.db.insert(ScheduleEntity, schedule);
  }

  update({ workspaceId, scheduleId }: ScheduleEntity, changes: Partial<ScheduleEntity>): void {
    this.db.update(ScheduleEntity, { workspaceId, scheduleId }, changes);
  }

  delete({ workspaceId, scheduleId }: ScheduleEntity): void {
    this.db.write('delete from schedules where workspace_id = $1 and schedule_id = $2', [
      workspaceId,
      scheduleId,
    ]);
  }

  /** @throws NotFound for one that the scope may not see */
  async get(scope: Scope, scheduleId: string): Promise<ScheduleEntity> {
    const { workspaceId } = scope;
    const found = isId('sch', scheduleId)
      ? await this.db.findOne(scope, ScheduleEntity, { workspaceId, scheduleId })
      : undefined;
    if (!found) throw new NotFound();
    return found;
  }

  /** Locks the schedule, and reads the time after that. @throws NotFound for one that the transaction may not see */
  async lock(scheduleId: string): Promise<{ schedule: ScheduleEntity; now: number }> {
    if (!isId('sch', scheduleId)) throw new NotFound();
    const { unit } = this.db;
    const [found, times] = await unit.batch(this.lockStatements(unit.scope.workspaceId, scheduleId));
    const [schedule] = found as ScheduleEntity[];
    if (!schedule) throw new NotFound();
    return { schedule, now: (times as { now: number }[])[0]!.now };
  }

  /** {@link lock} for a caller that sends it along with statements of its own: the schedule, and then the time. */
  lockStatements(workspaceId: string, scheduleId: string): [Statement, Statement] {
    const key = { workspaceId, scheduleId };
    return [selectOf(ScheduleEntity, key, 'for no key update'), NOW];
  }

  /** How many the team has, or the workspace for no team, and the time; until the transaction ends nobody else adds one. */
  async countForAdding(teamId: string | null): Promise<{ total: number; now: number }> {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const [, counted, times] = await unit.batch([
      {
        text: `select pg_advisory_xact_lock(hashtextextended('schedules ' || $1, 1))`,
        values: [teamId ?? workspaceId],
      },
      // A statement of its own sees what the previous holder of the lock added.
      {
        text: `select count(*)::int as total from schedules where workspace_id = $1 and team_id is not distinct from $2`,
        values: [workspaceId, teamId],
      },
      NOW,
    ]);
    const [{ total }] = counted as [{ total: number }];
    const [{ now }] = times as [{ now: number }];
    return { total, now };
  }

  list(scope: Scope, { status, teamId, ...paging }: SchedulesQuery): Promise<Page<ListedSchedule>> {
    const listing = {
      name: 'schedules',
      select: `${SUMMARY}, left(ltrim(directive->>'text', E' \\t\\r\\n'), ${LISTED_TEXT}) as text`,
      from: 'schedules',
      ...where({ workspace_id: scope.workspaceId, status, team_id: teamId }),
      order: newestFirst('schedule_id'),
    };
    return readPage(this.db, scope, listing, paging);
  }
}
