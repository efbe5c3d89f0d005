import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { throughOutage } from '../../../platform/work/through-outage.js';
import { Work } from '../../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../../platform/work/work-item.js';
import { type Action, type ActionResult, validateAction } from '../../capos/action-types.js';
import type { GuardianEntity } from '../../guardian/guardian.entity.js';
import { KILLED_TOPIC, letsNothingLeave } from '../../guardian/guardian.js';
import { Guardians } from '../../guardian/guardians.repository.js';
import { PolicyGate } from '../../guardian/policy-gate.js';
import { hasEnded } from '../directive-states.js';
import { EscalateFailed } from './escalate-failed.js';
import { type Effect, EffectFailed, PacketEffects, type PacketToSend } from './packet-effects.js';
import { PacketResults } from './packet-results.js';
import { RecallPackets } from './recall-packets.js';
import { actionOf, contentHash, decidedPacketOf } from './work-packet.js';
import { type DuePacket, WorkPackets } from './work-packets.repository.js';

const EFFECT_TIMEOUT_MS = 30_000;

type Outside = Extract<Effect, { kind: 'outside' }>;

interface Handed {
  packet: DuePacket;
  action: Action;
  effect: Outside;
}

/**
 * Carries one packet out. In the transaction that marks it as sending, the guardian's row is locked, so nothing starts
 * after a kill has committed; the packet is decided again, since orders, mode and deadline may have changed since it was
 * allowed; and what is sent is compared with what was allowed. The result counts only under the attempt that made it.
 */
