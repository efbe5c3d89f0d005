import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf } from '../../../platform/auth/caller.js';
import { Db } from '../../../platform/database/db.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { InvalidTransition } from '../../../platform/kernel/errors.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { backoffMs } from '../../../platform/work/backoff.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import { Work } from '../../../platform/work/work.js';
import { type ActionResult, capoActor } from '../../capos/index.js';
import {
  COMPENSATION_FAILED,
  type Decider,
  DISMISS,
  DONE_BY_HAND,
  type EscalationEntity,
  EscalationOptions,
  Escalations,
  PACKET_FAILED,
  RETRY,
} from '../../escalations/index.js';
import {
  COMPENSATE,
  type GuardianEntity,
  Guardians,
  letsNothingLeave,
  type OpenStep,
  PolicyGate,
  RevertProgress,
  Reverts,
  type StepStatus,
} from '../../guardian/index.js';
import { Signals } from '../../records/index.js';
import { haltedIn } from '../../terms/index.js';
import { DIRECTIVE_STATES } from '../directive-states.js';
import { DirectiveTransitions } from '../directive-transitions.js';
import { titleOf } from '../directive.js';
import { Directives } from '../directives.repository.js';
import type { DueUndo } from './due-packets.repository.js';
import { type EffectFailed, type Failure, isUnconfirmed } from './packet-effect.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { receiptSubject } from './work-packet.js';
import { WorkPackets } from './work-packets.repository.js';
import type { Undone } from './undo.js';

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
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
    private readonly gate: PolicyGate,
    private readonly escalations: Escalations,
    private readonly signals: Signals,
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
    await this.revertDirective(packet, step);
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
    await this.report(packet, step, { code, message });
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

  /**
   * What the undo of a packet means for its directive: what the kill has halted of it is not sent any more, and once all that was
   * carried out is undone the directive is `reverted`.
   */
  async revertDirective(
    { workspaceId, directiveId }: WorkPacketEntity,
    { revertId, revertedBy }: OpenStep,
  ): Promise<void> {
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    if (directive.status === 'halted') {
      const given = await this.gate.giveBack(await this.packets.releasedUnsent(workspaceId, directiveId));
      if (given.givenBack) {
        this.transitions.note(directive, {
          actor: revertedBy,
          action: 'directive.rest_dropped',
          summary: `The unsent rest of "${titleOf(directive.text)}" is not sent: the part that was sent is undone.`,
          details: { revertId, ...given },
        });
      }
      this.work.cancelReturned('packet.send', this.packets.cancelUnsentStatement(workspaceId, directiveId));
    }
    const { executed, underWay } = await this.packets.carriedOut(workspaceId, directiveId);
    // One that waits for a person is reverted when that is decided (CompleteDirective).
    if (executed + underWay > 0 || !DIRECTIVE_STATES.sources('revert').includes(directive.status)) return;
    const because = `everything that was carried out of "${titleOf(directive.text)}" has been undone.`;
    await this.escalations.resolveAbout(PACKET_FAILED, { type: 'directive', id: directiveId }, because);
    this.transitions.apply(directive, 'revert', {
      actor: revertedBy,
      action: 'directive.reverted',
      summary: `Everything that was carried out of "${titleOf(directive.text)}" has been undone.`,
      details: { revertId },
    });
  }

  /** Brings a work packet that could not be undone to a person, by an escalation and a signal. */
  private async report(
    packet: WorkPacketEntity,
    { revertId }: OpenStep,
    { code, message }: Pick<EffectFailed, 'code' | 'message'>,
  ): Promise<void> {
    const { workPacketId, directiveId, teamId, capo, title } = packet;
    const entity = { type: 'work_packet', id: workPacketId } as const;
    const reason = `"${title}" could not be undone by the revert ${revertId}: ${message}`;
    await this.escalations.open({
      kind: COMPENSATION_FAILED,
      entity,
      teamId,
      directiveId,
      reason,
      // What may have been undone is not undone again.
      options: isUnconfirmed(code) ? [DONE_BY_HAND, DISMISS] : [RETRY, DONE_BY_HAND, DISMISS],
      dueAt: null,
    });
    this.signals.raise({
      type: 'agent',
      severity: 'critical',
      title: `Not undone: ${title}`,
      body: reason,
      source: capoActor(capo),
      teamId,
      capo,
      entity,
    });
  }
}

