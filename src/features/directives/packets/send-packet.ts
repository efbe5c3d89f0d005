import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../../platform/database/db.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import { Jobs, type JobTarget } from '../../../platform/jobs/jobs.js';
import { backoffMs, withLease } from '../../../platform/jobs/lease.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { cutText } from '../../../platform/kernel/text.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { type Action, type ActionResult, compensationOf, validateAction } from '../../capos/action-types.js';
import { capoActor } from '../../capos/capo-actor.js';
import { CAPOS } from '../../capos/capo.js';
import type { GuardianEntity } from '../../guardian/guardian.entity.js';
import { letsNothingLeave } from '../../guardian/guardian.js';
import { Guardians } from '../../guardian/guardians.repository.js';
import { Runs } from '../../guardian/runs.js';
import { Signals } from '../../signals/signals.repository.js';
import { ActionEffects, type Effect, EffectFailed, type PacketToSend } from './action-effects.js';
import { PacketOutcomes } from './packet-outcomes.js';
import { contentHash } from './work-packet.js';
import { type ClaimedPacket, WorkPackets } from './work-packets.repository.js';

const MAX_ATTEMPTS = 5;
const EFFECT_TIMEOUT_MS = 30_000;

interface Handed {
  packet: ClaimedPacket;
  action: Action;
  effect: Extract<Effect, { kind: 'outside' }>;
}

/**
 * Carries one packet out. The guardian's row is held in the transaction that marks the packet as sending, so nothing
 * starts after a kill has committed; what is sent is compared with what was allowed; the result counts only under the
 * attempt that made it.
 */
