import { Injectable } from '@nestjs/common';
import { canonicalJson } from '../../../platform/kernel/canonical-json.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import type { WorkError } from '../../../platform/work/work-item.js';
import { type Action, OUTSIDE_TYPES, OutsideTargetsReader, validateAction } from '../../capos/index.js';
import {
  GUARDIAN,
  type GuardianEntity,
  type Moment,
  type PolicyDecision,
  PolicyGate,
  type Recheck,
  decisionsInReceipt,
} from '../../guardian/index.js';
import { hasEnded } from '../directive-states.js';
import { type DuePacket, isUnderWay } from './due-packets.repository.js';
import { type Effect, EffectFailed, processEnded } from './packet-effect.js';
import { PacketEffects } from './packet-effects.js';
import { actionOf, contentHash, decidedPacketOf, hasLeftInPart, receiptSubject } from './work-packet.js';
import { WorkPacketsReader } from './work-packets.reader.js';

/** Why a packet does not leave now: nobody wants it any more, or the guardian says so. */
export type Refusal = { verdict: 'ended'; because: WorkError } | Exclude<Recheck, { verdict: 'go' }>;

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
