import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { PacketResult, WorkPacketEntity } from './work-packet.entity.js';
import { FAILED_UNSENT } from './work-packets.repository.js';

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

/** Of a directive whose only packet has been executed. */
export function tallyOfOnly(
  { actionType }: Pick<WorkPacketEntity, 'actionType'>,
  { transport }: PacketResult,
): PacketTally {
  const done = typeof transport === 'string' ? `${actionType}/${transport}` : actionType;
  return { ...NO_PACKETS, executed: 1, done: [done] };
}

/** Counts the packets of directives by how they ended, in a transaction that has locked the directives. */
@Injectable()
export class PacketTallies {
  constructor(private readonly db: Db) {}

  /** @param executed one that counts as executed already, with this result */
  async of(
    workspaceId: string,
    directiveId: string,
    executed?: { workPacketId: string; result: PacketResult },
  ): Promise<PacketTally> {
    const tallies = await this.ofEach(workspaceId, [directiveId], executed);
    return tallies.get(directiveId) ?? NO_PACKETS;
  }

  /** By directive; one without packets is not in it. */
  async ofEach(
    workspaceId: string,
    directiveIds: readonly string[],
    executed?: { workPacketId: string; result: PacketResult },
  ): Promise<Map<string, PacketTally>> {
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
       from (
         select directive_id, position, action_type, allowed_by,
           case when work_packet_id = $3 then 'executed' else status end as status,
           case when work_packet_id = $3 then $4::jsonb else result end as result
         from work_packets where workspace_id = $1 and directive_id = any($2)) p
       group by directive_id`,
      [
        workspaceId,
        directiveIds,
        executed?.workPacketId ?? null,
        executed ? JSON.stringify(executed.result) : null,
      ],
    );
    return new Map(rows.map(({ directiveId, ...tally }) => [directiveId, tally]));
  }
}
