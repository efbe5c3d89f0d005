import { Injectable } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { Clock } from '../../../platform/kernel/clock.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import { type GuardianEntity, Guardians, type OpenStep, Reverts } from '../../guardian/index.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

/** A packet that is to be undone, with its step of the revert, and the guardian, which is locked first. */
export interface DueUndo {
  guardian: GuardianEntity;
  packet: WorkPacketEntity;
  step: OpenStep;
}

/** What reverts have still to undo. */
@Injectable()
export class DueUndos {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly reverts: Reverts,
  ) {}

  /** Nothing when the step has ended, or its revert was stopped before it was begun with. */
  async lock({ workspaceId, id }: WorkItem): Promise<DueUndo | undefined> {
    const [[guardian], , [packet], [step]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, id),
      this.reverts.lockOpenStepStatement(workspaceId, id),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity], [OpenStep?]];
    return step && { guardian, packet, step };
  }

  /** For one that has lost its work: its step as others have left it. */
  async lockLate({ workspaceId, id }: WorkItem, { revertId, position }: OpenStep): Promise<DueUndo> {
    const [[guardian], , [packet], [step]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, id),
      this.reverts.lockStepStatement({ workspaceId, revertId, position }),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity], [OpenStep]];
    return { guardian, packet, step };
  }

  /** Writes that the undo leaves now; answers its step as it leaves. */
  markBegun(step: OpenStep, attempts: number): OpenStep {
    const begunAt = step.begunAt ?? this.clock.now();
    this.reverts.updateStep(step, { attempts, begunAt });
    return { ...step, attempts, begunAt };
  }
}
