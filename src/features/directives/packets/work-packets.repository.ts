import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { type Listing, readPage, where } from '../../../platform/database/listing.js';
import type { Statement } from '../../../platform/database/batch.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import { CLOCK_TOLERANCE_MS, LEASE_MS } from '../../../platform/jobs/lease.js';
import type { Page } from '../../../platform/kernel/pages.dto.js';
import type { Unconfirmed } from '../../guardian/halting.js';
import type { WorkPacketQuery } from './work-packets.dto.js';
import { type PacketResult, type PacketStatus, WorkPacketEntity } from './work-packet.entity.js';

const COLUMNS = `work_packet_id, workspace_id, team_id, directive_id, position, capo, engine, title, kind, action_type,
  target, params, reversibility, compensation, status, decision, decision_input, allowed_hash, leverage_score,
  multipliers, rationale, cost, result, receipt_id, created_at, executed_at, sending_since, due_at, attempts`;

/** How much of a text stands in a list, in characters. */
const LISTED_TEXT = 500;
/** What lists show of a packet; what it sends and what came of it stand in the single record. */
export const LISTED_PACKET = `work_packet_id, directive_id, team_id, capo, engine, title, kind, action_type,
  left(target, ${LISTED_TEXT}) as target, reversibility, status, decision->>'outcome' as outcome, leverage_score,
  multipliers, left(rationale, ${LISTED_TEXT}) as rationale, cost, attempts, created_at, executed_at, receipt_id`;

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
  | 'createdAt'
  | 'executedAt'
  | 'receiptId'
> & { outcome: string | null };

/** Packets that wait for nothing any more. */
const TERMINAL = `('executed', 'failed', 'denied', 'cancelled', 'reverted')`;

export interface ClaimedPacket extends WorkPacketEntity {
  /** `sending`: an earlier attempt was handed out and its outcome is not known. */
  previousStatus: PacketStatus;
}

/** How the packets of one directive stand. */
export interface PacketTally {
  open: number;
  failed: number;
}

@Injectable()
export class WorkPackets {
  constructor(private readonly db: Db) {}

  add(packet: WorkPacketEntity): void {
    this.db.insert(WorkPacketEntity, packet);
  }

  /** Takes the packet up for sending; no row when it is not its turn. Sent along with the guardian's row. */
  claimStatement(workspaceId: string, workPacketId: string, at: number): Statement {
    return {
      text: `update work_packets p set status = 'sending', attempts = p.attempts + 1,
          due_at = $4, sending_since = coalesce(p.sending_since, $3)
        from (select work_packet_id, status as previous_status from work_packets
          where workspace_id = $1 and work_packet_id = $2 for update) before
        where p.workspace_id = $1 and p.work_packet_id = before.work_packet_id
          and p.status in ('queued', 'sending') and p.due_at <= $5
        returning ${COLUMNS.replace(/\b(work_packet_id)\b/, 'p.$1')}, before.previous_status`,
      values: [
        workspaceId,
        workPacketId,
        new Date(at),
        new Date(at + LEASE_MS),
        new Date(at + CLOCK_TOLERANCE_MS),
      ],
    };
  }

  /** True when the packet still belongs to this attempt, which then keeps it for another lease. */
  async extendLease(scope: Scope, workPacketId: string, attempt: number, at: number): Promise<boolean> {
    const [rows] = await this.db.writeAll(scope, [
      {
        text: `update work_packets set due_at = $4 where workspace_id = $1 and work_packet_id = $2 and attempts = $3
          and status = 'sending' returning 1`,
        values: [scope.workspaceId, workPacketId, attempt, new Date(at + LEASE_MS)],
      },
    ]);
    return rows!.length > 0;
  }

