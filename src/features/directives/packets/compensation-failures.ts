import { Injectable } from '@nestjs/common';
import { capoActor } from '../../capos/capo-actor.js';
import type { OpenStep } from '../../guardian/reverts.repository.js';
import { Signals } from '../../signals/signals.repository.js';
import { type EffectFailed, isUnconfirmed } from './packet-effect.js';
import type { WorkPacketEntity } from './work-packet.entity.js';

/** A work packet that could not be undone, as an escalation tells a person. */
interface CompensationFailure {
  kind: 'compensation_failed';
  entity: { type: 'work_packet'; id: string };
  teamId: string | null;
  directiveId: string;
  reason: string;
  /** Nobody here can tell whether it was undone all the same. */
  isUnconfirmed: boolean;
}

type Open = (failure: CompensationFailure) => void | Promise<void>;

/** Brings what could not be undone to a person: by an escalation where they are there, and by a signal in any case. */
@Injectable()
export class CompensationFailures {
  #open: Open | undefined;

  constructor(private readonly signals: Signals) {}

  /** Declares how an escalation is opened. */
  register(open: Open): void {
    this.#open = open;
  }

  /** In the open transaction. */
  async report(
    packet: WorkPacketEntity,
    { revertId }: OpenStep,
    { code, message }: Pick<EffectFailed, 'code' | 'message'>,
  ): Promise<void> {
    const { workPacketId, directiveId, teamId, capo, title } = packet;
    const entity = { type: 'work_packet', id: workPacketId } as const;
    const reason = `"${title}" could not be undone by the revert ${revertId}: ${message}`;
    const kind = 'compensation_failed';
    await this.#open?.({ kind, entity, teamId, directiveId, reason, isUnconfirmed: isUnconfirmed(code) });
    this.signals.raise({
      type: 'agent',
      severity: 'critical',
      title: `Not undone: ${title}`,
      body: reason,
      score: null,
      source: capoActor(capo),
      teamId,
      capo,
      entity,
    });
  }
}
