import { Injectable } from '@nestjs/common';
import type { Statement } from '../../platform/database/batch.js';
import { Db } from '../../platform/database/db.js';
import { type Listing, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { RevertEntity, RevertStepEntity, type StepStatus } from './guardian.entity.js';

/** One line of a plan. */
export type PlannedStep = Pick<
  RevertStepEntity,
  'workPacketId' | 'reversibility' | 'compensation' | 'status' | 'reason'
>;

/** How many steps of a revert there are in each status. */
export type StepCounts = Record<StepStatus, number>;

/** A step with what it needs of its revert. */
export interface OpenStep extends RevertStepEntity {
  revertStatus: RevertEntity['status'];
  /** Who asked for the revert. */
  revertedBy: RevertEntity['createdBy'];
}

const STEP_COLUMNS = columnsOf(RevertStepEntity);
const PLANNED = 'work_packet_id, reversibility, compensation, status, reason';

/**
 * What cannot be undone is said in the plan; it is not even tried. What an earlier revert began to undo outside, and was
 * stopped in, says how that ended; nothing else begins with it meanwhile. What it had not begun with falls to the new plan.
 */
const planOf = (carriedOut: string) => /* sql */ `
select row_number() over (order by seq desc nulls first, work_packet_id desc)::int as position, work_packet_id, team_id,
  reversibility, compensation, case when compensation is null then 'not_possible' else 'planned' end as status,
  case when compensation is null then 'Nothing takes this back.' end as reason
from (${carriedOut}) carried_out
where not exists (select from revert_steps s
  join reverts r on r.workspace_id = s.workspace_id and r.revert_id = s.revert_id
  where s.workspace_id = current_setting('app.workspace_id') and s.work_packet_id = carried_out.work_packet_id
  and s.status = 'planned' and (s.begun_at is not null or r.status <> 'running'))`;

@Injectable()
export class Reverts {
  constructor(private readonly db: Db) {}

  add(revert: RevertEntity): void {
    this.db.insert(RevertEntity, revert);
  }

  /** @throws NotFound */
  async get(scope: Scope, revertId: string): Promise<RevertEntity> {
    const { workspaceId } = scope;
    const revert = isId('rvt', revertId)
      ? await this.db.findOne(scope, RevertEntity, { workspaceId, revertId })
      : undefined;
    if (!revert) throw new NotFound();
    return revert;
  }

  /** The revert that undoes work packets, or was stopped in it by a kill. */
  lockRunning(workspaceId: string): Promise<RevertEntity | undefined> {
    return this.db.lockOne(RevertEntity, { workspaceId, status: 'running' }, 'for update');
  }

  update({ workspaceId, revertId }: Key, changes: Partial<RevertEntity>): void {
    this.db.update(RevertEntity, { workspaceId, revertId }, changes);
  }

  /** Writes the steps of a new revert: one for each of these rows, the newest first. */
  plan({ workspaceId, revertId }: Key, { text, values = [] }: Statement): void {
    this.db.write(
      `insert into revert_steps (workspace_id, revert_id, position, work_packet_id, team_id, reversibility, compensation,
         status, reason)
       select $${values.length + 1}, $${values.length + 2}, planned.* from (${planOf(text)}) planned`,
      [...values, workspaceId, revertId],
    );
  }

  /** Adds the one step of a revert of one work packet. */
  addStep(
    step: Pick<
      RevertStepEntity,
      'workspaceId' | 'revertId' | 'position' | 'workPacketId' | 'teamId' | 'reversibility' | 'compensation'
    >,
  ): RevertStepEntity {
    const added: RevertStepEntity = {
      ...step,
      status: 'planned',
      reason: null,
      result: null,
      attempts: 0,
      begunAt: null,
      endedAt: null,
      receiptId: null,
    };
    this.db.insert(RevertStepEntity, added);
    return added;
  }

  /** The beginning of a plan that is not made, with the number of its lines. */
  async preview(
    { text, values = [] }: Statement,
    limit: number,
  ): Promise<{ steps: PlannedStep[]; total: number }> {
    const rows = await this.db.query<PlannedStep & { total: number }>(
      `select ${PLANNED}, count(*) over () as total from (${planOf(text)}) planned
       order by position limit $${values.length + 1}`,
      [...values, limit],
    );
    return { steps: rows.map(({ total: _total, ...step }) => step), total: rows[0]?.total ?? 0 };
  }

  /** The beginning of a plan, the newest work packet first. */
  steps({ workspaceId, revertId }: Key, limit: number): Promise<PlannedStep[]> {
    return this.db.query<PlannedStep>(
      `select ${PLANNED} from revert_steps where workspace_id = $1 and revert_id = $2 order by position limit $3`,
      [workspaceId, revertId, limit],
    );
  }

  async counts(scope: Scope, { workspaceId, revertId }: Key): Promise<StepCounts> {
    const rows = await this.db.read<{ status: StepStatus; count: number }>(
      scope,
      `select status, count(*) from revert_steps where workspace_id = $1 and revert_id = $2 group by status`,
      [workspaceId, revertId],
    );
    const counts: StepCounts = { planned: 0, done: 0, failed: 0, not_possible: 0, skipped: 0 };
    for (const { status, count } of rows) counts[status] = count;
    return counts;
  }

  /** The newest work packet that is still to be undone. */
  async nextPlanned({ workspaceId, revertId }: Key): Promise<string | undefined> {
    const [next] = await this.db.query<{ workPacketId: string }>(
      `select work_packet_id from revert_steps where workspace_id = $1 and revert_id = $2 and status = 'planned'
       order by position limit 1`,
      [workspaceId, revertId],
    );
    return next?.workPacketId;
  }

  /** Keeps the step of a work packet that is still to be undone; no row when there is none. */
  lockOpenStepStatement(workspaceId: string, workPacketId: string): Statement {
    return {
      text: `select ${columnsOf(RevertStepEntity, { of: 's' })}, r.status as revert_status, r.created_by as reverted_by
        from revert_steps s join reverts r on r.workspace_id = s.workspace_id and r.revert_id = s.revert_id
        where s.workspace_id = $1 and s.work_packet_id = $2 and s.status = 'planned' for update of s`,
      values: [workspaceId, workPacketId],
    };
  }

  /** Keeps a step, however it stands. */
  lockStepStatement({
    workspaceId,
    revertId,
    position,
  }: Pick<RevertStepEntity, 'workspaceId' | 'revertId' | 'position'>): Statement {
    return {
      text: `select ${columnsOf(RevertStepEntity, { of: 's' })}, r.status as revert_status, r.created_by as reverted_by
        from revert_steps s join reverts r on r.workspace_id = s.workspace_id and r.revert_id = s.revert_id
        where s.workspace_id = $1 and s.revert_id = $2 and s.position = $3 for update of s`,
      values: [workspaceId, revertId, position],
    };
  }

  /** Keeps the last step of a work packet, if that failed. */
  async lockFailedStep(workspaceId: string, workPacketId: string): Promise<OpenStep | undefined> {
    const [step] = await this.db.query<OpenStep>(
      `select ${columnsOf(RevertStepEntity, { of: 's' })}, r.status as revert_status, r.created_by as reverted_by
       from revert_steps s join reverts r on r.workspace_id = s.workspace_id and r.revert_id = s.revert_id
       where s.workspace_id = $1 and s.work_packet_id = $2
       order by r.created_at desc, r.revert_id desc limit 1 for update of s`,
      [workspaceId, workPacketId],
    );
    return step?.status === 'failed' ? step : undefined;
  }

  updateStep(
    { workspaceId, revertId, position }: RevertStepEntity,
    changes: Partial<RevertStepEntity>,
  ): void {
    this.db.update(RevertStepEntity, { workspaceId, revertId, position }, changes);
  }

  /** Skips what a stopped revert has not begun with, and returns the ids of those packets. */
  skipPlannedStatement({ workspaceId, revertId }: Key, reason: string, at: number): Statement {
    return {
      text: `update revert_steps set status = 'skipped', reason = $3, ended_at = $4
        where workspace_id = $1 and revert_id = $2 and status = 'planned' and begun_at is null
        returning work_packet_id as id`,
      values: [workspaceId, revertId, reason, new Date(at)],
    };
  }

  /** A page of the steps, the newest work packet first. */
  pageOfSteps(scope: Scope, revertId: string, query: PageQuery): Promise<Page<RevertStepEntity>> {
    const listing: Listing = {
      name: `steps of ${revertId}`,
      select: STEP_COLUMNS,
      from: 'revert_steps',
      ...where({ workspace_id: scope.workspaceId, revert_id: revertId }),
      order: [{ column: 'position', kind: 'number' }],
    };
    return readPage(this.db, scope, listing, query);
  }
}

type Key = Pick<RevertEntity, 'workspaceId' | 'revertId'>;
