import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, peopleBehind, SYSTEM } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { defineError } from '../../platform/kernel/define-error.js';
import { LIMIT } from '../../platform/kernel/error-details.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type DirectiveEntity, HandInDirective } from '../directives/index.js';
import { DISMISS, Escalations, RESUME, SCHEDULE_PAUSED } from '../escalations/index.js';
import { Guardians, letsNothingLeave } from '../guardian/index.js';
import { haltedIn } from '../terms/index.js';
import { KnownZone, TeamOfRequest, Teams, Workspaces } from '../workspaces/index.js';
import type { ScheduleEntity, ScheduledDirective } from './schedule.entity.js';
import { nextDue, type ScheduleRule } from './schedule-rule.js';
import type {
  ChangeScheduleBody,
  CreateScheduleBody,
  ScheduledDirectiveBody,
  ScheduleRuleBody,
} from './schedules.dto.js';
import { Schedules } from './schedules.repository.js';

export const TooManySchedules = defineError(
  'TOO_MANY_SCHEDULES',
  409,
  'A team can have 100 schedules, and so can the workspace for no team: delete one first.',
  { details: LIMIT },
);

/** For each team, and for none. */
const MOST = 100;

/** One run of a schedule. */
interface Run {
  /** Unix milliseconds. */
  now: number;
  /** Null: a person runs it. */
  dueAt: number | null;
  /** The first due time that this run makes up for, if it is another. */
  missedSince: number | null;
  by: Actor;
  requesterIds: string[];
}

