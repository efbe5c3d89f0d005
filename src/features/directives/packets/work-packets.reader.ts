import { Injectable } from '@nestjs/common';
import type { Statement } from '../../../platform/database/batch.js';
import { Db } from '../../../platform/database/db.js';
import {
  countByTally,
  type Listing,
  pageOfEach,
  partsBy,
  readPage,
  type SortKey,
  where,
} from '../../../platform/database/listing.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import type { Page } from '../../../platform/kernel/pages.dto.js';
import { receiptsBehind } from '../../../platform/receipts/receipts.js';
import type { HeldBack } from '../../guardian/index.js';
import { CAPO_ROLES } from '../../terms/index.js';
import { PACKET_STATUSES, WorkPacketEntity } from './work-packet.entity.js';
import type { WorkPacketQuery } from './work-packets.dto.js';

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

/** Work packets as they are read, whatever becomes of them meanwhile. */
@Injectable()
export class WorkPacketsReader {
  constructor(private readonly db: Db) {}

  list(
    scope: Scope,
    { status, capo, directiveId, teamId, ...paging }: WorkPacketQuery,
  ): Promise<Page<ListedPacket>> {
    const filters = where({
      workspace_id: scope.workspaceId,
      status,
      capo,
      directive_id: directiveId,
      team_id: teamId,
    });
    const order: SortKey[] = [
      { column: 'created_at', kind: 'time', descending: true },
      { column: 'position', kind: 'number' },
      { column: 'work_packet_id', kind: 'text' },
    ];
    // The index has status and capo in front of the time.
    const parts = status === undefined ? partsBy('status', PACKET_STATUSES) : partsBy('capo', CAPO_ROLES);
    const isMerged = directiveId === undefined && (status === undefined) !== (capo === undefined);
    const listing: Listing = {
      name: 'work-packets',
      select: LISTED_PACKET,
      from: 'work_packets',
      ...filters,
      order,
      ...(isMerged && { page: pageOfEach('work_packets', 'work_packet_id', parts, filters.where, order) }),
      // They are tallied by their status and their team.
      ...(capo === undefined &&
        directiveId === undefined && {
          count: countByTally(
            'packets',
            { workspaceId: scope.workspaceId, teamId },
            { statuses: status && [status] },
          ),
        }),
    };
    return readPage(this.db, scope, listing, paging);
  }

  find(scope: Scope, workPacketId: string): Promise<WorkPacketEntity | undefined> {
    return this.db.findOne(scope, WorkPacketEntity, { workspaceId: scope.workspaceId, workPacketId });
  }

  /** What the guardian holds back at a time, and has denied in the day before. */
  async heldBack(scope: Scope, at: number): Promise<HeldBack> {
    const [row] = await this.db.read<HeldBack>(
      scope,
      `select
         (select coalesce(sum(n), 0) from app.tally_of($1, 'approvals')
           where split_part(key, ' ', 1) in ('pending', 'ready')) as pending,
         (select count(*) from work_packets where workspace_id = $1 and status = 'denied' and capo = any($3)
           and created_at > $2) as "blocked24h"`,
      [scope.workspaceId, new Date(at - 86_400_000), CAPO_ROLES],
    );
    return row!;
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
}
