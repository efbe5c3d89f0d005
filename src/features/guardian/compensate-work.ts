import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import type { CheckpointEntity, GuardianEntity, RevertEntity } from './guardian.entity.js';
import { CheckpointService } from './checkpoint.service.js';
import { GuardianService } from './guardian.service.js';
import { Guardians } from './guardians.repository.js';
import { RevertProgress } from './revert-progress.js';
import {
  newRevert,
  PLAN_LINES,
  requireRevertible,
  type RevertOutcome,
  UndoableWork,
  type WantedRevert,
} from './revert.js';
import { Reverts, type StepCounts } from './reverts.repository.js';

/** As many work packets one revert undoes. */
const MOST_STEPS = 50_000;

/**
 * Undoes what was carried out since a checkpoint (mode `compensate`): writes the plan and answers it; the steps are work, done
 * one after the other while the guardian is `recovering`, and with the last of them the kill is lifted. A revert that a second
 * kill has stopped goes on where it was.
 */
@Injectable()
export class CompensateWork {
  constructor(
    private readonly clock: Clock,
    private readonly guardians: Guardians,
    private readonly guardian: GuardianService,
    private readonly checkpoints: CheckpointService,
    private readonly undoable: UndoableWork,
    private readonly reverts: Reverts,
    private readonly progress: RevertProgress,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, ValidationFailed without a checkpoint, InvalidTransition while another revert is under way */
  async execute(caller: Caller, wanted: WantedRevert): Promise<RevertOutcome> {
    const { workspaceId } = caller;
    const before = await this.guardians.lock(workspaceId);
    requireRevertible(before, wanted);
    const stopped = await this.reverts.lockRunning(workspaceId);
    const named = wanted.checkpointId ?? stopped?.checkpointId ?? undefined;
    const checkpoint = await this.checkpoints.toGoBackTo(scopeOf(caller), before, named);
    const continued = stopped?.checkpointId === checkpoint.checkpointId ? stopped : undefined;
    if (wanted.dryRun) return this.preview(caller, checkpoint, continued);
    // Nothing may leave while work is undone.
    if (before.mode !== 'killed') {
      await this.guardian.kill(caller, wanted.reason ?? 'Work is going to be undone.');
    }
    const guardian = await this.guardians.lock(workspaceId);
    const revert = continued
      ? this.takeUp(guardian, continued)
      : await this.plan(caller, guardian, checkpoint, wanted);
    return this.begin(caller, guardian, revert);
  }

  /** What would not be undone as things stand is told as it would be by its step. */
  private async preview(
    caller: Caller,
    checkpoint: CheckpointEntity,
    continued: RevertEntity | undefined,
  ): Promise<RevertOutcome> {
    const scope = scopeOf(caller);
    const { steps, total } = continued
      ? {
          steps: await this.reverts.steps(continued, PLAN_LINES),
          total: totalOf(await this.reverts.counts(scope, continued)),
        }
      : await this.reverts.preview(this.carriedOut(caller.workspaceId, checkpoint), PLAN_LINES);
    if (total > MOST_STEPS) throw tooMany();
    const open = steps.filter(({ status }) => status === 'planned');
    const obstacles = await this.undoable.obstacles(scope, open);
    return {
      ...answerOf(checkpoint),
      status: 'planned',
      revertId: null,
      plan: steps.map((step) => ({ ...step, ...obstacles.get(step.workPacketId) })),
      planTotal: total,
      receiptId: null,
    };
  }

  /** A revert that was stopped: its steps are still those that it had. */
  private takeUp({ killedAt, epoch }: GuardianEntity, stopped: RevertEntity): RevertEntity {
    const change = { killedAt, guardianEpoch: epoch, receiptId: newId('rcp') };
    this.reverts.update(stopped, change);
    return { ...stopped, ...change };
  }

  private async plan(
    caller: Caller,
    { killedAt, epoch }: GuardianEntity,
    checkpoint: CheckpointEntity,
    { reason }: WantedRevert,
  ): Promise<RevertEntity> {
    const { workspaceId } = caller;
    await this.progress.stop(workspaceId);
    const revert = newRevert({
      revertId: newId('rvt'),
      workspaceId,
      mode: 'compensate',
      status: 'running',
      reason,
      receiptId: newId('rcp'),
      by: actorOf(caller),
      at: this.clock.now(),
      checkpointId: checkpoint.checkpointId,
      killedAt,
      guardianEpoch: epoch,
    });
    this.reverts.add(revert);
    this.reverts.plan(revert, this.carriedOut(workspaceId, checkpoint));
    return revert;
  }

  private async begin(
    caller: Caller,
    { epoch }: GuardianEntity,
    revert: RevertEntity,
  ): Promise<RevertOutcome> {
    const { workspaceId, revertId, reason, checkpointId } = revert;
    const receiptId = revert.receiptId!;
    const counts = await this.reverts.counts(scopeOf(caller), revert);
    const planTotal = totalOf(counts);
    if (planTotal > MOST_STEPS) throw tooMany();
    this.guardians.beginRecovery(workspaceId);
    this.receipts.append({
      receiptId,
      actor: actorOf(caller),
      action: 'guardian.recovering',
      entity: { type: 'revert', id: revertId },
      summary: `${caller.name} has what was carried out since a checkpoint undone: ${counts.planned} of ${planTotal} work packets.`,
      details: { reason, mode: 'compensate', checkpointId, steps: counts },
      guardianEpoch: epoch,
    });
    if (counts.planned > 0) await this.progress.enqueueNextStep(revert);
    else await this.progress.end(revert);
    const plan = await this.reverts.steps(revert, PLAN_LINES);
    const status = counts.planned > 0 ? 'running' : 'done';
    return { ...answerOf(revert), status, revertId, plan, planTotal, receiptId };
  }

  /** One more than may be undone tells that there are too many. */
  private carriedOut(workspaceId: string, { receiptSeq }: CheckpointEntity) {
    return this.undoable.carriedOutStatement(workspaceId, { receiptSeq, limit: MOST_STEPS + 1 });
  }
}

function answerOf({ checkpointId }: Pick<RevertEntity, 'checkpointId'>) {
  return { mode: 'compensate', checkpointId, restored: null } as const;
}

function totalOf(counts: StepCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function tooMany() {
  const message = `more than ${MOST_STEPS.toLocaleString('en')} work packets were carried out since that checkpoint; name a later one`;
  return new ValidationFailed({ details: [{ path: 'checkpointId', rule: 'notTooFarBack', message }] });
}
