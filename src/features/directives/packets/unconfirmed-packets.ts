import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller } from '../../../platform/auth/caller.js';
import { requireRole } from '../../../platform/auth/require-role.js';
import { Db } from '../../../platform/database/db.js';
import { InvalidTransition } from '../../../platform/kernel/errors.js';
import { Receipts } from '../../../platform/receipts/receipts.js';
import { Work } from '../../../platform/work/work.js';
import {
  ARRIVED,
  DID_NOT_ARRIVE,
  type Decider,
  type EscalationEntity,
  type EscalationOption,
  EscalationOptions,
  KILL_UNCONFIRMED,
  PACKET_FAILED,
  SEND_AGAIN,
} from '../../escalations/index.js';
import { haltedIn } from '../../terms/index.js';
import { type GuardianEntity, Guardians, PolicyGate, letsNothingLeave } from '../../guardian/index.js';
import { CompleteDirective } from '../complete-directive.js';
import { titleOf } from '../directive.js';
import { DirectiveTransitions } from '../directive-transitions.js';
import type { DirectiveEntity } from '../directive.entity.js';
import { Directives } from '../directives.repository.js';
import { isUnconfirmed } from './packet-effect.js';
import { hasLeftInPart, receiptSubject } from './work-packet.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

interface LockedPacket {
  guardian: GuardianEntity;
  directive: DirectiveEntity;
  packet: WorkPacketEntity;
}

/**
 * A person says what nobody here can know: whether a work packet arrived whose sending was cut off. What they say is
 * recorded as theirs; nothing is sent in the moment in which they say it.
 */
@Injectable()
export class UnconfirmedPackets implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly options: EscalationOptions,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly completeDirective: CompleteDirective,
    private readonly receipts: Receipts,
    private readonly gate: PolicyGate,
  ) {}

  onModuleInit(): void {
    const lock = (escalation: EscalationEntity) => this.lock(escalation);
    const arrived: EscalationOption = {
      role: 'operator',
      effect: 'Records that the work packet arrived; it is not sent again.',
      run: (escalation, by) => this.arrived(escalation, by),
    };
    this.options.register(PACKET_FAILED, 'work_packet', {
      lock,
      options: {
        [ARRIVED]: arrived,
        [DID_NOT_ARRIVE]: {
          role: 'operator',
          effect: 'Records that the work packet did not arrive; it is not sent again.',
          run: (escalation, by) => this.failed(escalation, by),
        },
      },
    });
    this.options.register(KILL_UNCONFIRMED, 'work_packet', {
      lock,
      options: {
        [ARRIVED]: arrived,
        [SEND_AGAIN]: {
          role: 'operator',
          effect:
            'Records that the work packet did not arrive, and sends it again; while the kill switch is engaged, after the revert.',
          run: (escalation, by) => this.sendAgain(escalation, by),
        },
      },
    });
  }

  /** In the order in which the work of sending it takes the same locks. */
  private async lock({ workspaceId, entityId }: EscalationEntity): Promise<LockedPacket> {
    const guardian = await this.guardians.lockShared(workspaceId);
    await this.db.unit.batch([this.packets.lockDirectiveStatement(workspaceId, entityId)]);
    const packet = (await this.packets.lock(workspaceId, entityId))!;
    const directive = (await this.directives.lock(workspaceId, packet.directiveId))!;
    return { guardian, packet, directive };
  }

  /** @throws Forbidden; InvalidTransition once it is known how it ended */
  private async toDecide(escalation: EscalationEntity, caller: Caller): Promise<LockedPacket> {
    const locked = await this.lock(escalation);
    const { status, result, teamId } = locked.packet;
    requireRole(caller, teamId, 'operator');
    if (status !== 'sending' && !(status === 'failed' && isUnconfirmed(result?.error?.code))) {
      throw new InvalidTransition({
        message: 'It is known by now how this work packet ended.',
        details: { status },
      });
    }
    return locked;
  }

  private async arrived(escalation: EscalationEntity, { caller, at }: Decider): Promise<string> {
    const { packet, directive, guardian } = await this.toDecide(escalation, caller);
    const by = actorOf(caller);
    const summary = `${caller.name} says that "${packet.title}" arrived.`;
    const receiptId = this.note(packet, 'packet.confirmed', caller, summary, guardian);
    this.work.cancel('packet.send', [packet.workPacketId]);
    this.packets.transition(packet, 'confirm', {
      result: { confirmedBy: by },
      receiptId,
      executedAt: at,
      sendingSince: null,
    });
    await this.completeDirective.confirmed(directive, by, summary);
    return summary;
  }

  private async failed(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const { packet, guardian } = await this.toDecide(escalation, caller);
    const message = `${caller.name} says that it did not arrive.`;
    const summary = `${caller.name} says that "${packet.title}" did not arrive; it is not sent again.`;
    const given = hasLeftInPart(packet) ? {} : await this.gate.giveBack([packet.workPacketId]);
    const receiptId = this.note(packet, 'packet.not_arrived', caller, summary, guardian, given);
    this.packets.correct(packet, { result: { error: { code: 'NOT_ARRIVED', message } }, receiptId });
    return summary;
  }

  /** While killed it goes on with the revert, as everything that the kill has halted. */
  private async sendAgain(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const { packet, directive, guardian } = await this.toDecide(escalation, caller);
    const { mode } = guardian;
    const isHalted = directive.status === 'halted' && (mode === 'killed' || mode === 'recovering');
    if (!isHalted && letsNothingLeave(mode)) throw haltedIn(mode);
    const when = isHalted ? 'is sent again after the revert' : 'is sent again';
    const summary = `${caller.name} says that "${packet.title}" did not arrive; it ${when}.`;
    if (!isHalted && directive.status !== 'sending') {
      await this.transitions.assertReopenable(directive, 'failed');
      this.transitions.apply(directive, 'send_again', {
        actor: actorOf(caller),
        action: 'directive.sending_again',
        summary: `${caller.name} has a work packet of "${titleOf(directive.text)}" sent again.`,
        details: { failed: directive.error, workPacketIds: [packet.workPacketId] },
      });
      this.directives.update(directive, { error: null });
    }
    const given = hasLeftInPart(packet) ? {} : await this.gate.giveBack([packet.workPacketId]);
    this.note(packet, 'packet.not_arrived', caller, summary, guardian, given);
    this.packets.transition(packet, isHalted ? 'send_after_revert' : 'send_again', {
      result: hasLeftInPart(packet) ? { recipients: packet.result!.recipients! } : null,
      sendingSince: null,
    });
    if (isHalted) this.work.cancel('packet.send', [packet.workPacketId]);
    else this.work.enqueue('packet.send', { id: packet.workPacketId });
    return summary;
  }

  private note(
    packet: WorkPacketEntity,
    action: string,
    caller: Caller,
    summary: string,
    { epoch }: GuardianEntity,
    also: object = {},
  ): string {
    const { actionType, target, result } = packet;
    return this.receipts.append({
      ...receiptSubject(packet),
      actor: actorOf(caller),
      action,
      summary,
      details: { actionType, target, failed: result?.error ?? null, ...also },
      guardianEpoch: epoch,
    });
  }
}