  /** Ends an attempt; false when the packet belongs to another attempt by now, and this result is void. */
  async settle(
    packet: Pick<WorkPacketEntity, 'workspaceId' | 'workPacketId' | 'attempts'>,
    end: {
      status: PacketStatus;
      result: PacketResult | null;
      compensation: unknown;
      receiptId: string | null;
      executedAt: number | null;
      dueAt: number | null;
    },
  ): Promise<boolean> {
    const rows = await this.db.query(
      `update work_packets set status = $4, result = $5::jsonb, compensation = coalesce($6::jsonb, compensation),
         receipt_id = $7, executed_at = $8, due_at = $9, sending_since = null
       where workspace_id = $1 and work_packet_id = $2 and attempts = $3 and status = 'sending' returning 1`,
      [
        packet.workspaceId,
        packet.workPacketId,
        packet.attempts,
        end.status,
        end.result && JSON.stringify(end.result),
        end.compensation ? JSON.stringify(end.compensation) : null,
        end.receiptId,
        end.executedAt && new Date(end.executedAt),
        end.dueAt && new Date(end.dueAt),
      ],
    );
    return rows.length > 0;
  }

  /** Lets the awaiting packets of a directive go, each with the content that was allowed. */
  release(workspaceId: string, allowed: readonly { workPacketId: string; hash: string }[], at: number): void {
    this.db.write(
      `update work_packets p set status = 'queued', allowed_hash = a.hash, due_at = $4
       from unnest($2::text[], $3::text[]) as a (work_packet_id, hash)
       where p.workspace_id = $1 and p.work_packet_id = a.work_packet_id and p.status = 'awaiting_approval'`,
      [workspaceId, allowed.map((one) => one.workPacketId), allowed.map((one) => one.hash), new Date(at)],
    );
  }

  /** Ends the packets of a directive that have not been handed out. */
  endUnsent(workspaceId: string, directiveId: string, status: 'cancelled' | 'denied'): void {
    this.db.write(
      `update work_packets set status = $3, due_at = null where workspace_id = $1 and directive_id = $2
         and status in ('drafted', 'awaiting_approval', 'queued', 'halted')`,
      [workspaceId, directiveId, status],
    );
  }

  /** True when a move of the directive has left, or may have. */
  async anyHandedOut(workspaceId: string, directiveId: string): Promise<boolean> {
    const rows = await this.db.query(
      `select 1 from work_packets where workspace_id = $1 and directive_id = $2
         and status in ('sending', 'executed', 'failed', 'reverted') limit 1`,
      [workspaceId, directiveId],
    );
    return rows.length > 0;
  }

  async tally(workspaceId: string, directiveId: string): Promise<PacketTally> {
    return (await this.tallies(workspaceId, [directiveId])).get(directiveId) ?? { open: 0, failed: 0 };
  }

  /** By directive; one without packets is not in it. */
  async tallies(workspaceId: string, directiveIds: readonly string[]): Promise<Map<string, PacketTally>> {
    if (directiveIds.length === 0) return new Map();
    const rows = await this.db.query<PacketTally & { directiveId: string }>(
      `select directive_id, count(*) filter (where status not in ${TERMINAL}) as open,
         count(*) filter (where status = 'failed') as failed
       from work_packets where workspace_id = $1 and directive_id = any($2) group by directive_id`,
      [workspaceId, directiveIds],
    );
    return new Map(rows.map(({ directiveId, open, failed }) => [directiveId, { open, failed }]));
  }

  /** Stops every packet whose turn has not come; those already handed out are answered as unconfirmed. */
  async halt(workspaceId: string): Promise<Unconfirmed[]> {
    const [, sending] = await this.db.unit.batch([
      {
        text: `update work_packets set status = 'halted', due_at = null where workspace_id = $1 and status = 'queued'`,
        values: [workspaceId],
      },
      {
        text: `select work_packet_id, sending_since as since from work_packets
          where workspace_id = $1 and status = 'sending' order by sending_since`,
        values: [workspaceId],
      },
    ]);
    return sending as Unconfirmed[];
  }

  /** Queues exactly the halted packets again. */
  resume(
    workspaceId: string,
    at: number,
  ): Promise<Pick<WorkPacketEntity, 'workPacketId' | 'reversibility' | 'compensation'>[]> {
    return this.db.query(
      `update work_packets set status = 'queued', due_at = $2 where workspace_id = $1 and status = 'halted'
       returning work_packet_id, reversibility, compensation`,
      [workspaceId, new Date(at)],
    );
  }

  async standing(scope: Scope, at: number): Promise<{ pending: number; blocked24h: number }> {
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
    };
    return readPage(this.db, scope, listing, paging);
  }
}
