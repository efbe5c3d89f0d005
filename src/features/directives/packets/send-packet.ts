import { Injectable, type OnModuleInit } from '@nestjs/common';
import { canonicalJson } from '../../../platform/kernel/canonical-json.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import type { WorkError, WorkItem } from '../../../platform/work/work-item.js';
import { Work } from '../../../platform/work/work.js';
import { type Action, OUTSIDE_TYPES, OutsideTargetsReader, validateAction } from '../../capos/index.js';
import {
  decisionsInReceipt,
  GUARDIAN,
  type GuardianEntity,
  isHalted,
  KILLED_TOPIC,
  letsNothingLeave,
  type Moment,
  type PolicyDecision,
  PolicyGate,
} from '../../guardian/index.js';
import { hasEnded } from '../directive-states.js';
import { type DuePacket, DuePackets, isUnderWay, unfollowedOutcome } from './due-packets.repository.js';
import { type Outgoing, OutsideAttempts } from './outside-attempts.js';
import {
  type Effect,
  EffectFailed,
  type OutsideEffect,
  type PacketToSend,
  processEnded,
} from './packet-effect.js';
import { PacketEffects } from './packet-effects.js';
import { PacketResults } from './packet-results.js';
import { UnsentPackets, type Refusal } from './unsent-packets.js';
import { actionOf, contentHash, decidedPacketOf, hasLeftInPart, receiptSubject } from './work-packet.js';
import { WorkPacketsReader } from './work-packets.reader.js';

type Checked = { verdict: 'go'; action: Action; effect: Effect } | Refusal;

/**
 * Compares a packet that is about to leave with what is true now: it must be what was allowed, reach what it reached then,
 * and still be wanted and allowed. The packet and the guardian are locked in the open transaction.
 */
@Injectable()
export class CheckBeforeSending {
  constructor(
    private readonly targets: OutsideTargetsReader,
    private readonly effects: PacketEffects,
    private readonly gate: PolicyGate,
    private readonly packets: WorkPacketsReader,
    private readonly receipts: Receipts,
  ) {}

  /** What {@link execute} goes by, read once the guardian is locked. */
  moment(): Promise<Moment> {
    return this.gate.moment();
  }

  /** @throws EffectFailed when it is not what was allowed, or may have been sent already: nobody can say that it was not */
  async execute(packet: DuePacket, guardian: GuardianEntity, moment: Moment): Promise<Checked> {
    const action = await this.allowedAction(packet);
    const effect = await this.effects.of(packet.workspaceId, action);
    const refusal = await this.refusalOf(packet, guardian, moment);
    if (!refusal) return { verdict: 'go', action, effect };
    if (isUnderWay(packet)) throw processEnded();
    return refusal;
  }

  /** The process that was sending it ended, and doing it again could not be told from doing it once. */
  async mayHaveLeft(packet: DuePacket): Promise<boolean> {
    if (!isUnderWay(packet)) return false;
    try {
      const effect = await this.effects.of(packet.workspaceId, actionOf(packet));
      return effect.kind === 'outside' && !effect.repeatable;
    } catch (error) {
      // What it was sent to is not there any more, so doing it again says nothing about the first time.
      if (error instanceof EffectFailed) return true;
      throw error;
    }
  }

  private async refusalOf(
    packet: DuePacket,
    guardian: GuardianEntity,
    moment: Moment,
  ): Promise<Refusal | undefined> {
    const because = this.reasonToEnd(packet);
    if (because) return { verdict: 'ended', because };
    const recheck = await this.gate.recheck(decidedPacketOf(packet, packet.priority), {
      guardian,
      moment,
      allowedBy: packet.allowedBy ?? 'policy',
      hasLeftInPart: hasLeftInPart(packet),
      waitingAhead: (ids) => this.packets.waitingAhead(packet.workspaceId, ids, packet),
    });
    if (recheck.verdict !== 'go') return recheck;
    if (recheck.policy) this.noteUse(packet, recheck.policy);
    return undefined;
  }