/** A revert undoes while the guardian recovers; what failed then may be tried again by itself later, as anything else may leave. */
export function mayUndo({ mode }: Pick<GuardianEntity, 'mode'>, { revertStatus }: OpenStep): boolean {
  return mode === 'recovering' || (revertStatus === 'done' && !letsNothingLeave(mode));
}

interface Locked {
  guardian: GuardianEntity;
  packet: WorkPacketEntity;
}

/**
 * What a person may do about a work packet that a revert could not undo: have it tried again, or say that it was undone by
 * hand. Both are an admin's, as the revert is.
 */
@Injectable()
export class DecideCompensationFailure implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly options: EscalationOptions,
    private readonly guardians: Guardians,
    private readonly reverts: Reverts,
    private readonly packets: WorkPackets,
    private readonly results: CompensationResults,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.options.register(COMPENSATION_FAILED, 'work_packet', {
      lock: (escalation) => this.lock(escalation),
      options: {
        [RETRY]: {
          role: 'admin',
          effect: 'Tries to undo the work packet once more.',
          run: (escalation, by) => this.retry(escalation, by),
        },
        [DONE_BY_HAND]: {
          role: 'admin',
          effect:
            'Records that you have undone the work packet yourself; the service does nothing more about it.',
          run: (escalation, by) => this.doneByHand(escalation, by),
        },
      },
    });
  }

  private async lock({ workspaceId, entityId }: EscalationEntity): Promise<Locked> {
    const [[guardian], , [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      ...this.packets.lockForUndoStatements(workspaceId, entityId),
    ])) as [[GuardianEntity], unknown, [WorkPacketEntity]];
    return { guardian, packet };
  }

  /** @throws InvalidTransition when it is undone by now, or is being undone */
  private async failedStep(
    { workspaceId, entityId }: EscalationEntity,
    packet: WorkPacketEntity,
  ): Promise<OpenStep> {
    const step = await this.reverts.lockFailedStep(workspaceId, entityId);
    if (step && packet.status === 'executed') return step;
    throw new InvalidTransition({
      message: 'This work packet is undone by now, or is being undone.',
      details: { status: packet.status },
    });
  }

  private async retry(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const { guardian, packet } = await this.lock(escalation);
    const step = await this.failedStep(escalation, packet);
    const { mode, epoch } = guardian;
    if (mode !== 'recovering' && letsNothingLeave(mode)) throw haltedIn(mode);
    const summary = `${caller.name} has the undo of "${packet.title}" tried again.`;
    this.receipts.append({
      ...receiptSubject(packet),
      actor: actorOf(caller),
      action: 'packet.revert_retried',
      summary,
      details: { revertId: step.revertId, failed: step.reason },
      guardianEpoch: epoch,
    });
    this.reverts.updateStep(step, {
      status: 'planned',
      reason: null,
      attempts: 0,
      begunAt: null,
      endedAt: null,
      receiptId: null,
    });
    this.work.enqueue(COMPENSATE, { id: packet.workPacketId });
    return summary;
  }

  private async doneByHand(escalation: EscalationEntity, { caller, at, note }: Decider): Promise<string> {
    const { guardian, packet } = await this.lock(escalation);
    const step = await this.failedStep(escalation, packet);
    const by = actorOf(caller);
    const summary = `${caller.name} says that "${packet.title}" was undone by hand.`;
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      actor: by,
      action: 'packet.reverted',
      summary,
      details: { revertId: step.revertId, byHand: true, note, undoes: packet.receiptId },
      guardianEpoch: guardian.epoch,
    });
    this.packets.transition(packet, 'revert', { receiptId });
    const result = { undoneByHand: by };
    this.reverts.updateStep(step, { status: 'done', reason: summary, result, receiptId, endedAt: at });
    await this.results.revertDirective(packet, { ...step, revertedBy: by });
    return summary;
  }
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
