import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { countByTally, type Listing, readPage, where } from '../../../platform/database/listing.js';
import type { Statement } from '../../../platform/database/batch.js';
import { columnsOf } from '../../../platform/database/table.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import { receiptsBehind } from '../../../platform/receipts/receipts-behind.js';
import type { Page } from '../../../platform/kernel/pages.dto.js';
import type { AllowedBy } from '../../guardian/policy-gate.js';
import type { Unconfirmed } from '../../guardian/halting.js';
import { HANDED_OUT, PACKET_STATES, type PacketTrigger } from './packet-states.js';
import type { WorkPacketQuery } from './work-packets.dto.js';
import { WorkPacketEntity } from './work-packet.entity.js';

const COLUMNS = columnsOf(WorkPacketEntity);

/** How much of a text stands in a list, in characters. */
const LISTED_TEXT = 500;
/** What lists show of a packet; what it sends and what came of it stand in the single record. */
const LISTED_PACKET = `work_packet_id, directive_id, team_id, capo, engine, title, kind, action_type,
  left(target, ${LISTED_TEXT}) as target, reversibility, status, decision->>'outcome' as outcome, leverage_score,
  multipliers, left(rationale, ${LISTED_TEXT}) as rationale, cost, attempts,
  throttled_until, created_at, executed_at, receipt_id`;

export type ListedPacket = Pick<
  WorkPacketEntity,
  | 'workPacketId'
  | 'directiveId'
  | 'teamId'
  | 'capo'
  | 'engine'
  | 'title'
  | 'kind'
  | 'actionType'
  | 'target'
  | 'reversibility'
  | 'status'
  | 'leverageScore'
  | 'multipliers'
  | 'rationale'
  | 'cost'
  | 'attempts'
  | 'throttledUntil'
  | 'createdAt'
  | 'executedAt'
  | 'receiptId'
> & { outcome: string | null };

/** How the packets of one directive ended; `open` ones have not. */
export interface PacketTally {
  open: number;
  executed: number;
  failed: number;
  denied: number;
  /** Of the denied ones, those that a person had approved. */
  deniedApproved: number;
  /** Why those that were denied when they were about to leave did not. */
  denials: string[];
  /** Cancelled because the deadline passed before it left. */
  expired: number;
  /** Of the failed ones, those of which certainly nothing left. */
  failedUnsent: number;
  /** Why the first of those failed. */
  failure: string | null;
  /** Carried out, and undone. */
  reverted: number;
  /** What the executed ones did: the action type, with its transport where it has one, such as `email.send/file`. */
  done: string[];
}

const NO_PACKETS: PacketTally = {
  open: 0,
  executed: 0,
  failed: 0,
  denied: 0,
  deniedApproved: 0,
  denials: [],
  expired: 0,
  failedUnsent: 0,
  failure: null,
  reverted: 0,
  done: [],
};

