import { Injectable } from '@nestjs/common';
import { capoActor } from '../../capos/index.js';
import { COMPENSATION_FAILED, DISMISS, DONE_BY_HAND, Escalations, RETRY } from '../../escalations/index.js';
import type { OpenStep } from '../../guardian/index.js';
import { Signals } from '../../records/index.js';
import { type EffectFailed, isUnconfirmed } from './packet-effect.js';
import type { WorkPacketEntity } from './work-packet.entity.js';

/** Brings a work packet that could not be undone to a person, by an escalation and a signal. */
@Injectable()
export class ReportCompensationFailure {
  constructor(
    private readonly escalations: Escalations,
    private readonly signals: Signals,
  ) {}

  /** In the open transaction. */
  async execute(
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
