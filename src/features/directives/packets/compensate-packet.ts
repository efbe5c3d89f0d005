import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Work } from '../../../platform/work/work.js';
import type { WorkError, WorkItem } from '../../../platform/work/work-item.js';
import type { ActionResult } from '../../capos/index.js';
import { COMPENSATE, KILLED_TOPIC, type OpenStep } from '../../guardian/index.js';
import { CompensationResults, mayUndo } from './compensation-results.js';
import { Compensations } from './compensations.js';
import { DueUndos } from './due-undos.repository.js';
import { type Outgoing, OutsideAttempts } from './outside-attempts.js';
import { EffectFailed, type Failure, type Outcome } from './packet-effect.js';
import type { PacketToUndo, Undo } from './undo.js';
import type { WorkPacketEntity } from './work-packet.entity.js';

/** How soon to look again whether a packet that was handed out before the kill has taken effect. */
const LOOK_AGAIN_MS = 500;

/**
 * Undoes one work packet, as one step of a revert. The guardian's row is locked while it does, so none begins after a second
 * kill has committed. What is undone inside the database is undone in the transaction that records it, so exactly once; what
 * leaves the program is marked before and recorded after, and what is not known to have happened is not repeated unless
 * repeating it changes nothing.
 */
@Injectable()
export class CompensatePacket implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly undos: DueUndos,
    private readonly attempts: OutsideAttempts,
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
      run: (item, signal) =>
        this.attempts.make(item, signal, {
          begin: () => this.begin(item),
          refuse: (failure) => this.fail(item, failure, false),
        }),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  /** Undoes what is undone inside the database; answers what has to leave it. */
  private async begin(item: WorkItem): Promise<Outgoing | undefined> {
    const due = await this.undos.lock(item);
    if (!due) return undefined;
    const { guardian, packet, step } = due;
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
    const begun = this.undos.markBegun(step, attempts);
    return {
      attempt: attempts,
      revertId: step.revertId,
      run: (signal) => undo.run(toUndo(packet, begun), signal),
      ended: (outcome, calledOff) =>
        'result' in outcome
          ? this.succeed(item, outcome.result)
          : this.fail(item, outcome.failure, calledOff),
      endedLate: (outcome) => this.endedLate(item, begun, outcome),
    };
  }

  /** It has lost its work, and what it shows stands: by now the step may have ended as one that nobody can tell of. */
  private async endedLate(item: WorkItem, begun: OpenStep, outcome: Outcome): Promise<void> {
    const { guardian, packet, step } = await this.undos.lockLate(item, begun);
    if (packet.status !== 'executed' || step.attempts !== begun.attempts) return;
    if ('result' in outcome) await this.results.succeedLate(step, packet, outcome.result, guardian);
    else if (step.status === 'planned' && outcome.failure.retryable)
      this.results.notBegun(step, outcome.failure);
  }

  private async succeed(item: WorkItem, result: ActionResult): Promise<void> {
    const due = await this.undos.lock(item);
    if (due) await this.results.succeed(item, due.step, due.packet, result, due.guardian);
  }

  private async fail(item: WorkItem, failure: Failure, calledOff: boolean): Promise<void> {
    const due = await this.undos.lock(item);
    if (due) await this.results.fail(item, due, failure, calledOff);
  }

  private async giveUp(item: WorkItem, { code, message }: WorkError): Promise<void> {
    const due = await this.undos.lock(item);
    if (due) await this.results.giveUp(due, new EffectFailed(code, message, false));
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

export function toUndo(packet: WorkPacketEntity, { compensation, revertedBy }: OpenStep): PacketToUndo {
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