  /** Orders count it by this decision, and not by the one that its release tells. */
  private noteUse(packet: DuePacket, policy: PolicyDecision): void {
    this.receipts.append({
      ...receiptSubject(packet),
      actor: GUARDIAN,
      action: 'packet.allowed',
      summary: `"${packet.title}" may be sent now: ${policy.decision.explanation[0]}`,
      details: { decisions: decisionsInReceipt([policy]) },
      guardianEpoch: policy.input.guardian.epoch,
    });
  }

  /** Why nobody wants the packet any more, though it was allowed. */
  private reasonToEnd(packet: DuePacket): WorkError | undefined {
    const { deadline, directiveStatus, now } = packet;
    if (hasEnded(directiveStatus)) {
      return { code: 'DIRECTIVE_ENDED', message: `Its directive is already ${directiveStatus}.` };
    }
    // One that was handed out before says how that ended, whatever the time.
    if (isUnderWay(packet) || deadline === null || deadline > now) return undefined;
    return { code: 'DEADLINE_PASSED', message: 'The deadline of its directive passed before it was sent.' };
  }

  /** @throws EffectFailed when the packet is not the one that was allowed, lacks something, or reaches something else now */
  private async allowedAction(packet: DuePacket): Promise<Action> {
    if (packet.needsInput.length > 0) {
      const message = 'The work packet lacks something that a person has to supply.';
      throw new EffectFailed('INPUT_REQUIRED', message, false);
    }
    const { workspaceId, engine, actionType, params } = packet;
    const targets = await this.targets.for({ workspaceId, teamIds: 'all' }, [actionType]);
    const validated = validateAction(engine, actionType, params, { targets });
    if (!validated.ok && validated.faults.some(({ rule }) => rule === 'known')) {
      const message = 'The destination or operation of the work packet no longer exists.';
      throw new EffectFailed('NOT_AVAILABLE', message, false);
    }
    if (!validated.ok || contentHash(packet) !== packet.allowedHash) {
      throw new EffectFailed('CONTENT_CHANGED', 'The work packet has changed since it was allowed.', false);
    }
    const isBound = OUTSIDE_TYPES.includes(actionType);
    if (isBound && canonicalJson(validated.action.params) !== canonicalJson(params)) {
      const message = 'The target of the work packet has changed since it was allowed.';
      throw new EffectFailed('CONTENT_CHANGED', message, false);
    }
    return validated.action;
  }
}

/**
 * Carries one packet out. In the transaction that marks it as sending, the guardian's row is locked, so nothing starts
 * after a kill has committed; the packet is decided again, since orders, mode and deadline may have changed since it was
 * allowed; and what is sent is compared with what was allowed. The result counts only under the attempt that made it.
 */
