import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/kernel/clock.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { OUTSIDE_TRIES, outsideBackoffMs } from '../../../platform/work/backoff.js';
import { Work } from '../../../platform/work/work.js';
import type { WorkItem } from '../../../platform/work/work-item.js';
import { type ActionResult, CAPOS, capoActor, compensationOf } from '../../capos/index.js';
import { type GuardianEntity, PolicyGate, isHalted } from '../../guardian/index.js';
import { Signals } from '../../records/index.js';
import { CompleteDirective, executedSentence, type Look } from '../complete-directive.js';
import type { DirectiveEntity } from '../directive.entity.js';
import { type DuePacket, DuePackets } from './due-packets.repository.js';
import { PacketEscalations } from './packet-escalations.js';
import {
  type EffectFailed,
  type Failure,
  isUnconfirmed,
  type Outcome,
  type RecipientOutcome,
  recipientsAfter,
} from './packet-effect.js';
import { actionOf, hasLeftInPart, receiptSubject } from './work-packet.js';
import type { PacketResult, WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

/** A packet with the outcomes of its earlier attempts, where they are known. */
type AttemptedPacket = WorkPacketEntity & Partial<Pick<DuePacket, 'outcomes'>>;

/** What comes of a packet that was carried out, or could not be, in the open transaction: status, receipt, work, and its directive. */
@Injectable()
export class PacketResults {
  constructor(
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly due: DuePackets,
    private readonly packets: WorkPackets,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly completeDirective: CompleteDirective,
    private readonly escalations: PacketEscalations,
    private readonly gate: PolicyGate,
  ) {}

  /**
   * What follows from the outcome of an attempt.
   * @param lockGuardian asks for it in the message of what else is asked for here
   * @param item none where the work is another attempt's by now: then nothing is begun or put off here
   * @param calledOff a kill has called it off, which is no failure: however often that happens, it goes on with the revert
   */
  async ended(
    item: WorkItem | undefined,
    packet: AttemptedPacket,
    outcome: Outcome,
    lockGuardian: () => Promise<GuardianEntity>,
    calledOff: boolean,
  ): Promise<void> {
    const before = packet.result?.recipients ?? [];
    const recipients = recipientsAfter(before, outcome, this.clock.now());
    const isLeft = recipients.some((one) => one.outcome === 'deferred');
    if ('result' in outcome && !isLeft) {
      const result = withRecipients(outcome.result, recipients);
      const [guardian, look] = await Promise.all([
        lockGuardian(),
        this.completeDirective.lookAhead(packet, result),
      ]);
      await this.succeed(packet, result, guardian, look);
      this.endWork(item, packet);
      return;
    }
    const guardian = await lockGuardian();
    const failure = 'failure' in outcome ? outcome.failure : deferralOf(recipients);
    const isKilled = isHalted(guardian.mode);
    const isStopped = isKilled || calledOff;
    const tries = (packet.result?.tries ?? 0) + (isStopped || failure.known.waitsForConnector ? 0 : 1);
    if (!failure.retryable || tries >= OUTSIDE_TRIES) {
      await this.giveUp({ ...packet, result: { recipients } }, failure, guardian);
      this.endWork(item, packet);
      return;
    }
    const hasReached = recipients.some((one) => one.outcome === 'accepted');
    if (hasReached) await this.reachedSome(packet, before, recipients, guardian);
    const result = resultOf(failure, recipients, tries);
    // Of some it has left; of the others nobody may know until its next try. Nobody cancels or denies it as if it had not.
    if (hasReached) this.packets.transition(packet, 'send', { result, sendingSince: null });
    else if (isUnconfirmed(failure.code) && !isStopped) this.packets.transition(packet, 'send', { result });
    else this.packets.transition(packet, isKilled ? 'kill' : 'retry', { result, sendingSince: null });
    if (item) this.putOff(item, failure, tries, { isKilled, calledOff });
  }

  /** What {@link ended} writes of a packet that took effect, the only one of its directive; undefined where more has to be known. */
  foreseen(item: WorkItem, packet: DuePacket, outcome: Outcome): (() => Promise<void>) | undefined {
    if (!packet.isOnly || 'failure' in outcome) return undefined;
    const recipients = recipientsAfter(packet.result?.recipients ?? [], outcome, this.clock.now());
    if (recipients.some((one) => one.outcome !== 'accepted')) return undefined;
    const result = withRecipients(outcome.result, recipients);
    return async () => {
      this.due.assertForeseen(packet);
      await this.succeed(
        packet,
        result,
        { epoch: packet.beganEpoch! },
        this.completeDirective.foresee(packet, result),
      );
      this.endWork(item, packet);
    };
  }

  private putOff(
    item: WorkItem,
    { code, message, known }: Failure,
    tries: number,
    { isKilled, calledOff }: { isKilled: boolean; calledOff: boolean },
  ): void {
    const { hasReplied = false, waitMs = 0, waitsForConnector = false } = known;
    if (isKilled) this.work.park(item);
    else if (calledOff) this.work.reschedule(item, 0);
    else if (waitsForConnector) this.work.park(item, { code, message });
    else {
      const backoffMs = outsideBackoffMs(tries, hasReplied);
      // Only what nobody foresaw uses up the tries of the work.
      this.work.reschedule(item, Math.max(waitMs, backoffMs), { code, message }, item.failures === 0 ? 1 : 0);
    }
  }

  /** It took effect. The work on it is ended by the caller. */
  async succeed(
    packet: WorkPacketEntity,
    result: PacketResult,
    { epoch }: Pick<GuardianEntity, 'epoch'>,
    known?: Look,
  ): Promise<void> {
    const look = known ?? (await this.completeDirective.lookAhead(packet, result));
    const action = actionOf(packet);
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.executed',
      summary: executedSentence(CAPOS[packet.capo].name, packet.title, action, result),
      details: this.detailsOf(packet, result),
      guardianEpoch: epoch,
    });
    const { attempts, beganEpoch, beganSeq } = packet;
    this.packets.transition(packet, 'execute', {
      attempts,
      beganEpoch,
      beganSeq,
      result: { ...result },
      compensation: compensationOf(action, result) ?? packet.compensation,
      receiptId,
      executedAt: this.clock.now(),
      sendingSince: null,
    });
    await this.escalations.notReached(packet, result.recipients ?? []);
    await this.completeDirective.continue(look);
  }

  /** Somebody has the mail, and the rest is not sent any more. */
  async endPartly(
    item: WorkItem,
    packet: WorkPacketEntity,
    because: string,
    guardian: GuardianEntity,
  ): Promise<void> {
    const recipients = (packet.result?.recipients ?? []).map((one) =>
      one.outcome === 'deferred' ? { ...one, answer: because } : one,
    );
    await this.succeed(packet, withRecipients({}, recipients), guardian);
    this.work.complete(item);
  }

  /** Tells of those that an attempt has reached, and asks about those that are refused for good. */
  private async reachedSome(
    packet: WorkPacketEntity,
    before: readonly RecipientOutcome[],
    recipients: readonly RecipientOutcome[],
    { epoch }: GuardianEntity,
  ): Promise<void> {
    const count = (all: readonly RecipientOutcome[], outcome: RecipientOutcome['outcome']) =>
      all.filter((one) => one.outcome === outcome).length;
    const accepted = count(recipients, 'accepted');
    if (accepted > count(before, 'accepted')) {
      this.receipts.append({
        ...receiptSubject(packet),
        action: 'packet.partly_executed',
        summary: `${CAPOS[packet.capo].name} sent the mail "${packet.title}" to ${accepted} of ${recipients.length} recipients; the others are tried again.`,
        details: this.detailsOf(packet, { recipients: [...recipients] }),
        guardianEpoch: epoch,
      });
    }
    if (count(recipients, 'refused') > 0) {
      const refused = recipients.filter((one) => one.outcome === 'refused');
      await this.escalations.notReached(packet, refused);
    }
  }

  /**
   * The outcome of an attempt that has lost its work. What it shows stands; it begins nothing.
   * @param packet locked, whatever its status, with its directive
   */
  async endedLate(
    packet: WorkPacketEntity,
    directive: DirectiveEntity,
    { attempt, outcome, isRepeatable }: { attempt: number; outcome: Outcome; isRepeatable: boolean },
    guardian: GuardianEntity,
  ): Promise<void> {
    const tookEffect = 'result' in outcome;
    if (packet.attempts > attempt) {
      if (tookEffect && !isRepeatable) await this.escalations.twice(packet, attempt);
      return;
    }
    const { status, result } = packet;
    if (status === 'sending') return this.ended(undefined, packet, outcome, async () => guardian, false);
    if (tookEffect) {
      if (status === 'failed' || status === 'queued' || status === 'halted')
        await this.confirm(packet, directive, outcome, guardian);
      else if (status !== 'executed' && status !== 'reverted') await this.escalations.afterAll(packet);
      return;
    }
    const { failure } = outcome;
    if (isUnconfirmed(failure.code)) return;
    if (status === 'failed' && isUnconfirmed(result?.error?.code)) {
      await this.correct(packet, directive, failure, guardian);
    } else if (status === 'executed' && result?.['confirmedBy'] !== undefined) {
      await this.escalations.notAfterAll(packet, failure.message);
    }
  }

  private async confirm(
    packet: WorkPacketEntity,
    directive: DirectiveEntity,
    outcome: Outcome & { result: ActionResult },
    { epoch }: GuardianEntity,
  ): Promise<void> {
    const at = this.clock.now();
    const recipients = recipientsAfter(packet.result?.recipients ?? [], outcome, at);
    const result = withRecipients(outcome.result, recipients);
    const because = `"${packet.title}" arrived: the outcome of its attempt ${packet.attempts} was recorded late.`;
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.confirmed',
      summary: because,
      details: this.detailsOf(packet, result),
      guardianEpoch: epoch,
    });
    this.work.cancel('packet.send', [packet.workPacketId]);
    const compensation = compensationOf(actionOf(packet), result) ?? packet.compensation;
    const change = { result, compensation, receiptId, executedAt: at, sendingSince: null };
    this.packets.transition(packet, 'confirm', change);
    await this.escalations.answered(packet, because);
    await this.escalations.notReached(packet, recipients);
    await this.completeDirective.confirmed(directive, capoActor(packet.capo), because);
  }

  /** It certainly did not take effect, so it may be sent again. */
  private async correct(
    packet: WorkPacketEntity,
    directive: DirectiveEntity,
    failure: Failure,
    { epoch }: GuardianEntity,
  ): Promise<void> {
    const because = `"${packet.title}" was not carried out: ${failure.message}`;
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.not_arrived',
      summary: because,
      details: {
        actionType: packet.actionType,
        target: packet.target,
        code: failure.code,
        attempt: packet.attempts,
      },
      guardianEpoch: epoch,
    });
    this.packets.correct(packet, { result: resultOf(failure, packet.result?.recipients ?? []), receiptId });
    await this.escalations.answered(packet, because);
    await this.completeDirective.failedUnsent(directive);
  }

  /** A kill has halted it, and it may have left before: a person says whether it arrived. */
  foundHalted(packet: WorkPacketEntity, { message }: EffectFailed): Promise<void> {
    return this.escalations.unconfirmed(packet, message, true);
  }

  /**
   * Ends it as failed, with a signal, since a person has to look; whether it arrived, only a person can find out, if nobody
   * here knows. A mail that some have is executed for them. The work on it is ended by the caller.
   */
  async giveUp(packet: AttemptedPacket, failure: Failure, guardian: GuardianEntity): Promise<void> {
    const { code, message } = failure;
    const recipients = packet.result?.recipients ?? [];
    if (hasLeftInPart(packet) && !isUnconfirmed(code)) {
      await this.succeed(packet, withRecipients({}, recipients), guardian);
      return;
    }
    // Before the decisions, in the order of a decision.
    await this.packets.lockDirective(packet);
    const given =
      isUnconfirmed(code) || mayHaveLeftBefore(packet) ? {} : await this.gate.giveBack([packet.workPacketId]);
    const receiptId = this.receipts.append({
      ...receiptSubject(packet),
      action: 'packet.failed',
      outcome: 'failure',
      summary: `"${packet.title}" was not carried out: ${message}`,
      details: {
        actionType: packet.actionType,
        code,
        attempt: packet.attempts,
        began: beganIn(packet),
        ...given,
      },
    });
    this.packets.transition(packet, 'fail', {
      result: resultOf(failure, recipients),
      receiptId,
      sendingSince: null,
    });
    this.signals.raise({
      type: 'agent',
      severity: isUnconfirmed(code) ? 'critical' : 'warning',
      title: `Not carried out: ${packet.title}`,
      body: message,
      source: capoActor(packet.capo),
      teamId: packet.teamId,
      capo: packet.capo,
      entity: { type: 'work_packet', id: packet.workPacketId },
    });
    if (isUnconfirmed(code)) await this.escalations.unconfirmed(packet, message, isHalted(guardian.mode));
    await this.completeDirective.packetEnded(packet.workspaceId, packet.directiveId);
  }

  private endWork(item: WorkItem | undefined, { workPacketId }: WorkPacketEntity): void {
    if (item) this.work.complete(item);
    else this.work.cancel('packet.send', [workPacketId]);
  }

  private detailsOf(packet: WorkPacketEntity, result: PacketResult) {
    const { actionType, target, attempts } = packet;
    return { actionType, target, attempt: attempts, began: beganIn(packet), result: withoutAnswers(result) };
  }
}

