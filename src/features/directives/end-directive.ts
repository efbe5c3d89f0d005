import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Approvals } from '../approvals/approvals.repository.js';
import type { ApprovalEntity } from '../approvals/approval.entity.js';
import type { DirectiveStatus } from '../terms/terms.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveJournal } from './directive-journal.js';

/** How a directive ends before anything of it was sent. */
export interface Ending {
  to: Extract<DirectiveStatus, 'failed' | 'cancelled' | 'expired'>;
  actor: Actor;
  /** What the receipt says after the directive's name. */
  because: string;
  error?: { code: string; message: string };
}

/** Ends a locked directive with all that waits for it: its approval, its unsent packets. */
@Injectable()
export class EndDirective {
  constructor(
    private readonly clock: Clock,
    private readonly journal: DirectiveJournal,
    private readonly approvals: Approvals,
    private readonly packets: WorkPackets,
    private readonly channel: Channel,
  ) {}

  end(directive: DirectiveEntity, approval: ApprovalEntity | undefined, ending: Ending): void {
    const { to, actor, because, error } = ending;
    this.packets.endUnsent(directive.workspaceId, directive.directiveId, 'cancelled');
    if (approval) {
      const receiptId = this.journal.note(
        directive,
        actor,
        to === 'expired' ? 'approval.expired' : 'approval.cancelled',
        `The approval of "${approval.title}" is void: ${because}.`,
      );
      const status = to === 'expired' ? 'expired' : 'cancelled';
      this.approvals.end(approval, { status, by: actor, at: this.clock.now(), feedback: null, receiptId });
      this.channel.publish('approval', approval.approvalId);
    }
    this.journal.move(
      directive,
      to,
      { stage: 'done', dueAt: null, ...(error && { error }) },
      {
        actor,
        action: `directive.${to}`,
        outcome: to === 'failed' ? 'failure' : 'success',
        summary: `"${titleOf(directive.text)}" ended as ${to}: ${because}.`,
        ...(error && { details: error }),
      },
    );
  }

  fail(
    directive: DirectiveEntity,
    approval: ApprovalEntity | undefined,
    error: { code: string; message: string },
    actor: Actor,
  ): void {
    this.end(directive, approval, { to: 'failed', actor, because: error.message.replace(/\.$/, ''), error });
  }
}