@Injectable()
export class SendPacket implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly packets: DuePackets,
    private readonly attempts: OutsideAttempts,
    private readonly check: CheckBeforeSending,
    private readonly results: PacketResults,
    private readonly unsent: UnsentPackets,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'packet.send',
      pool: 32,
      perQueue: 8,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) =>
        this.attempts.make(item, signal, {
          begin: () => this.begin(item),
          refuse: (failure) => this.refuse(item, failure),
        }),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  /** Carries out what happens inside the database; answers what has to leave it. */
  private async begin(item: WorkItem): Promise<Outgoing | undefined> {
    const [{ guardian, packet }, moment] = await Promise.all([
      this.packets.lockToBegin(item),
      this.check.moment(),
    ]);
    // The kill may have halted it since it was claimed; then it goes on with the revert.
    if (letsNothingLeave(guardian.mode)) this.work.park(item);
    if (!packet) return undefined;
    const known = unfollowedOutcome(packet);
    if (known && !letsNothingLeave(guardian.mode)) {
      await this.results.ended(item, packet, known, async () => guardian, false);
      return undefined;
    }
    // Before anything is decided again: what may have left must not be asked about, or denied, as if it had not.
    const mayHaveLeft = await this.check.mayHaveLeft(packet);
    if (letsNothingLeave(guardian.mode)) {
      if (mayHaveLeft && isHalted(guardian.mode)) await this.results.foundHalted(packet, processEnded());
      return undefined;
    }
    if (mayHaveLeft) throw processEnded();
    const checked = await this.check.execute(packet, guardian, moment);
    if (checked.verdict !== 'go') {
      const because = hasLeftInPart(packet) && reasonToEnd(checked);
      if (because) await this.results.endPartly(item, packet, because, guardian);
      else await this.unsent.execute(item, packet, checked, guardian);
      return undefined;
    }
    const { action, effect } = checked;
    const begun = { ...packet, ...begunBy(packet, guardian) };
    if (effect.kind === 'inside') {
      const result = await effect.run(toSend(packet, action));
      await this.results.succeed(begun, result, guardian);
      this.work.complete(item);
      return undefined;
    }
    this.work.check(item);
    return this.outgoing(item, begun, action, effect);
  }

  private async outgoing(
    item: WorkItem,
    begun: DuePacket,
    action: Action,
    effect: OutsideEffect<Action['params']>,
  ): Promise<Outgoing> {
    const envelope = begun.envelope ?? (await effect.seal?.(begun.workspaceId)) ?? null;
    const packet = this.packets.markSending(begun, envelope);
    return {
      attempt: packet.attempts,
      run: (signal) => effect.run(toSend(packet, action), signal),
      foreseen: (outcome) => this.results.foreseen(item, packet, outcome),
      ended: (outcome, calledOff) =>
        this.results.ended(item, packet, outcome, () => this.packets.lockGuardian(packet), calledOff),
      endedLate: async (outcome) => {
        const now = await this.packets.lockLate(packet);
        const ended = { attempt: packet.attempts, outcome, isRepeatable: effect.repeatable };
        await this.results.endedLate(now.packet, now.directive, ended, now.guardian);
      },
    };
  }

  /** It did not begin. */
  private async refuse(item: WorkItem, failure: EffectFailed): Promise<void> {
    const { guardian, packet } = await this.packets.lock(item);
    if (packet) await this.results.ended(item, packet, failure.outcome, async () => guardian, false);
  }

  private async giveUp(item: WorkItem, { code, message }: WorkError): Promise<void> {
    const { guardian, packet } = await this.packets.lock(item);
    if (!packet) return;
    const mayHaveLeft = await this.check.mayHaveLeft(packet);
    const failure = mayHaveLeft ? processEnded() : new EffectFailed(code, message, false);
    await this.results.giveUp(packet, failure, guardian);
  }
}

/** Why the rest of it is not sent any more, if not only for now. */
function reasonToEnd(refusal: Refusal): string | undefined {
  if (refusal.verdict === 'ended') return refusal.because.message;
  if (refusal.verdict === 'deny' || refusal.verdict === 'review')
    return refusal.policy.decision.explanation.join(' ');
  return undefined;
}

/** The guardian is locked: what the last receipt was at that time shows whether a kill came before. */
function begunBy({ attempts, headSeq }: DuePacket, { epoch }: GuardianEntity) {
  return { attempts: attempts + 1, beganEpoch: epoch, beganSeq: headSeq };
}

function toSend(packet: DuePacket, action: Action): PacketToSend {
  const { workPacketId, workspaceId, teamId, directiveId, capo, envelope, result } = packet;
  const recipients = result?.recipients?.flatMap((one) => (one.outcome === 'deferred' ? one.address : []));
  return {
    workPacketId,
    workspaceId,
    teamId,
    directiveId,
    capo,
    params: action.params,
    envelope,
    ...(recipients && { recipients }),
  };
}