/** Whether an attempt before the last one took effect for somebody, or may have: nobody knows how it ended. */
function mayHaveLeftBefore(packet: AttemptedPacket): boolean {
  const { attempts, outcomes } = packet;
  if (hasLeftInPart(packet)) return true;
  if (outcomes === undefined) return attempts > 1;
  const isUnknown = ({ outcome }: DuePacket['outcomes'][number]) =>
    'failure' in outcome && isUnconfirmed(outcome.failure.code);
  return outcomes.length < attempts - 1 || outcomes.some(isUnknown);
}

/** Where in the chain it was last handed out; null for one that never was, or by an earlier version. */
function beganIn({ beganEpoch, beganSeq }: WorkPacketEntity): { epoch: number; seq: number } | null {
  return beganEpoch === null || beganSeq === null ? null : { epoch: beganEpoch, seq: beganSeq };
}

/** Why it did not take effect, with what was answered. */
function resultOf(
  { code, message, known }: Failure,
  recipients: readonly RecipientOutcome[],
  tries?: number,
): PacketResult {
  return {
    ...known.answered,
    error: { code, message },
    ...(recipients.length > 0 && { recipients: [...recipients] }),
    ...(tries !== undefined && { tries }),
  };
}

/** Of a mail, who has it by all attempts together. */
function withRecipients(result: ActionResult, recipients: readonly RecipientOutcome[]): PacketResult {
  if (recipients.length === 0) return { ...result };
  const isAccepted = ({ outcome }: RecipientOutcome) => outcome === 'accepted';
  const rest = recipients.filter((one) => !isAccepted(one));
  return {
    ...result,
    accepted: recipients.filter(isAccepted).map(({ address }) => address),
    rejected: rest.map(({ address, answer }) => ({ address, response: answer })),
    recipients: [...recipients],
  };
}

/** The mail server takes it later for these. */
function deferralOf(recipients: readonly RecipientOutcome[]): Failure {
  const later = recipients.filter(({ outcome }) => outcome === 'deferred');
  const message = `The mail server does not accept the mail now for ${later.map(({ address, answer }) => `${address}: ${answer}`).join('; ')}`;
  return { code: 'MAIL_UNREACHABLE', message, retryable: true, known: { hasReplied: true } };
}

/** Receipts are kept for good; the words of others are not for them. */
function withoutAnswers({ answer: _answer, recipients, ...result }: PacketResult): Record<string, unknown> {
  return {
    ...result,
    ...(recipients && { recipients: recipients.map(({ answer: _said, ...one }) => one) }),
  };
}
