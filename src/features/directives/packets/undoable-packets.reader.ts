import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Statement } from '../../../platform/database/batch.js';
import { Db } from '../../../platform/database/db.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import { receiptsBehind } from '../../../platform/receipts/receipts-behind.js';
import { type Undoable, UndoableWork } from '../../guardian/undoable-work.js';

/** What a revert can undo: work packets that were carried out. */
@Injectable()
export class UndoablePackets implements Undoable, OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly undoableWork: UndoableWork,
  ) {}

  onModuleInit(): void {
    this.undoableWork.register(this);
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

  async titles(scope: Scope, workPacketIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await this.db.read<{ workPacketId: string; title: string }>(
      scope,
      'select work_packet_id, title from work_packets where workspace_id = $1 and work_packet_id = any($2)',
      [scope.workspaceId, workPacketIds],
    );
    return new Map(rows.map(({ workPacketId, title }) => [workPacketId, title]));
  }
}