/** The same as {@link isUnconfirmed}, the other way round. */
const FAILED_UNSENT = `status = 'failed' and coalesce(result->'error'->>'code', '') not like '%UNCONFIRMED'`;

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
   * How many packets each of these standing orders delays that began to wait before this one; without one, how many there
   * are. In the open transaction, if there is one.
   */
  async waitingAhead(
    workspaceId: string,
    standingOrderIds: readonly string[],
    own: Pick<WorkPacketEntity, 'workPacketId' | 'throttledUntil'> | null = null,
  ): Promise<Map<string, number>> {
    const rows = await this.db.read<{ id: string; ahead: number }>(
      { workspaceId, teamIds: 'all' },
      `select o.id, (select count(*)::int from work_packets p
         where p.workspace_id = $1 and p.status = 'queued' and p.throttled_until is not null
           and p.throttled_by @> array[o.id] and p.work_packet_id is distinct from $4
           and ($3::timestamptz is null or (p.throttled_until, p.work_packet_id) < ($3, $4))) as ahead
       from unnest($2::text[]) as o (id)`,
      [
        workspaceId,
        standingOrderIds,
        own?.throttledUntil ? new Date(own.throttledUntil) : null,
        own?.workPacketId ?? null,
      ],
    );
    return new Map(rows.map(({ id, ahead }) => [id, ahead]));
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

  /** Another draft takes the place of the one that was denied. */
  supersedeDenied(workspaceId: string, directiveId: string): void {
    this.db.write(
      `update work_packets set status = $3
       where workspace_id = $1 and directive_id = $2 and status in ${PACKET_STATES.sourcesSql('supersede')}`,
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

  /** True when standing orders delay every packet of the directive that has not ended. */
  async areAllDelayed(workspaceId: string, directiveId: string): Promise<boolean> {
    const [row] = await this.db.query<{ delayed: boolean }>(
      `select coalesce(bool_and(status = 'queued' and throttled_until is not null), false) as delayed from work_packets
       where workspace_id = $1 and directive_id = $2 and status not in ('cancelled', 'denied')`,
      [workspaceId, directiveId],
    );
    return row!.delayed;
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

  async tally(workspaceId: string, directiveId: string): Promise<PacketTally> {
    const tallies = await this.tallies(workspaceId, [directiveId]);
    return tallies.get(directiveId) ?? NO_PACKETS;
  }

  /** By directive; one without packets is not in it. */
  async tallies(workspaceId: string, directiveIds: readonly string[]): Promise<Map<string, PacketTally>> {
    if (directiveIds.length === 0) return new Map();
    const rows = await this.db.query<PacketTally & { directiveId: string }>(
      `select directive_id, count(*) filter (where status = 'executed') as executed,
         count(*) filter (where status = 'failed') as failed, count(*) filter (where status = 'denied') as denied,
         count(*) filter (where status = 'denied' and allowed_by in ('person', 'requester')) as denied_approved,
         coalesce(array_agg(distinct result->'error'->>'message')
           filter (where status = 'denied' and result->'error'->>'message' is not null), '{}') as denials,
         count(*) filter (where status = 'cancelled' and result->'error'->>'code' = 'DEADLINE_PASSED') as expired,
         count(*) filter (where status = 'reverted') as reverted,
         count(*) filter (where status in ('drafted', 'awaiting_approval', 'queued', 'sending', 'halted')) as open,
         count(*) filter (where ${FAILED_UNSENT}) as failed_unsent,
         (array_agg(result->'error'->>'message' order by position) filter (where ${FAILED_UNSENT}))[1] as failure,
         coalesce(array_agg(action_type || coalesce('/' || (result->>'transport'), '') order by position)
           filter (where status = 'executed'), '{}') as done
       from work_packets where workspace_id = $1 and directive_id = any($2) group by directive_id`,
      [workspaceId, directiveIds],
    );
    return new Map(rows.map(({ directiveId, ...tally }) => [directiveId, tally]));
  }

  /** Halts every packet that waits to leave; those already handed out are answered as unconfirmed. */
  async halt(workspaceId: string): Promise<Unconfirmed[]> {
    const [, sending] = await this.db.unit.batch([
      {
        text: `update work_packets set status = 'halted' where workspace_id = $1 and status = 'queued'`,
        values: [workspaceId],
      },
      {
        text: `select work_packet_id, team_id, sending_since as since from work_packets
          where workspace_id = $1 and status = 'sending' order by sending_since`,
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

  /**
   * What was carried out behind a receipt, and what is just being carried out, as a revert plans it
   * ({@link Undoable.carriedOutStatement}). The order is that of the receipts, which no clock can change.
   */
  carriedOutStatement(
    workspaceId: string,
    { receiptSeq, limit }: { receiptSeq: number; limit: number },
  ): Statement {
    const { text, values = [] } = receiptsBehind(workspaceId, 'packet.executed', receiptSeq);
    return {
      text: `(select p.work_packet_id, p.team_id, p.reversibility, p.compensation, r.seq
          from (${text}) r join work_packets p on p.workspace_id = $1 and p.work_packet_id = r.entity_id
          where p.status = 'executed' order by r.seq desc limit $${values.length + 1})
        union all
        (select work_packet_id, team_id, reversibility, compensation, null from work_packets
          where workspace_id = $1 and status = 'sending' limit $${values.length + 1})`,
      values: [...values, limit],
    };
  }

  /** Which of these have been carried out and not undone. */
  async executedAmong(scope: Scope, workPacketIds: readonly string[]): Promise<Set<string>> {
    const rows = await this.db.read<{ workPacketId: string }>(
      scope,
      `select work_packet_id from work_packets
       where workspace_id = $1 and work_packet_id = any($2) and status = 'executed'`,
      [scope.workspaceId, workPacketIds],
    );
    return new Set(rows.map(({ workPacketId }) => workPacketId));
  }

  async titles(scope: Scope, workPacketIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.db.read<{ workPacketId: string; title: string }>(
      scope,
      'select work_packet_id, title from work_packets where workspace_id = $1 and work_packet_id = any($2)',
      [scope.workspaceId, workPacketIds],
    );
    return new Map(rows.map(({ workPacketId, title }) => [workPacketId, title]));
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

  async heldBack(scope: Scope, at: number): Promise<{ pending: number; blocked24h: number }> {
    const [row] = await this.db.read<{ pending: number; blocked24h: number }>(
      scope,
      `select
         coalesce((select n from app.tally_of($1, 'packets') where key = 'awaiting_approval'), 0) as pending,
         (select count(*) from work_packets where workspace_id = $1 and status = 'denied' and created_at > $2) as "blocked24h"`,
      [scope.workspaceId, new Date(at - 86_400_000)],
    );
    return row!;
  }

  find(scope: Scope, workPacketId: string): Promise<WorkPacketEntity | undefined> {
    return this.db.findOne(scope, WorkPacketEntity, { workspaceId: scope.workspaceId, workPacketId });
  }

  list(scope: Scope, { status, capo, directiveId, ...paging }: WorkPacketQuery): Promise<Page<ListedPacket>> {
    const listing: Listing = {
      name: 'work-packets',
      select: LISTED_PACKET,
      from: 'work_packets',
      ...where({ workspace_id: scope.workspaceId, status, capo, directive_id: directiveId }),
      order: [
        { column: 'created_at', kind: 'time', descending: true },
        { column: 'position', kind: 'number' },
        { column: 'work_packet_id', kind: 'text' },
      ],
      // They are tallied by their status alone.
      ...(capo === undefined &&
        directiveId === undefined && {
          count: countByTally('packets', scope, { statuses: status && [status] }),
        }),
    };
    return readPage(this.db, scope, listing, paging);
  }
}
