import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Statement } from '../../../platform/database/batch.js';
import { columnsOf } from '../../../platform/database/table.js';
import type { AllowedBy, Unconfirmed } from '../../guardian/index.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import type { Outcome } from './packet-effect.js';
import { HANDED_OUT, PACKET_STATES, type PacketTrigger } from './packet-states.js';
import { WorkPacketEntity } from './work-packet.entity.js';

const COLUMNS = columnsOf(WorkPacketEntity);

/** The same as {@link isUnconfirmed}, the other way round. */
export const FAILED_UNSENT = `status = 'failed' and coalesce(result->'error'->>'code', '') not like '%UNCONFIRMED'`;

type PacketKey = Pick<WorkPacketEntity, 'workspaceId' | 'workPacketId' | 'status'>;

/** What a transition writes besides. */
type Change = Partial<
  Pick<
    WorkPacketEntity,
    | 'result'
    | 'compensation'
    | 'receiptId'
    | 'executedAt'
    | 'sendingSince'
    | 'attempts'
    | 'envelope'
    | 'decision'
    | 'beganEpoch'
    | 'beganSeq'
  >
>;

/** What an edit replaces. */
type RewrittenContent = Pick<
  WorkPacketEntity,
  'title' | 'target' | 'params' | 'needsInput' | 'reversibility' | 'compensation' | 'decision'
>;

/** Work packets as they change: every lock, every transition, and what is asked between the two. */
@Injectable()
export class WorkPackets {
  constructor(private readonly db: Db) {}

  /** Adds a drafted packet in the status that `trigger` leads it to. */
  add(packet: WorkPacketEntity, trigger: PacketTrigger, also: Partial<WorkPacketEntity> = {}): void {
    const status = PACKET_STATES.next(packet.status, trigger);
    this.db.insert(WorkPacketEntity, { ...packet, ...also, status });
  }

  /**
   * Locks the directive of a packet, before the packet: packets of one directive that are about to leave take turns, since
   * a recall of one locks the others.
   */
  lockDirectiveStatement(workspaceId: string, workPacketId: string): Statement {
    return {
      text: `select from directives where workspace_id = $1 and directive_id = (
          select directive_id from work_packets where workspace_id = $1 and work_packet_id = $2)
        for no key update`,
      values: [workspaceId, workPacketId],
    };
  }

  async lockDirective({ workspaceId, workPacketId }: PacketKey): Promise<void> {
    await this.db.unit.batch([this.lockDirectiveStatement(workspaceId, workPacketId)]);
  }

  /** Writes a transition of a packet that the transaction has locked. */
  transition(
    { workspaceId, workPacketId, status }: PacketKey,
    trigger: PacketTrigger,
    change: Change = {},
  ): void {
    const to = PACKET_STATES.next(status, trigger);
    const delay = { throttledUntil: null, throttledBy: null };
    this.db.update(
      WorkPacketEntity,
      { workspaceId, workPacketId, status },
      { ...delay, ...change, status: to },
    );
  }

  /** Writes that standing orders delay a packet, which the transaction has locked. */
  throttle(
    { workspaceId, workPacketId, status }: PacketKey,
    change: Pick<WorkPacketEntity, 'throttledUntil' | 'throttledBy' | 'decision'>,
  ): void {
    this.db.update(WorkPacketEntity, { workspaceId, workPacketId, status }, change);
  }

