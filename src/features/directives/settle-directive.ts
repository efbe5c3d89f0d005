import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { CAPOS } from '../capos/capo.js';
import { capoActor } from '../capos/capo-actor.js';
import { PacketOutcomes, type SettledPacket } from './packets/packet-outcomes.js';
import { type PacketTally, WorkPackets } from './packets/work-packets.repository.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveJournal, type Named } from './directive-journal.js';
import { Directives } from './directives.repository.js';

/** Ends a directive when the last of its moves has ended. */
@Injectable()
export class SettleDirective implements OnModuleInit {
  constructor(
    private readonly outcomes: PacketOutcomes,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly journal: DirectiveJournal,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.outcomes.listen((packet) => this.packetSettled(packet));
  }

  /**
   * The directive is locked before its packets are counted: of two packets that end at the same moment the second
   * waits, and then sees that both have ended.
   */
  private async packetSettled({ workspaceId, directiveId }: SettledPacket): Promise<void> {
    const directive = await this.directives.lock(workspaceId, directiveId);
    // Halted: the revert counts again. Anything else has ended already.
    if (directive?.status !== 'sending') return;
    const tally = await this.packets.tally(workspaceId, directiveId);
    if (tally.open === 0) this.conclude(directive, titleOf(directive.text), tally);
  }

  /** Moves a directive whose packets have all ended to its own end. */
  conclude(directive: Named & Pick<DirectiveEntity, 'capo'>, title: string, { failed }: PacketTally): void {
    const capo = directive.capo!;
    const now = this.clock.now();
    const error = { code: 'PACKET_FAILED', message: `${failed} of its moves could not be carried out.` };
    this.journal.move(
      directive,
      failed > 0 ? 'failed' : 'executed',
      { stage: 'done', dueAt: null, ...(failed > 0 ? { error } : { executedAt: now }) },
      {
        actor: capoActor(capo),
        action: failed > 0 ? 'directive.failed' : 'directive.executed',
        outcome: failed > 0 ? 'failure' : 'success',
        summary:
          failed > 0 ? `"${title}" failed: ${error.message}` : `${CAPOS[capo].name} carried out "${title}".`,
        ...(failed > 0 && { details: error }),
      },
    );
  }
}
