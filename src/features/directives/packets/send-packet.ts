import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Work } from '../../../platform/work/work.js';
import type { WorkError, WorkItem } from '../../../platform/work/work-item.js';
import type { Action } from '../../capos/index.js';
import { type GuardianEntity, KILLED_TOPIC, isHalted, letsNothingLeave } from '../../guardian/index.js';
import { CheckBeforeSending, type Refusal } from './check-before-sending.js';
import { type DuePacket, DuePackets, unfollowedOutcome } from './due-packets.repository.js';
import { type Outgoing, OutsideAttempts } from './outside-attempts.js';
import { EffectFailed, type OutsideEffect, type PacketToSend, processEnded } from './packet-effect.js';
import { PacketResults } from './packet-results.js';
import { UnsentPackets } from './unsent-packets.js';
import { hasLeftInPart } from './work-packet.js';

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
