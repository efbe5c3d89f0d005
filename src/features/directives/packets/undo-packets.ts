import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../../platform/auth/caller.js';
import { requireRole } from '../../../platform/auth/require-role.js';
import type { Statement } from '../../../platform/database/batch.js';
import { Db } from '../../../platform/database/db.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../../platform/kernel/errors.js';
import { isId, newId } from '../../../platform/kernel/ids.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { Work } from '../../../platform/work/work.js';
import type { Compensation } from '../../capos/index.js';
import {
  COMPENSATE,
  type GuardianEntity,
  Guardians,
  letsNothingLeave,
  newRevert,
  type Obstacle,
  type OpenStep,
  type PlanLine,
  type RevertAnswer,
  Reverts,
  type Undoable,
  UndoableWork,
} from '../../guardian/index.js';
import { haltedIn } from '../../terms/index.js';
import { CompensationResults } from './compensation-results.js';
import { Compensations, toUndo } from './compensations.js';
import { EffectFailed } from './packet-effect.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { receiptSubject } from './work-packet.js';
import { WorkPacketsReader } from './work-packets.reader.js';
import { WorkPackets } from './work-packets.repository.js';
import type { Undo } from './undo.js';

/**
 * Undoes one executed work packet, as a revert of one that needs no kill (CONTRACT, Work packet). What is undone inside the
 * database is undone in the transaction of the request; what leaves the program is work, as each step of a revert is.
 */
@Injectable()
export class UndoPacket {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly reader: WorkPacketsReader,
    private readonly packets: WorkPackets,
    private readonly reverts: Reverts,
    private readonly compensations: Compensations,
    private readonly results: CompensationResults,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden, GuardianHalted, or InvalidTransition with the reason why it cannot be undone */
  async execute(caller: Caller, workPacketId: string, reason: string): Promise<RevertAnswer> {
    const { guardian, packet } = await this.lock(caller, workPacketId);
    const { mode, epoch } = guardian;
    if (letsNothingLeave(mode)) throw haltedIn(mode);
    const undo = await this.undoOf(packet);
    const step = this.addRevert(caller, packet, reason);
    const { revertId, compensation } = step;
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      receiptId: step.receiptId!,
      actor: step.revertedBy,
      action: 'packet.undo_requested',
      summary: `${caller.name} has "${packet.title}" undone.`,
      details: { revertId, reason, compensation, undoes: packet.receiptId },
      guardianEpoch: epoch,
    });
    if (undo.kind === 'inside') await this.undoNow(undo, step, packet, guardian);
    else this.work.enqueue(COMPENSATE, { id: workPacketId });
    const isDone = undo.kind === 'inside';
    const { title, reversibility } = packet;
    const status = isDone ? 'done' : 'planned';
    return {
      revertId,
      mode: 'compensate',
      status: isDone ? 'done' : 'running',
      checkpointId: null,
      plan: [{ workPacketId, title, reversibility, compensation, status, reason: null }],
      planTotal: 1,
      restored: null,
      receiptId,
    };
  }

  private async lock(
    caller: Caller,
    workPacketId: string,
  ): Promise<{ guardian: GuardianEntity; packet: WorkPacketEntity }> {
    const { workspaceId } = caller;
    const visible = isId('pkt', workPacketId)
      ? await this.reader.find(scopeOf(caller), workPacketId)
      : undefined;
    if (!visible) throw new NotFound();
    requireRole(caller, visible.teamId, 'admin');
    await this.db.unit.seeWholeWorkspace();
    const [[guardian], , [packet], [open]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, workPacketId),
      this.reverts.lockOpenStepStatement(workspaceId, workPacketId),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity], [OpenStep?]];
    if (open) throw notUndone('This work packet is being undone already.', packet);
    return { guardian, packet };
  }

  private async undoOf(packet: WorkPacketEntity): Promise<Undo> {
    const { workspaceId, status, compensation } = packet;
    if (status !== 'executed') {
      throw notUndone(`The work packet is ${status}, so there is nothing to undo.`, packet);
    }
    if (!compensation) throw notUndone('Nothing takes this work packet back.', packet);
    try {
      return await this.compensations.of(workspaceId, compensation);
    } catch (error) {
      if (error instanceof EffectFailed) throw notUndone(error.message, packet);
      throw error;
    }
  }

  private addRevert(caller: Caller, packet: WorkPacketEntity, reason: string): OpenStep {
    const { workspaceId, workPacketId, teamId, reversibility, compensation } = packet;
    const [revertId, receiptId, by] = [newId('rvt'), newId('rcp'), actorOf(caller)];
    const at = this.clock.now();
    const revert = newRevert({ revertId, workspaceId, mode: 'compensate', reason, receiptId, by, at });
    this.reverts.add(revert);
    const step = this.reverts.addStep({
      workspaceId,
      revertId,
      position: 1,
      workPacketId,
      teamId,
      reversibility,
      compensation,
    });
    return { ...step, receiptId, revertStatus: revert.status, revertedBy: by };
  }

  /** @throws InvalidTransition when it turns out that it cannot be undone; nothing of it is written then */
  private async undoNow(
    undo: Extract<Undo, { kind: 'inside' }>,
    step: OpenStep,
    packet: WorkPacketEntity,
    guardian: GuardianEntity,
  ): Promise<void> {
    try {
      const undone = await undo.run(toUndo(packet, step));
      if (undone.outcome !== 'done') throw notUndone(undone.reason, packet);
      await this.results.record({ ...step, attempts: 1 }, packet, undone.result, guardian);
    } catch (error) {
      if (error instanceof EffectFailed) throw notUndone(error.message, packet);
      throw error;
    }
  }
}

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

function notUndone(message: string, { status }: Pick<WorkPacketEntity, 'status'>) {
  return new InvalidTransition({ message, details: { status } });
}
