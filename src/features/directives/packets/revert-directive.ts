import { Injectable } from '@nestjs/common';
import { Work } from '../../../platform/work/work.js';
import { Escalations, PACKET_FAILED } from '../../escalations/index.js';
import { type OpenStep, PolicyGate } from '../../guardian/index.js';
import { titleOf } from '../directive.js';
import { DIRECTIVE_STATES } from '../directive-states.js';
import { DirectiveTransitions } from '../directive-transitions.js';
import { Directives } from '../directives.repository.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';

/**
 * What the undo of a packet means for its directive, which the transaction has locked: what the kill has halted of it is not
 * sent any more, and once all that was carried out is undone the directive is `reverted`.
 */
@Injectable()
export class RevertDirective {
  constructor(
    private readonly work: Work,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly escalations: Escalations,
    private readonly gate: PolicyGate,
  ) {}

  async execute(
    { workspaceId, directiveId }: WorkPacketEntity,
    { revertId, revertedBy }: OpenStep,
  ): Promise<void> {
    const directive = (await this.directives.lock(workspaceId, directiveId))!;
    if (directive.status === 'halted') {
      const given = await this.gate.giveBack(await this.packets.releasedUnsent(workspaceId, directiveId));
      if (given.givenBack) {
        this.transitions.note(directive, {
          actor: revertedBy,
          action: 'directive.rest_dropped',
          summary: `The unsent rest of "${titleOf(directive.text)}" is not sent: the part that was sent is undone.`,
          details: { revertId, ...given },
        });
      }
      this.work.cancelReturned('packet.send', this.packets.cancelUnsentStatement(workspaceId, directiveId));
    }
    const { executed, underWay } = await this.packets.carriedOut(workspaceId, directiveId);
    // One that waits for a person is reverted when that is decided (CompleteDirective).
    if (executed + underWay > 0 || !DIRECTIVE_STATES.sources('revert').includes(directive.status)) return;
    const because = `everything that was carried out of "${titleOf(directive.text)}" has been undone.`;
    await this.escalations.resolveAbout(PACKET_FAILED, { type: 'directive', id: directiveId }, because);
    this.transitions.apply(directive, 'revert', {
      actor: revertedBy,
      action: 'directive.reverted',
      summary: `Everything that was carried out of "${titleOf(directive.text)}" has been undone.`,
      details: { revertId },
    });
  }
}