@Injectable()
export class SendPacket implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly effects: ActionEffects,
    private readonly outcomes: PacketOutcomes,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly runs: Runs,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('packet.send', (target, scope) => this.execute(target, scope));
  }

  /** Listens for a kill from before the packet is marked, so that none falls between marking and handing out. */
  private execute(target: JobTarget, scope: Scope): Promise<void> {
    return this.runs.during(target.workspaceId, (killed) => this.send(target, scope, killed));
  }

  private async send({ workspaceId, id }: JobTarget, scope: Scope, killed: AbortSignal): Promise<void> {
    let claimed: ClaimedPacket | undefined;
    let handed: Handed | undefined;
    try {
      handed = await this.db.transaction(scope, async (unit) => {
        const [[guardian], [packet]] = (await unit.batch([
          this.guardians.lockSharedStatement(workspaceId),
          this.packets.claimStatement(workspaceId, id, this.clock.now()),
        ])) as [[GuardianEntity], [ClaimedPacket?]];
        if (!packet) return undefined;
        if (letsNothingLeave(guardian.mode)) throw new HeldBack();
        claimed = packet;
        return this.begin(packet, guardian);
      });
    } catch (error) {
      if (error instanceof HeldBack) return;
      if (!claimed || !(error instanceof EffectFailed)) throw error;
      await this.recordRefusal(claimed, error, scope);
    }
    if (handed) await this.handOut(handed, scope, killed);
  }

  /** Carries out what happens inside the database; answers what has to leave it. */
  private async begin(packet: ClaimedPacket, guardian: GuardianEntity): Promise<Handed | undefined> {
    const validated = validateAction(packet.engine, packet.actionType, packet.params);
    if (!validated.ok || contentHash(packet) !== packet.allowedHash) {
      throw new EffectFailed('CONTENT_CHANGED', 'The move is not the one that was allowed.', false);
    }
    const { action } = validated;
    const effect = this.effects.of(action);
    if (effect.kind === 'inside') {
      const result = await effect.run(toSend(packet, action));
      await this.succeed(packet, action, result, guardian.epoch);
      return undefined;
    }
    if (packet.previousStatus === 'sending' && !effect.repeatable) {
      throw new EffectFailed(
        'UNCONFIRMED',
        'The process ended while this was being sent; whether it arrived is not known, so it is not sent again.',
        false,
      );
    }
    return { packet, action, effect };
  }

  private async handOut(
    { packet, action, effect }: Handed,
    scope: Scope,
    killed: AbortSignal,
  ): Promise<void> {
    let result: ActionResult;
    try {
      result = await withLease(
        () => this.mayGoOn(packet, scope),
        (signal) => effect.run(toSend(packet, action), signal),
        AbortSignal.any([killed, AbortSignal.timeout(EFFECT_TIMEOUT_MS)]),
      );
    } catch (error) {
      await this.recordFailure(packet, asEffectFailed(error), killed.aborted, scope);
      return;
    }
    await this.db.transaction(scope, async () => {
      const guardian = await this.guardians.lockShared(packet.workspaceId);
      await this.succeed(packet, action, result, guardian.epoch);
    });
  }

  /** Asks about the kill as well: its message may be lost with the connection. */
  private async mayGoOn({ workPacketId, attempts }: ClaimedPacket, scope: Scope): Promise<boolean> {
    const [{ mode }, held] = await Promise.all([
      this.guardians.read(scope),
      this.packets.extendLease(scope, workPacketId, attempts, this.clock.now()),
    ]);
    return held && mode !== 'killed';
  }

  private async succeed(
    packet: ClaimedPacket,
    action: Action,
    result: ActionResult,
    epoch: number,
  ): Promise<void> {
    const receiptId = this.receipts.append({
      ...subject(packet),
      action: 'packet.executed',
      summary: `${CAPOS[packet.capo].name} carried out "${packet.title}".`,
      details: { actionType: packet.actionType, target: packet.target, attempt: packet.attempts, result },
      guardianEpoch: epoch,
    });
    const held = await this.packets.settle(packet, {
      status: 'executed',
      result,
      compensation: compensationOf(action, result),
      receiptId,
      executedAt: this.clock.now(),
      dueAt: null,
    });
    if (!held) throw new LateResult(packet.workPacketId);
    await this.outcomes.settled(packet);
  }

  /** A packet that could not even begin: the claim was rolled back with the attempt, so it is claimed again to end. */
  private async recordRefusal(packet: ClaimedPacket, failure: EffectFailed, scope: Scope): Promise<void> {
    await this.db.transaction(scope, async (unit) => {
      const [[again]] = (await unit.batch([
        this.packets.claimStatement(packet.workspaceId, packet.workPacketId, this.clock.now()),
      ])) as [[ClaimedPacket?]];
      if (again) await this.fail(again, failure);
    });
  }

  /** What a kill called off has not failed: however often that happens, the packet goes on with the revert. */
  private async recordFailure(
    packet: ClaimedPacket,
    failure: EffectFailed,
    calledOff: boolean,
    scope: Scope,
  ): Promise<void> {
    await this.db.transaction(scope, async () => {
      const { mode } = await this.guardians.lockShared(packet.workspaceId);
      const killed = mode === 'killed';
      if (failure.retryable && (killed || calledOff || packet.attempts < MAX_ATTEMPTS)) {
        const waitMs = calledOff ? 0 : backoffMs(packet.attempts);
        await this.putBack(packet, failure, killed ? null : this.clock.now() + waitMs);
      } else {
        await this.fail(packet, failure);
      }
    });
  }

  /** Halted without `dueAt`, else queued until then. */
  private async putBack(packet: ClaimedPacket, failure: EffectFailed, dueAt: number | null): Promise<void> {
    await this.packets.settle(packet, {
      status: dueAt === null ? 'halted' : 'queued',
      result: { error: { code: failure.code, message: failure.message } },
      compensation: null,
      receiptId: null,
      executedAt: null,
      dueAt,
    });
    if (dueAt !== null) this.jobs.wake('packet.send', packet.workPacketId, dueAt);
  }

  private async fail(packet: ClaimedPacket, { code, message }: EffectFailed): Promise<void> {
    const receiptId = this.receipts.append({
      ...subject(packet),
      action: 'packet.failed',
      outcome: 'failure',
      summary: `"${packet.title}" was not carried out: ${message}`,
      details: { actionType: packet.actionType, code, attempt: packet.attempts },
    });
    const held = await this.packets.settle(packet, {
      status: 'failed',
      result: { error: { code, message } },
      compensation: null,
      receiptId,
      executedAt: null,
      dueAt: null,
    });
    if (!held) throw new LateResult(packet.workPacketId);
    this.signals.raise({
      type: 'agent',
      severity: code.endsWith('UNCONFIRMED') ? 'critical' : 'warning',
      title: cutText(`Not carried out: ${packet.title}`, 200),
      body: message,
      score: null,
      source: capoActor(packet.capo),
      teamId: packet.teamId,
      capo: packet.capo,
      entity: { type: 'work_packet', id: packet.workPacketId },
    });
    await this.outcomes.settled(packet);
  }
}

/** The guardian lets nothing leave; the packet stays as it is. */
class HeldBack extends Error {}

/** Another attempt has the packet by now; rolls back what this one was about to record. */
class LateResult extends Error {
  constructor(workPacketId: string) {
    super(`the result for ${workPacketId} came too late and is discarded`);
  }
}

function toSend(packet: ClaimedPacket, action: Action): PacketToSend {
  const { workPacketId, workspaceId, teamId, directiveId, capo } = packet;
  return { workPacketId, workspaceId, teamId, directiveId, capo, params: action.params } as PacketToSend;
}

function subject(packet: ClaimedPacket) {
  return {
    actor: capoActor(packet.capo),
    entity: { type: 'work_packet', id: packet.workPacketId },
    directiveId: packet.directiveId,
    teamId: packet.teamId,
    capo: packet.capo,
  };
}

function asEffectFailed(error: unknown): EffectFailed {
  if (error instanceof EffectFailed) return error;
  // Not one of the failures the effect knows: whether anything happened cannot be told, so nothing is tried again.
  return new EffectFailed(
    'UNCONFIRMED',
    'It failed in an unknown way; whether it arrived is not known.',
    false,
  );
}
