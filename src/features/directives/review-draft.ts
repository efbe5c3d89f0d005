import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { RequestApproval } from '../approvals/index.js';
import { capoActor } from '../capos/index.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { type DecidedDraft, isAwaited } from './decided-draft.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { authorOf, readyContent } from './ready-content.js';

/** Puts a draft before a person, in the open transaction. */
@Injectable()
export class ReviewDraft {
  constructor(
    private readonly clock: Clock,
    private readonly packets: WorkPackets,
    private readonly requestApproval: RequestApproval,
    private readonly transitions: DirectiveTransitions,
  ) {}

  execute(decided: DecidedDraft): void {
    const { directive, draft, packets, policy, guardian, approval, tell } = decided;
    const approvalId = isAwaited(decided) ? directive.approvalId! : this.ask(directive);
    const { workspaceId, directiveId, deadline, engine } = directive;
    const title = titleOf(directive.text);
    const decisions = policy.map(({ decision }) => decision);
    for (const [index, packet] of packets.entries()) {
      this.packets.add(packet, 'ask', { decision: decisions[index]! });
    }
    this.requestApproval.makeReady(
      { workspaceId, approvalId, directiveId, title, deadline },
      readyContent(directive, packets, decisions, { now: this.clock.now(), concerns: draft.concerns }),
      {
        author: authorOf(engine),
        by: capoActor(directive.capo!),
        ...(tell && approval && { telling: { approval, tell } }),
      },
    );
    const receipt = {
      actor: capoActor(directive.capo!),
      action: 'approval.ready',
      summary: `The draft of "${title}" is ready for review.`,
      details: { approvalId },
      guardianEpoch: guardian.epoch,
    };
    if (directive.status === 'executing') this.transitions.apply(directive, 'ask', receipt, { approvalId });
    else this.transitions.note(directive, receipt);
  }

  /** A person is asked though the directive did not want it: no standing order covers what the capo wants to do. */
  private ask(directive: DirectiveEntity): string {
    const { workspaceId, teamId, directiveId, capo, priority, deadline, requesterIds } = directive;
    const approvalId = newId('apr');
    const title = titleOf(directive.text);
    const requestedBy = directive.requestedBy ?? directive.createdBy;
    const asked = { approvalId, workspaceId, teamId, directiveId, capo, title, priority, round: 0, deadline };
    this.requestApproval.open({ ...asked, requestedBy, requesterIds });
    return approvalId;
  }
}