/** What people do with schedules, and what a run does; {@link DueSchedules} finds those that are due. */
@Injectable()
export class ScheduleService {
  constructor(
    private readonly schedules: Schedules,
    private readonly handIn: HandInDirective,
    private readonly guardians: Guardians,
    private readonly escalations: Escalations,
    private readonly teams: Teams,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly workspaces: Workspaces,
    private readonly knownZone: KnownZone,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound for a team that the caller may not see, ValidationFailed, TooManySchedules */
  async create(caller: Caller, body: CreateScheduleBody): Promise<ScheduleEntity> {
    const { workspaceId } = caller;
    const teamId = await this.teamOfRequest.resolve(caller, body.teamId);
    requireRole(caller, teamId, 'operator');
    const rule = await this.ruleOf(caller, body.rule);
    const { total, now } = await this.schedules.countForAdding(teamId);
    if (total >= MOST) throw new TooManySchedules({ details: { limit: MOST } });
    const schedule: ScheduleEntity = {
      workspaceId,
      scheduleId: newId('sch'),
      teamId,
      name: body.name,
      directive: directiveOf(body.directive),
      rule,
      missed: body.missed ?? 'once',
      status: 'active',
      pausedReason: null,
      owner: actorOf(caller),
      requesterIds: peopleBehind(caller),
      nextRunAt: nextDue(rule, now),
      lastDueAt: null,
      lastRunAt: null,
      lastDirectiveId: null,
      createdBy: actorOf(caller),
      createdAt: now,
      updatedAt: now,
    };
    this.schedules.add(schedule);
    const { name, missed, nextRunAt } = schedule;
    this.note(schedule, actorOf(caller), 'created', `${caller.name} made the schedule "${name}".`, {
      details: { name, rule, missed, nextRunAt },
    });
    return schedule;
  }

  /**
   * Changes the named fields; the member who changes or resumes it owns it from then on. Values that it has already change nothing.
   * @throws NotFound, Forbidden, ValidationFailed; InvalidTransition for one to be resumed whose team has been archived
   */
  async change(caller: Caller, scheduleId: string, body: ChangeScheduleBody): Promise<ScheduleEntity> {
    // The zone is looked up before the schedule is locked.
    const rule = body.rule && (await this.ruleOf(caller, body.rule));
    const { schedule, now } = await this.schedules.lock(scheduleId);
    requireRole(caller, schedule.teamId, 'operator');
    const wanted = {
      ...(body.name && { name: body.name }),
      ...(body.directive && { directive: directiveOf(body.directive) }),
      ...(rule && { rule }),
      ...(body.missed && { missed: body.missed }),
    };
    const changed = (['name', 'directive', 'rule', 'missed'] as const).filter(
      (name) => wanted[name] !== undefined && !isDeepStrictEqual(wanted[name], schedule[name]),
    );
    const after: ScheduleEntity = { ...schedule, ...wanted };
    const resumes = body.status === 'active' && schedule.status === 'paused';
    const pauses = body.status === 'paused' && schedule.status === 'active';
    if (changed.length > 0 || resumes) {
      after.owner = actorOf(caller);
      after.requesterIds = [...new Set([...schedule.requesterIds, ...peopleBehind(caller)])];
    }
    if (resumes) await this.assertTeam(schedule);
    after.status = body.status ?? schedule.status;
    if (after.status === 'paused') after.nextRunAt = null;
    // After the due time that was handled last, also where the clock was set back since.
    else if (resumes || changed.includes('rule'))
      after.nextRunAt = nextDue(after.rule, Math.max(now, schedule.lastDueAt ?? now));
    if (resumes) after.pausedReason = null;
    if (pauses) after.pausedReason = `${caller.name} paused it.`;
    if (changed.length === 0 && !resumes && !pauses) return schedule;

    after.updatedAt = now;
    const { workspaceId: _workspace, scheduleId: _id, ...changes } = after;
    this.schedules.update(schedule, changes);
    if (changed.length > 0) {
      const summary = `${caller.name} changed the schedule "${after.name}": ${changed.join(', ')}.`;
      const pick = (of: ScheduleEntity) => Object.fromEntries(changed.map((name) => [name, of[name]]));
      this.note(after, actorOf(caller), 'updated', summary, {
        details: { old: pick(schedule), new: pick(after) },
      });
    }
    if (pauses)
      this.note(after, actorOf(caller), 'paused', `${caller.name} paused the schedule "${after.name}".`);
    if (resumes) {
      const summary = `${caller.name} resumed the schedule "${after.name}".`;
      this.note(after, actorOf(caller), 'resumed', summary, { details: { nextRunAt: after.nextRunAt } });
      await this.escalations.resolveAbout(SCHEDULE_PAUSED, entityOf(after), summary);
    }
    return after;
  }

  /** What it has handed in stays. @throws NotFound, Forbidden */
  async delete(caller: Caller, scheduleId: string): Promise<ScheduleEntity> {
    const { schedule } = await this.schedules.lock(scheduleId);
    requireRole(caller, schedule.teamId, 'operator');
    this.schedules.delete(schedule);
    const { name, rule } = schedule;
    const summary = `${caller.name} deleted the schedule "${name}".`;
    this.note(schedule, actorOf(caller), 'deleted', summary, { details: { name, rule } });
    await this.escalations.resolveAbout(SCHEDULE_PAUSED, entityOf(schedule), summary);
    return schedule;
  }

  /**
   * Runs it now, with the rights of the caller; its due times stay as they are.
   * @throws NotFound, Forbidden, GuardianHalted, InvalidTransition for one whose team has been archived
   */
  async runNow(caller: Caller, scheduleId: string): Promise<DirectiveEntity> {
    const { mode } = await this.guardians.lockShared(caller.workspaceId);
    const { schedule, now } = await this.schedules.lock(scheduleId);
    requireRole(caller, schedule.teamId, 'operator');
    if (letsNothingLeave(mode)) throw haltedIn(mode);
    await this.assertTeam(schedule);
    const requesterIds = [...new Set([...schedule.requesterIds, ...peopleBehind(caller)])];
    return this.run(schedule, { now, dueAt: null, missedSince: null, by: actorOf(caller), requesterIds });
  }

  /** Hands in the directive of a locked schedule. */
  run(schedule: ScheduleEntity, { now, dueAt, missedSince, by, requesterIds }: Run): DirectiveEntity {
    const { workspaceId, scheduleId, teamId, name } = schedule;
    const { capo, ...terms } = schedule.directive;
    const directive = this.handIn.accept(
      { ...terms, ...(capo && { capo }) },
      {
        workspaceId,
        teamId,
        actor: by,
        onBehalfOf: { requestedBy: by, requesterIds },
        schedule: { scheduleId, name, dueAt },
      },
    );
    const { directiveId } = directive;
    this.schedules.update(schedule, { lastRunAt: now, lastDirectiveId: directiveId });
    this.note(
      schedule,
      by,
      'ran',
      `The schedule "${name}" handed in the directive ${directiveId} for ${by.name}.`,
      {
        directiveId,
        details: { directiveId, dueAt, missedSince },
      },
    );
    return directive;
  }

  /** Pauses a locked schedule that cannot run, and asks for a person. */
  async pause(schedule: ScheduleEntity, now: number, because: string): Promise<void> {
    const { name, teamId, owner } = schedule;
    this.schedules.update(schedule, {
      status: 'paused',
      pausedReason: because,
      nextRunAt: null,
      updatedAt: now,
    });
    const reason = `The schedule "${name}" is paused. ${because}`;
    this.note(schedule, SYSTEM, 'paused', reason, { outcome: 'denied', details: { because, owner } });
    const options = [RESUME, DISMISS];
    await this.escalations.open({
      ...{ kind: SCHEDULE_PAUSED, entity: entityOf(schedule), teamId, reason, options, dueAt: null },
    });
  }

  /** Due times that nobody wants to be made up for. */
  skip(schedule: ScheduleEntity, from: number, to: number): void {
    const summary = `The schedule "${schedule.name}" skipped what it missed; it runs again at its next due time.`;
    this.note(schedule, SYSTEM, 'skipped', summary, { outcome: 'denied', details: { from, to } });
  }

  private async ruleOf(caller: Caller, { on, timezone, ...rule }: ScheduleRuleBody): Promise<ScheduleRule> {
    await this.knownZone.require(timezone, 'rule.timezone');
    const zone =
      timezone ??
      (await this.workspaces.settings({ workspaceId: caller.workspaceId, teamIds: 'all' })).timezone;
    return { ...rule, ...(rule.every !== 'day' && { on: on! }), timezone: zone };
  }

  private async assertTeam({ workspaceId, teamId }: ScheduleEntity): Promise<void> {
    if (teamId === null || !(await this.teams.isArchived(workspaceId, teamId))) return;
    const message =
      'The team of this schedule has been archived. Make a new schedule for what is still wanted.';
    throw new InvalidTransition({ message });
  }

  private note(
    schedule: ScheduleEntity,
    actor: Actor,
    act: 'created' | 'updated' | 'deleted' | 'paused' | 'resumed' | 'ran' | 'skipped',
    summary: string,
    more: { directiveId?: string; outcome?: 'denied'; details?: Record<string, unknown> } = {},
  ): void {
    const { teamId, directive } = schedule;
    const entity = entityOf(schedule);
    this.receipts.append({
      actor,
      action: `schedule.${act}`,
      entity,
      teamId,
      capo: directive.capo,
      summary,
      ...more,
    });
  }
}

function entityOf({ scheduleId }: ScheduleEntity) {
  return { type: 'schedule', id: scheduleId };
}

/** JSON says null where it means nothing, so null counts as left out. */
function directiveOf({
  text,
  capo,
  priority,
  requiresApproval,
  context,
}: ScheduledDirectiveBody): ScheduledDirective {
  return {
    text,
    capo: capo ?? null,
    priority: priority ?? 'medium',
    requiresApproval: requiresApproval ?? true,
    context: context ?? {},
  };
}
