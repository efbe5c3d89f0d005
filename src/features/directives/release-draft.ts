import { Injectable } from '@nestjs/common';
import { Work } from '../../platform/work/work.js';
import { capoActor } from '../capos/index.js';
import { PolicyGate } from '../guardian/index.js';
import { delayOf, delayOfWork } from './packets/throttled-packet.js';
import { contentHash } from './packets/work-packet.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import type { DecidedDraft } from './decided-draft.js';
import { titleOf } from './directive.js';
import { DirectiveTransitions } from './directive-transitions.js';

/** Queues the work packets of a draft that the standing orders allow, in the open transaction. */
@Injectable()
export class ReleaseDraft {
  constructor(
    private readonly work: Work,
    private readonly gate: PolicyGate,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
  ) {}

  /** One that an order delays is decided again at the time that its decision says. */
  execute({ directive, packets, policy, guardian }: DecidedDraft): void {
    const atOnce: { id: string }[] = [];
    for (const [index, packet] of packets.entries()) {
      const decided = policy[index]!;
      const { decision } = decided;
      const allowed = { decision, allowedHash: contentHash(packet), allowedBy: 'policy' as const };
      this.packets.add(packet, 'allow', { ...allowed, ...delayOf(decision) });
      if (decision.outcome === 'allow') {
        this.gate.use(decided);
        atOnce.push({ id: packet.workPacketId });
      } else {
        const delay = delayOfWork(decision, directive.deadline, decided.input.at);
        this.work.enqueueDelayed('packet.send', packet.workPacketId, delay);
      }
    }
    this.work.enqueue('packet.send', ...atOnce);
    this.transitions.apply(directive, 'allow', {
      actor: capoActor(directive.capo!),
      action: 'directive.sending',
      summary: `"${titleOf(directive.text)}" was released: the standing orders allow it.`,
      details: { packets: packets.length, delayed: packets.length - atOnce.length },
      guardianEpoch: guardian.epoch,
    });
  }
}