  /**
   * The packets of the last draft of a directive, in their order. Those that wait for a person change only in a
   * transaction that has locked their approval.
   */
  current(workspaceId: string, directiveId: string): Promise<WorkPacketEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from work_packets where workspace_id = $1 and directive_id = $2
         and status not in ('cancelled', 'denied') order by position`,
      [workspaceId, directiveId],
    );
  }

  /** Replaces what a packet that waits for a person does. */
  rewrite({ workspaceId, workPacketId }: PacketKey, content: RewrittenContent): void {
    this.db.update(WorkPacketEntity, { workspaceId, workPacketId, status: 'awaiting_approval' }, content);
  }

  /** Locks the packets of a directive that wait to leave, in their order. */
  lockQueued(workspaceId: string, directiveId: string): Promise<WorkPacketEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from work_packets where workspace_id = $1 and directive_id = $2 and status = 'queued'
       order by position for update`,
      [workspaceId, directiveId],
    );
  }

  /** Locks the packets of a directive that failed, and of which certainly nothing left. */
  lockFailedUnsent(workspaceId: string, directiveId: string): Promise<WorkPacketEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from work_packets where workspace_id = $1 and directive_id = $2 and ${FAILED_UNSENT}
       order by position for update`,
      [workspaceId, directiveId],
    );
  }

  /** Locks the packets of the last draft of a directive that were denied, or cancelled with one that was. */
  lockStopped(workspaceId: string, directiveId: string): Promise<WorkPacketEntity[]> {
    return this.db.query(
      `select ${COLUMNS} from work_packets p where workspace_id = $1 and directive_id = $2
         and status in ('denied', 'cancelled') and created_at = (
           select max(created_at) from work_packets where workspace_id = $1 and directive_id = $2)
       order by position for update`,
      [workspaceId, directiveId],
    );
  }

  lock(workspaceId: string, workPacketId: string): Promise<WorkPacketEntity | undefined> {
    return this.db.lockOne(WorkPacketEntity, { workspaceId, workPacketId }, 'for update');
  }

  /** What is known now of a locked packet that failed. */
  correct(
    { workspaceId, workPacketId, status }: PacketKey,
    change: Pick<Change, 'result' | 'receiptId'>,
  ): void {
    this.db.update(WorkPacketEntity, { workspaceId, workPacketId, status }, change);
  }

  /** Lets the awaiting packets of a directive go, each with the content that a person allowed. */
  release(
    workspaceId: string,
    allowedBy: AllowedBy,
    allowed: readonly { workPacketId: string; hash: string }[],
  ): void {
    this.db.write(
      `update work_packets p set status = $4, allowed_hash = a.hash, allowed_by = $5, throttled_until = null,
         throttled_by = null
       from unnest($2::text[], $3::text[]) as a (work_packet_id, hash)
       where p.workspace_id = $1 and p.work_packet_id = a.work_packet_id and p.status in ${PACKET_STATES.sourcesSql('approve')}`,
      [
        workspaceId,
        allowed.map((one) => one.workPacketId),
        allowed.map((one) => one.hash),
        PACKET_STATES.next('awaiting_approval', 'approve'),
        allowedBy,
      ],
    );
  }

  /** Cancels the packets of a directive that have not been handed out, and returns their ids. */
  cancelUnsentStatement(workspaceId: string, directiveId: string): Statement {
    return {
      text: `update work_packets set status = 'cancelled'
        where workspace_id = $1 and directive_id = $2 and status = any($3) returning work_packet_id as id`,
      values: [
        workspaceId,
        directiveId,
        PACKET_STATES.sources('cancel').filter((status) => !HANDED_OUT.includes(status)),
      ],
    };
  }

  /** Of those that {@link cancelUnsentStatement} cancels, the ones that were released, so that orders may count them. */
  async releasedUnsent(workspaceId: string, directiveId: string): Promise<string[]> {
    const rows = await this.db.query<{ id: string }>(
      `select work_packet_id as id from work_packets
       where workspace_id = $1 and directive_id = $2 and status in ('queued', 'halted')
         and coalesce(result->'error'->>'code', '') not like '%UNCONFIRMED'`,
      [workspaceId, directiveId],
    );
    return rows.map(({ id }) => id);
  }

  /** Another draft takes the place of the one that was denied, or could not be sent. */
  supersede(workspaceId: string, directiveId: string): void {
    this.db.write(
      `update work_packets set status = $3 where workspace_id = $1 and directive_id = $2
         and status in ${PACKET_STATES.sourcesSql('supersede')} and (status <> 'failed' or ${FAILED_UNSENT})`,
      [workspaceId, directiveId, PACKET_STATES.next('denied', 'supersede')],
    );
  }

  /** True when a packet of the directive has left, or may have. */
  async anyHandedOut(workspaceId: string, directiveId: string): Promise<boolean> {
    const rows = await this.db.query(
      'select 1 from work_packets where workspace_id = $1 and directive_id = $2 and status = any($3) limit 1',
      [workspaceId, directiveId, HANDED_OUT],
    );
    return rows.length > 0;
  }

  /** The same, but for those that failed and certainly did not leave. */
  async anyPerhapsSent(workspaceId: string, directiveId: string): Promise<boolean> {
    const rows = await this.db.query(
      `select 1 from work_packets
       where workspace_id = $1 and directive_id = $2 and status = any($3) and not (${FAILED_UNSENT}) limit 1`,
      [workspaceId, directiveId, HANDED_OUT],
    );
    return rows.length > 0;
  }

  /** The packets of a directive that have not ended; those that are queued may be delayed by standing orders. */
  async open(
    workspaceId: string,
    directiveId: string,
  ): Promise<{ workPacketId: string; isQueued: boolean; isDelayed: boolean }[]> {
    return this.db.query(
      `select work_packet_id, status = 'queued' as is_queued, throttled_until is not null as is_delayed
       from work_packets where workspace_id = $1 and directive_id = $2 and status not in ('cancelled', 'denied')`,
      [workspaceId, directiveId],
    );
  }

  /** That an attempt outside began, or what came of it; it is there already where the answer to a COMMIT was lost. */
  addAttempt(
    { workspaceId, id }: Pick<WorkItem, 'workspaceId' | 'id'>,
    { attempt, revertId = '' }: { attempt: number; revertId?: string },
    outcome: Outcome | null,
  ): void {
    this.db.write(
      `insert into outside_attempts (workspace_id, work_packet_id, revert_id, attempt, event, outcome)
       values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
      [workspaceId, id, revertId, attempt, outcome ? 'ended' : 'begun', outcome && JSON.stringify(outcome)],
    );
  }

  /** How many packets of a directive were carried out and not undone, and how many are just being carried out. */
  async carriedOut(
    workspaceId: string,
    directiveId: string,
  ): Promise<{ executed: number; underWay: number }> {
    const [row] = await this.db.query<{ executed: number; underWay: number }>(
      `select count(*) filter (where status = 'executed') as executed,
         count(*) filter (where status = 'sending') as under_way
       from work_packets where workspace_id = $1 and directive_id = $2`,
      [workspaceId, directiveId],
    );
    return row!;
  }

  /** Halts every packet that waits to leave; those that are being sent are answered as unconfirmed. */
  async halt(workspaceId: string): Promise<Unconfirmed[]> {
    const [, sending] = await this.db.unit.batch([
      {
        text: `update work_packets set status = 'halted' where workspace_id = $1 and status = 'queued'`,
        values: [workspaceId],
      },
      {
        text: `select work_packet_id, team_id, sending_since as since from work_packets
          where workspace_id = $1 and status = 'sending' and sending_since is not null order by sending_since`,
        values: [workspaceId],
      },
    ]);
    return sending as Unconfirmed[];
  }

  /** Queues exactly the halted packets again. */
  resume(
    workspaceId: string,
  ): Promise<Pick<WorkPacketEntity, 'workPacketId' | 'reversibility' | 'compensation'>[]> {
    return this.db.query(
      `update work_packets set status = $2 where workspace_id = $1 and status in ${PACKET_STATES.sourcesSql('resume')}
       returning work_packet_id, reversibility, compensation`,
      [workspaceId, PACKET_STATES.next('halted', 'resume')],
    );
  }

  /** What a revert of the kill lets go on. */
  halted(workspaceId: string): Promise<Pick<WorkPacketEntity, 'workPacketId' | 'reversibility'>[]> {
    return this.db.query(
      `select work_packet_id, reversibility from work_packets
       where workspace_id = $1 and status in ${PACKET_STATES.sourcesSql('resume')}`,
      [workspaceId],
    );
  }

  /** Locks a packet and its directive for its undo, in that order. */
  lockForUndoStatements(
    workspaceId: string,
    workPacketId: string,
  ): [directive: Statement, packet: Statement] {
    return [
      this.lockDirectiveStatement(workspaceId, workPacketId),
      {
        text: `select ${COLUMNS} from work_packets where workspace_id = $1 and work_packet_id = $2 for update`,
        values: [workspaceId, workPacketId],
      },
    ];
  }
}
