import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { throughOutage } from '../../../platform/work/through-outage.js';
import { Work } from '../../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../../platform/work/work-item.js';
import type { ActionResult } from '../../capos/action-types.js';
import type { GuardianEntity } from '../../guardian/guardian.entity.js';
import { KILLED_TOPIC } from '../../guardian/guardian.js';
import { Guardians } from '../../guardian/guardians.repository.js';
import { COMPENSATE } from '../../guardian/revert-progress.js';
import { type OpenStep, Reverts } from '../../guardian/reverts.repository.js';
import { CompensationResults, mayUndo } from './compensation-results.js';
import { Compensations } from './compensations.js';
import { asEffectFailed, EffectFailed } from './packet-effect.js';
import type { PacketToUndo, Undo } from './undo.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

const UNDO_TIMEOUT_MS = 30_000;
/** How soon to look again whether a packet that was handed out before the kill has taken effect. */
const LOOK_AGAIN_MS = 500;

/** An undo that has to leave the program. */
interface Handed {
  step: OpenStep;
  packet: WorkPacketEntity;
  undo: Extract<Undo, { kind: 'outside' }>;
}

/** What is locked for an attempt. */
interface Found {
  guardian: GuardianEntity;
  packet: WorkPacketEntity;
  step: OpenStep;
}

/**
 * Undoes one work packet, as one step of a revert. The guardian's row is locked while it does, so none begins after a second
 * kill has committed. What is undone inside the database is undone in the transaction that records it, so exactly once; what
 * leaves the program is marked before and recorded after, and what is not known to have happened is not repeated unless
 * repeating it changes nothing.
 */
@Injectable()
export class CompensatePacket implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly reverts: Reverts,
    private readonly packets: WorkPackets,
    private readonly compensations: Compensations,
    private readonly results: CompensationResults,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: COMPENSATE,
      pool: 16,
      perQueue: 1,
      perQueueEverywhere: 1,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    let handed: Handed | undefined;
    try {
      handed = await this.db.transaction(scopeOfWork(item), () => this.begin(item));
    } catch (error) {
      // What the undo had written is rolled back with the rest, so the failure is recorded by itself.
      if (!(error instanceof EffectFailed)) throw error;
      await this.db.transaction(scopeOfWork(item), () => this.recordFailure(item, error, false));
    }
    if (handed) await this.handOut(item, handed, signal);
  }

  /** Undoes what is undone inside the database; answers what has to leave it. */
  private async begin(item: WorkItem): Promise<Handed | undefined> {
    const found = await this.lock(item);
    if (!found) return undefined;
    const { guardian, packet, step } = found;
    const undo = await this.compensations.of(item.workspaceId, step.compensation!);
    const mayHaveHappened = step.begunAt !== null;
    if (mayHaveHappened && (step.revertStatus !== 'running' || !isRepeatable(undo))) throw unconfirmed();
    if (!mayUndo(guardian, step)) {
      // A second kill: the step waits until somebody takes the revert up again.
      this.work.park(item);
      return undefined;
    }
    if (packet.status === 'sending') {
      // It was handed out before the kill, and says soon how that ended.
      this.work.reschedule(item, LOOK_AGAIN_MS);
      return undefined;
    }
    if (packet.status !== 'executed') {
      const reason = `The work packet is ${packet.status}, so there is nothing to undo.`;
      await this.results.skip(item, step, packet, reason);
      return undefined;
    }
    const attempts = step.attempts + 1;
    if (undo.kind === 'inside') {
      const undone = await undo.run(toUndo(packet, step));
      const tried = { ...step, attempts };
      if (undone.outcome === 'done') await this.results.succeed(item, tried, packet, undone.result, guardian);
      else await this.results.decline(item, tried, packet, undone);
      return undefined;
    }
    this.work.check(item);
    const begunAt = step.begunAt ?? this.clock.now();
    this.reverts.updateStep(step, { attempts, begunAt });
    return { step: { ...step, attempts, begunAt }, packet, undo };
  }

  private async handOut(item: WorkItem, { step, packet, undo }: Handed, signal: AbortSignal): Promise<void> {
    let result: ActionResult;
    try {
      result = await undo.run(
        toUndo(packet, step),
        AbortSignal.any([signal, AbortSignal.timeout(UNDO_TIMEOUT_MS)]),
      );
    } catch (error) {
      const failure = asEffectFailed(error);
      await throughOutage(() =>
        this.db.transaction(scopeOfWork(item), () => this.recordFailure(item, failure, signal.aborted)),
      );
      return;
    }
    await throughOutage(() =>
      this.db.transaction(scopeOfWork(item), async () => {
        const found = await this.lock(item);
        if (found) await this.results.succeed(item, found.step, found.packet, result, found.guardian);
      }),
    );
  }

  /** @param calledOff a kill has called it off, or the work is another attempt's by now */
  private async recordFailure(item: WorkItem, failure: EffectFailed, calledOff: boolean): Promise<void> {
    const found = await this.lock(item);
    if (found) await this.results.fail(item, found, failure, calledOff);
  }

  private async giveUp(item: WorkItem, { code, message }: WorkError): Promise<void> {
    const found = await this.lock(item);
    if (found) await this.results.giveUp(found, new EffectFailed(code, message, false));
  }

  /** Nothing when the step has ended, or its revert was stopped before it was begun with. */
  private async lock({ workspaceId, id }: WorkItem): Promise<Found | undefined> {
    const [[guardian], , [packet], [step]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, id),
      this.reverts.lockOpenStepStatement(workspaceId, id),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity], [OpenStep?]];
    return step && { guardian, packet, step };
  }
}

function isRepeatable(undo: Undo): boolean {
  return undo.kind === 'inside' || undo.repeatable;
}

function unconfirmed(): EffectFailed {
  return new EffectFailed(
    'UNCONFIRMED',
    'The process ended while this was being undone; it is not known whether it was, so it is not tried again.',
    false,
  );
}

function toUndo(packet: WorkPacketEntity, { compensation, revertedBy }: OpenStep): PacketToUndo {
  const { workPacketId, workspaceId, teamId, directiveId, capo } = packet;
  return {
    workPacketId,
    workspaceId,
    teamId,
    directiveId,
    capo,
    params: compensation!.params,
    by: revertedBy,
  };
}
