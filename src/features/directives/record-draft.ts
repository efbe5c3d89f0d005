import { Injectable } from '@nestjs/common';
import { CAPOS, capoActor } from '../capos/index.js';
import { actionOf } from './packets/work-packet.js';
import type { DecidedDraft } from './decided-draft.js';
import { addCost, outputOf, titleOf } from './directive.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { Directives } from './directives.repository.js';
import { decisionsInReceipt } from '../guardian/index.js';

/** Records a draft with its directive, and in a receipt, with the decisions about it and what it cost. */
@Injectable()
export class RecordDraft {
  constructor(
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
  ) {}

  /** The directive has the draft from now on. */
  execute({ directive, draft, packets, policy }: DecidedDraft): void {
    const output = outputOf(draft, packets.map(actionOf));
    directive.output = output;
    directive.engine = draft.engine;
    this.directives.attachDraft(directive, {
      output,
      engine: draft.engine,
      cost: addCost(directive.cost, draft.cost),
      workPacketIds: [...directive.workPacketIds, ...packets.map((packet) => packet.workPacketId)],
    });
    this.transitions.note(directive, {
      actor: capoActor(directive.capo!),
      action: 'directive.drafted',
      summary: `${CAPOS[directive.capo!].name} drafted "${titleOf(directive.text)}".`,
      details: {
        engine: draft.engine,
        cost: draft.cost,
        contentHash: output.contentHash,
        packets: packets.length,
        decisions: decisionsInReceipt(policy),
      },
    });
  }
}
