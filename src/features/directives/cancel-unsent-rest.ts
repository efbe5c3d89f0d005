import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Work } from '../../platform/work/work.js';
import { PolicyGate } from '../guardian/index.js';
import { CompleteDirective } from './complete-directive.js';
import { DirectiveTransitions, type Named } from './directive-transitions.js';
import { WorkPackets } from './packets/work-packets.repository.js';

/**
 * Ends the part of a directive that waits for a person, when another part has been sent already: it was recalled. The
 * directive then ends as what was sent did.
 */
@Injectable()
export class CancelUnsentRest {
  constructor(
    private readonly work: Work,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly completeDirective: CompleteDirective,
    private readonly gate: PolicyGate,
  ) {}

  async execute(directive: Named, title: string, actor: Actor, because: string): Promise<void> {
    const { workspaceId, directiveId } = directive;
    const details = await this.gate.giveBack(await this.packets.releasedUnsent(workspaceId, directiveId));
    this.work.cancelReturned('packet.send', this.packets.cancelUnsentStatement(workspaceId, directiveId));
    this.transitions.apply(directive, 'drop_rest', {
      actor,
      action: 'directive.rest_dropped',
      summary: `The unsent rest of "${title}" is not sent: ${because}.`,
      details: { ...details },
    });
    await this.completeDirective.packetEnded(workspaceId, directiveId);
  }
}
