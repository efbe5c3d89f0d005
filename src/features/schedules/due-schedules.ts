import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sharedMembership } from '../../platform/auth/membership.js';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { EscalationOptions, RESUME, SCHEDULE_PAUSED } from '../escalations/index.js';
import { type GuardianEntity, Guardians, letsNothingLeave } from '../guardian/index.js';
import { Members, Teams, mayDecide } from '../workspaces/index.js';
import type { ScheduleEntity } from './schedule.entity.js';
import { lastDue, nextDue } from './schedule-rule.js';
import { Schedules } from './schedules.repository.js';
import { ScheduleService } from './schedules.service.js';

/** What is later than this was missed, by an outage or a kill. */
const LATE_MS = 15 * 60_000;

/**
 * Runs the schedules that are due, by the clock of the database (docs/decisions/0042): under the lock of the schedule, in one
 * transaction with the directive, and a unique index sees to it that no due time has two.
 */
@Injectable()
export class DueSchedules implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly schedules: Schedules,
    private readonly service: ScheduleService,
    private readonly guardians: Guardians,
    private readonly members: Members,
    private readonly teams: Teams,
    private readonly options: EscalationOptions,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'schedule.run',
      pool: 4,
      perQueue: 2,
      tries: 8,
      enqueueDue: 'app.enqueue_due_schedules',
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
    this.options.register(SCHEDULE_PAUSED, 'schedule', {
      lock: ({ entityId }) => this.schedules.lock(entityId),
      options: {
        [RESUME]: {
          role: 'operator',
          effect:
            'Resumes the schedule from its next due time on, with the rights of the member who resumes it.',
          run: async ({ entityId }, { caller }) => {
            const { name } = await this.service.change(caller, entityId, { status: 'active' });
            return `${caller.name} resumed the schedule "${name}".`;
          },
        },
      },
    });
  }

  private execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    return this.db.transaction(
      scopeOfWork(item),
      async (_unit, opened) => {
        this.work.complete(item);
        const [, [guardian], [schedule], [{ now }]] = opened as [
          unknown,
          [GuardianEntity],
          [ScheduleEntity?],
          [{ now: number }],
        ];
        // It has run, was changed or deleted meanwhile; or a kill came, and it is found again after that.
        if (!schedule || schedule.nextRunAt === null || schedule.nextRunAt > now) return;
        if (letsNothingLeave(guardian.mode)) return;
        await this.handle(schedule, schedule.nextRunAt, now);
      },
      [
        // A change of members or teams comes before this or after it.
        sharedMembership(workspaceId),
        this.guardians.lockSharedStatement(workspaceId),
        ...this.schedules.lockStatements(workspaceId, id),
      ],
    );
  }

  /** Handles all due times from the first unhandled one until now, with one directive at the most. */
  private async handle(schedule: ScheduleEntity, first: number, now: number): Promise<void> {
    const { rule, missed, requesterIds, owner } = schedule;
    // What the zone says may have changed since the due time was computed.
    const due = Math.max(first, lastDue(rule, now));
    if (missed === 'skip' && now - due > LATE_MS) {
      this.service.skip(schedule, first, due);
    } else {
      const obstacle = await this.obstacleTo(schedule);
      if (obstacle !== null) return this.service.pause(schedule, now, obstacle);
      const missedSince = first === due ? null : first;
      const by = { ...owner, via: 'schedule' as const };
      this.service.run(schedule, { now, dueAt: due, missedSince, by, requesterIds });
    }
    this.schedules.update(schedule, { lastDueAt: due, nextRunAt: nextDue(rule, now) });
  }

  /** Why its owner could not hand in its directive now, in a sentence; null when they could. */
  private async obstacleTo({ workspaceId, teamId, owner }: ScheduleEntity): Promise<string | null> {
    if (teamId !== null && (await this.teams.isArchived(workspaceId, teamId)))
      return 'Its team has been archived.';
    const member = await this.members.standing(workspaceId, owner.id);
    if (!member) return `${owner.name}, who owned it, is no longer a member of the workspace.`;
    if (mayDecide(member, teamId, 'operator')) return null;
    const where = teamId === null ? 'here' : 'for its team';
    return `${owner.name}, who owns it, may no longer hand in directives ${where}.`;
  }

  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const { unit } = this.db;
    const [[schedule], [{ now }]] = (await unit.batch(this.schedules.lockStatements(workspaceId, id))) as [
      [ScheduleEntity?],
      [{ now: number }],
    ];
    if (!schedule || schedule.nextRunAt === null || schedule.nextRunAt > now) return;
    await this.service.pause(schedule, now, `It could not hand in its directive. ${message}`);
  }
}
