import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { backoffMs } from '../../../platform/work/backoff.js';
import { Work } from '../../../platform/work/work.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import type { ActionResult } from '../../capos/index.js';
import {
  COMPENSATE,
  type GuardianEntity,
  type OpenStep,
  RevertProgress,
  Reverts,
  type StepStatus,
  letsNothingLeave,
} from '../../guardian/index.js';
import { COMPENSATION_FAILED, Escalations } from '../../escalations/index.js';
import { ReportCompensationFailure } from './report-compensation-failure.js';
import type { DueUndo } from './due-undos.repository.js';
import type { Failure } from './packet-effect.js';
import { RevertDirective } from './revert-directive.js';
import type { Undone } from './undo.js';
import { receiptSubject } from './work-packet.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

const MAX_ATTEMPTS = 5;

/** What comes of the undo of a packet, in the open transaction: the step, the packet, its directive, and the next step. */
@Injectable()
export class CompensationResults {
  constructor(
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly reverts: Reverts,
    private readonly progress: RevertProgress,
    private readonly packets: WorkPackets,
    private readonly revertDirective: RevertDirective,
    private readonly reportFailure: ReportCompensationFailure,
    private readonly escalations: Escalations,
    private readonly receipts: Receipts,
  ) {}

  async succeed(
    item: WorkItem,
    step: OpenStep,
    packet: WorkPacketEntity,
    result: ActionResult,
    guardian: GuardianEntity,
  ): Promise<void> {
    await this.record(step, packet, result, guardian);
    this.work.complete(item);
    await this.progress.enqueueNextStep(step);
  }

  /** It is known late that it was undone; the work on it was another attempt's, or has ended. */
  async succeedLate(
    step: OpenStep,
    packet: WorkPacketEntity,
    result: ActionResult,
    guardian: GuardianEntity,
  ): Promise<void> {
    const { workPacketId, title } = packet;
    await this.record(step, packet, result, guardian);
    const entity = { type: 'work_packet', id: workPacketId };
    await this.escalations.resolveAbout(COMPENSATION_FAILED, entity, `"${title}" was undone.`);
    if (step.status !== 'planned') return;
    this.work.cancel(COMPENSATE, [workPacketId]);
    await this.progress.enqueueNextStep(step);
  }

  /** It certainly was not undone, so the current attempt may begin. */
  notBegun(step: OpenStep, { message }: Failure): void {
    this.reverts.updateStep(step, { begunAt: null, reason: message });
  }

  /** That it was undone: the step, the packet and its directive. */
  async record(
    step: OpenStep,
    packet: WorkPacketEntity,
    result: ActionResult,
    { epoch }: GuardianEntity,
  ): Promise<void> {
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      actor: step.revertedBy,
      action: 'packet.reverted',
      summary: `"${packet.title}" was undone.`,
      details: { ...detailsOf(step, packet), result },
      guardianEpoch: epoch,
    });
    this.packets.transition(packet, 'revert', { receiptId });
    this.endStep(step, { status: 'done', reason: null, result: { ...result }, receiptId });
    await this.revertDirective.execute(packet, step);
  }

  /** It turned out that there is nothing to undo, or that it cannot be. */
  async decline(
    item: WorkItem,
    step: OpenStep,
    packet: WorkPacketEntity,
    { outcome, reason }: Exclude<Undone, { outcome: 'done' }>,
  ): Promise<void> {
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      actor: step.revertedBy,
      action: 'packet.not_reverted',
      outcome: outcome === 'skipped' ? 'success' : 'failure',
      summary: `"${packet.title}" was not undone: ${reason}`,
      details: { ...detailsOf(step, packet), outcome },
    });
    this.endStep(step, { status: outcome, reason, receiptId });
    this.work.complete(item);
    await this.progress.enqueueNextStep(step);
  }

  skip(item: WorkItem, step: OpenStep, packet: WorkPacketEntity, reason: string): Promise<void> {
    return this.decline(item, step, packet, { outcome: 'skipped', reason });
  }

  /** It was not undone. What a second kill called off has not failed: it goes on when the revert does. */
  async fail(item: WorkItem, due: DueUndo, failure: Failure, calledOff: boolean): Promise<void> {
    const { guardian, step } = due;
    const failures = item.failures + 1;
    const isStopped = !mayUndo(guardian, step);
    if (!failure.retryable || (failures >= MAX_ATTEMPTS && !isStopped && !calledOff)) {
      await this.giveUp(due, failure);
      this.work.complete(item);
      return;
    }
    const { code, message } = failure;
    this.reverts.updateStep(step, { begunAt: null, reason: message });
    if (isStopped) this.work.park(item);
    else if (calledOff) this.work.reschedule(item, 0);
    else this.work.reschedule(item, backoffMs(failures), { code, message });
  }

  /** A person has to look; the revert goes on with the next. The work on it is ended by the caller. */
  async giveUp(
    { packet, step }: DueUndo,
    { code, message }: Pick<Failure, 'code' | 'message'>,
  ): Promise<void> {
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      actor: step.revertedBy,
      action: 'packet.not_reverted',
      outcome: 'failure',
      summary: `"${packet.title}" could not be undone: ${message}`,
      details: { ...detailsOf(step, packet), outcome: 'failed', code },
    });
    this.endStep(step, { status: 'failed', reason: message, receiptId });
    await this.reportFailure.execute(packet, step, { code, message });
    await this.progress.enqueueNextStep(step);
  }

  private endStep(
    step: OpenStep,
    change: {
      status: StepStatus;
      reason: string | null;
      result?: Record<string, unknown>;
      receiptId: string;
    },
  ): void {
    const { attempts } = step;
    this.reverts.updateStep(step, { ...change, attempts, begunAt: null, endedAt: this.clock.now() });
  }
}

/** A revert undoes while the guardian recovers; what failed then may be tried again by itself later, as anything else may leave. */
export function mayUndo({ mode }: Pick<GuardianEntity, 'mode'>, { revertStatus }: OpenStep): boolean {
  return mode === 'recovering' || (revertStatus === 'done' && !letsNothingLeave(mode));
}

/** `undoes` is the receipt of the execution. */
function detailsOf({ revertId, compensation, attempts }: OpenStep, packet: WorkPacketEntity) {
  return {
    revertId,
    actionType: packet.actionType,
    compensation,
    undoes: packet.receiptId,
    attempt: attempts,
  };
}
