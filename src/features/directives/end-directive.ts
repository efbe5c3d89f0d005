import { Injectable } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import { capoActor } from '../capos/index.js';
import { PolicyDenied, PolicyGate } from '../guardian/index.js';
import { Signals } from '../records/index.js';
import { TELL_MEMBERS } from '../terms/index.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { NOTHING_PREPARED } from './nothing-prepared.js';
import { WorkPackets } from './packets/work-packets.repository.js';

/** How a directive ends before anything of it was sent. */
export interface Ending {
  trigger: 'fail' | 'cancel' | 'expire';
  actor: Actor;
  /** What the receipt says after the directive's name. */
  because: string;
  error?: WorkError;
  /** What the receipt tells besides. */
  details?: object;
}

const ENDED = { fail: 'failed', cancel: 'cancelled', expire: 'expired' } as const;

/** Ends a locked directive with all that waits for it: its approval, its unsent packets, the work on it. */
@Injectable()
export class EndDirective {
  constructor(
    private readonly clock: Clock,
    private readonly transitions: DirectiveTransitions,
    private readonly approvals: Approvals,
    private readonly packets: WorkPackets,
    private readonly signals: Signals,
    private readonly work: Work,
    private readonly channel: Channel,
    private readonly gate: PolicyGate,
  ) {}

  end(directive: DirectiveEntity, approval: ApprovalEntity | undefined, ending: Ending): void {
    const { trigger, actor, because, error, details } = ending;
    const { workspaceId, directiveId } = directive;
    const ended = ENDED[trigger];
    this.work.cancelReturned('packet.send', this.packets.cancelUnsentStatement(workspaceId, directiveId));
    if (approval) this.endApproval(directive, approval, ending);
    this.transitions.apply(
      directive,
      trigger,
      {
        actor,
        action: `directive.${ended}`,
        outcome: trigger === 'fail' ? 'failure' : 'success',
        summary: `"${titleOf(directive.text)}" ended as ${ended}: ${because}.`,
        ...((error ?? details) && { details: { ...error, ...details } }),
      },
      error && { error: { ...error, nextStep: nextStepOf(error) } },
    );
  }

  /** Ends a directive on which nobody works just now, and cancels the work that waits on it. A kill may have halted what was released. */
  async endFromOutside(
    directive: DirectiveEntity,
    approval: ApprovalEntity | undefined,
    ending: Omit<Ending, 'details'>,
  ): Promise<void> {
    const { workspaceId, directiveId } = directive;
    this.work.cancel('directive.route', [directiveId]);
    this.work.cancel('directive.draft', [directiveId]);
    const details = await this.gate.giveBack(await this.packets.releasedUnsent(workspaceId, directiveId));
    this.end(directive, approval, { ...ending, details });
  }

  /** Nobody decided on this end, so its author is notified. */
  fail(
    directive: DirectiveEntity,
    approval: ApprovalEntity | undefined,
    error: WorkError,
    actor: Actor = SYSTEM,
  ): void {
    const because = error.message.replace(/\.$/, '');
    this.end(directive, approval, { trigger: 'fail', actor, because, error });
    this.work.enqueue(TELL_MEMBERS, { id: directive.directiveId });
  }

  /** {@link fail}, with a signal: it may concern others than its author. */
  giveUp(directive: DirectiveEntity, approval: ApprovalEntity | undefined, error: WorkError): void {
    const { capo, teamId, directiveId, text } = directive;
    this.fail(directive, approval, error, capo ? capoActor(capo) : SYSTEM);
    const isUnprepared = error.code === NOTHING_PREPARED;
    this.signals.raise({
      type: 'agent',
      severity: 'warning',
      title: `${isUnprepared ? 'Nothing prepared' : 'No draft'}: ${titleOf(text)}`,
      body: `${error.message} ${isUnprepared ? nextStepOf(error) : `If it is still wanted, have it drafted again with POST /directives/${directiveId}/retry.`}`,
      source: capo ? capoActor(capo) : SYSTEM,
      teamId,
      capo,
      entity: { type: 'directive', id: directiveId },
    });
  }

  /** Ends the approval alone. */
  endApproval(directive: DirectiveEntity, approval: ApprovalEntity, ending: Ending): void {
    const status = ending.trigger === 'expire' ? 'expired' : 'cancelled';
    const receiptId = this.transitions.note(directive, {
      actor: ending.actor,
      action: `approval.${status}`,
      summary: `The approval of "${approval.title}" is void: ${ending.because}.`,
      details: { approvalId: approval.approvalId },
    });
    const at = this.clock.now();
    this.approvals.end(approval, { status, by: ending.actor, at, feedback: reasonOf(ending), receiptId });
    this.channel.publish('approval', approval.approvalId);
  }
}

/** Why the approval is void, for the person who waited for it. */
function reasonOf({ because, error }: Ending): string {
  return error ? `${error.message} ${nextStepOf(error)}` : `${because}.`;
}

/** What a person can do about a directive that failed before anything of it was sent. */
function nextStepOf({ code }: WorkError): string {
  switch (code) {
    case NOTHING_PREPARED:
      return 'If it is still wanted, hand it in again in other words.';
    case PolicyDenied.code:
      return 'If it is still wanted, ask an admin to change the standing order, then have it drafted again.';
    default:
      return 'If it is still wanted, have it drafted again.';
  }
}
