import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Statement } from '../../../platform/database/batch.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import type { Compensation } from '../../capos/index.js';
import { type Obstacle, type PlanLine, type Undoable, UndoableWork } from '../../guardian/index.js';
import { Compensations } from './compensations.js';
import { EffectFailed } from './packet-effect.js';
import { WorkPacketsReader } from './work-packets.reader.js';

/** The work packets that a revert undoes. */
@Injectable()
export class UndoablePackets implements Undoable, OnModuleInit {
  constructor(
    private readonly undoableWork: UndoableWork,
    private readonly packets: WorkPacketsReader,
    private readonly compensations: Compensations,
  ) {}

  onModuleInit(): void {
    this.undoableWork.register(this);
  }

  carriedOutStatement(workspaceId: string, since: { receiptSeq: number; limit: number }): Statement {
    return this.packets.carriedOutStatement(workspaceId, since);
  }

  titles(scope: Scope, workPacketIds: readonly string[]): Promise<Map<string, string>> {
    return this.packets.titles(scope, workPacketIds);
  }

  /** By what the step itself would be refused with. Of a packet that is being carried out it is not known yet what undoes it. */
  async obstacles(scope: Scope, lines: readonly PlanLine[]): Promise<Map<string, Obstacle>> {
    const executed = await this.packets.executedAmong(
      scope,
      lines.map(({ workPacketId }) => workPacketId),
    );
    const obstacles = new Map<string, Obstacle>();
    for (const { workPacketId, compensation } of lines) {
      const obstacle =
        compensation && executed.has(workPacketId)
          ? await this.obstacle(scope.workspaceId, compensation)
          : undefined;
      if (obstacle !== undefined) obstacles.set(workPacketId, obstacle);
    }
    return obstacles;
  }

  private async obstacle(workspaceId: string, compensation: Compensation): Promise<Obstacle | undefined> {
    try {
      const undo = await this.compensations.of(workspaceId, compensation);
      const reason = undo.kind === 'inside' ? await undo.refusal?.() : null;
      return reason ? { status: 'not_possible', reason } : undefined;
    } catch (error) {
      if (error instanceof EffectFailed) return { status: 'failed', reason: error.message };
      throw error;
    }
  }
}