@Injectable()
export class SendPacket implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly gate: PolicyGate,
    private readonly packets: WorkPackets,
    private readonly effects: PacketEffects,
    private readonly results: PacketResults,
    private readonly recallPackets: RecallPackets,
    private readonly escalateFailed: EscalateFailed,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'packet.send',
      pool: 32,
      perQueue: 8,
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
      // What the effect had written is rolled back with the rest, so the failure is recorded by itself.
      if (!(error instanceof EffectFailed)) throw error;
      await this.db.transaction(scopeOfWork(item), () => this.recordFailure(item, error, false));
    }
    if (handed) await this.handOut(item, handed, signal);
  }

  /** Carries out what happens inside the database; answers what has to leave it. */
  private async begin(item: WorkItem): Promise<Handed | undefined> {
    const { workspaceId, id } = item;
    const [[guardian], , [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      this.packets.lockDirectiveStatement(workspaceId, id),
      this.packets.lockDueStatement(workspaceId, id),
    ])) as [[GuardianEntity], unknown, [DuePacket?]];
    // The kill may have halted it since it was claimed; then it goes on with the revert.
    if (letsNothingLeave(guardian.mode)) this.work.park(item);
    if (!packet) return undefined;
    // Before anything is decided again: what may have left must not be asked about, or denied, as if it had not.
    const mayHaveLeft = this.mayHaveLeft(packet);
    if (letsNothingLeave(guardian.mode)) {
      if (mayHaveLeft && guardian.mode === 'killed')
        await this.escalateFailed.unconfirmed(packet, PROCESS_ENDED, true);
      return undefined;
    }
    if (mayHaveLeft) throw unconfirmed();
    const action = this.allowedAction(packet);
    const effect = this.effects.of(action);
    if (!(await this.mayLeave(item, packet, guardian))) return undefined;
    if (effect.kind === 'inside') {
      const result = await effect.run(toSend(packet, action));
      await this.results.succeed(
        item,
        { ...packet, attempts: packet.attempts + 1 },
        action,
        result,
        guardian,
      );
      return undefined;
    }
    this.work.check(item);
    return this.markSending(packet, action, effect);
  }

  /** The process that was sending it ended, and doing it again could not be told from doing it once. */
  private mayHaveLeft(packet: DuePacket): boolean {
    if (packet.status !== 'sending') return false;
    const effect = this.effects.of(actionOf(packet));
    return effect.kind === 'outside' && !effect.repeatable;
  }

  /**
   * Checks the packet against what is true now; what may not be sent any more is dealt with here.
   * @throws EffectFailed for one that may have been sent already: nobody can say that it was not
   */
  private async mayLeave(item: WorkItem, packet: DuePacket, guardian: GuardianEntity): Promise<boolean> {
    const { allowedBy, priority } = packet;
    const mayHaveLeft = packet.status === 'sending';
    const ended = this.hasEnded(packet);
    if (ended) {
      if (mayHaveLeft) throw unconfirmed();
      await this.results.cancel(item, packet, ended);
      return false;
    }
    const recheck = await this.gate.recheck(decidedPacketOf(packet, priority), {
      guardian,
      allowedBy: allowedBy ?? 'policy',
    });
    if (recheck.verdict !== 'go' && mayHaveLeft) throw unconfirmed();
    if (recheck.verdict === 'wait') this.work.park(item);
    else if (recheck.verdict === 'deny') await this.results.deny(item, packet, recheck.policy);
    else if (recheck.verdict === 'review')
      await this.recallPackets.execute(item, packet, recheck.policy, guardian);
    return recheck.verdict === 'go';
  }

  /** Why nobody wants the packet any more, though it was allowed. */
  private hasEnded({ status, deadline, directiveStatus }: DuePacket): WorkError | undefined {
    if (hasEnded(directiveStatus)) {
      return { code: 'DIRECTIVE_ENDED', message: `Its directive is already ${directiveStatus}.` };
    }
    // One that was handed out before says how that ended, whatever the time.
    if (status !== 'queued' || deadline === null || deadline > this.clock.now()) return undefined;
    return { code: 'DEADLINE_PASSED', message: 'The deadline of its directive passed before it was sent.' };
  }

  /** @throws EffectFailed when the packet is not the one that was allowed, or lacks something */
  private allowedAction(packet: DuePacket): Action {
    if (packet.needsInput.length > 0) {
      const message = 'The work packet lacks something that a person has to supply.';
      throw new EffectFailed('INPUT_REQUIRED', message, false);
    }
    const validated = validateAction(packet.engine, packet.actionType, packet.params);
    if (!validated.ok || contentHash(packet) !== packet.allowedHash) {
      throw new EffectFailed('CONTENT_CHANGED', 'The work packet has changed since it was allowed.', false);
    }
    return validated.action;
  }

  private markSending(packet: DuePacket, action: Action, effect: Outside): Handed {
    const attempts = packet.attempts + 1;
    const sendingSince = packet.sendingSince ?? this.clock.now();
    this.packets.transition(packet, 'send', { attempts, sendingSince });
    return { packet: { ...packet, status: 'sending', attempts, sendingSince }, action, effect };
  }

  private async handOut(
    item: WorkItem,
    { packet, action, effect }: Handed,
    signal: AbortSignal,
  ): Promise<void> {
    let result: ActionResult;
    try {
      result = await effect.run(
        toSend(packet, action),
        AbortSignal.any([signal, AbortSignal.timeout(EFFECT_TIMEOUT_MS)]),
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
        const guardian = await this.guardians.lockShared(packet.workspaceId);
        await this.results.succeed(item, packet, action, result, guardian);
      }),
    );
  }

  /** @param calledOff a kill has called it off, or the work is another attempt's by now */
  private async recordFailure(item: WorkItem, failure: EffectFailed, calledOff: boolean): Promise<void> {
    const [[{ mode }], [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(item.workspaceId),
      this.packets.lockDueStatement(item.workspaceId, item.id),
    ])) as [[GuardianEntity], [DuePacket?]];
    if (packet) await this.results.fail(item, packet, failure, { isKilled: mode === 'killed', calledOff });
  }

  private async giveUp(item: WorkItem, { code, message }: WorkError): Promise<void> {
    const [[{ mode }], [packet]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(item.workspaceId),
      this.packets.lockDueStatement(item.workspaceId, item.id),
    ])) as [[GuardianEntity], [DuePacket?]];
    if (!packet) return;
    const failure = this.mayHaveLeft(packet) ? unconfirmed() : new EffectFailed(code, message, false);
    await this.results.giveUp(packet, failure, mode === 'killed');
  }
}

const PROCESS_ENDED =
  'The process ended while this was being sent; it is not known whether it arrived, so it is not sent again.';

function unconfirmed(): EffectFailed {
  return new EffectFailed('UNCONFIRMED', PROCESS_ENDED, false);
}

function toSend(packet: DuePacket, action: Action): PacketToSend {
  const { workPacketId, workspaceId, teamId, directiveId, capo } = packet;
  return { workPacketId, workspaceId, teamId, directiveId, capo, params: action.params } as PacketToSend;
}

function asEffectFailed(error: unknown): EffectFailed {
  if (error instanceof EffectFailed) return error;
  // Not one of the failures the effect knows: whether anything happened cannot be told, so nothing is tried again.
  return new EffectFailed(
    'UNCONFIRMED',
    'It failed unexpectedly; it is not known whether it arrived.',
    false,
  );
}
