import { Injectable } from '@nestjs/common';
import { capoActor } from '../capos/index.js';
import { PolicyDenied } from '../guardian/index.js';
import { PacketEscalations } from './packets/packet-escalations.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { ChargeUnused } from './charge-unused.js';
import type { CheckedDraft, DecidedDraft } from './decided-draft.js';
import { titleOf } from './directive.js';
import { EndDirective } from './end-directive.js';
import { nothingPrepared } from './nothing-prepared.js';

/** Ends a directive whose draft was made and leads to nothing, in the open transaction. */
@Injectable()
export class DiscardDraft {
  constructor(
    private readonly packets: WorkPackets,
    private readonly chargeUnused: ChargeUnused,
    private readonly endDirective: EndDirective,
    private readonly escalations: PacketEscalations,
  ) {}

  /** The capo proposed what the registry does not know. */
  invalid({ directive, approval, draft }: Omit<CheckedDraft, 'packets'>, message: string): void {
    const error = { code: 'INVALID_OUTPUT', message };
    this.chargeUnused.forFailure(directive, 'draft', draft, error);
    this.endDirective.giveUp(directive, approval, error);
  }

  /** A standing order forbids a part of it. */
  async denied({ directive, approval, packets, policy }: DecidedDraft): Promise<void> {
    for (const [index, packet] of packets.entries()) {
      const { decision } = policy[index]!;
      this.packets.add(packet, decision.outcome === 'deny' ? 'deny' : 'cancel', { decision });
    }
    const decisions = policy.map(({ decision }) => decision);
    const message = decisions
      .flatMap(({ outcome, explanation }) => (outcome === 'deny' ? explanation : []))
      .join(' ');
    const error = { code: PolicyDenied.code, message: message || PolicyDenied.message };
    this.endDirective.fail(directive, approval, error, capoActor(directive.capo!));
    await this.escalations.overBudget(directive, titleOf(directive.text), decisions);
  }

  /** There is nothing in it that could be carried out. */
  unprepared({ directive, approval, draft }: DecidedDraft): void {
    this.endDirective.giveUp(directive, approval, nothingPrepared(draft));
  }
}
