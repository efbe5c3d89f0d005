import { Injectable } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition } from '../../platform/kernel/errors.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type Paid, capoActor, isPaid } from '../capos/index.js';
import { Events } from '../events/index.js';
import type { DirectiveStatus } from '../terms/index.js';
import { Teams } from '../workspaces/index.js';
import { DIRECTIVE_STATES, type DirectiveTrigger } from './directive-states.js';
import type { DirectiveEntity } from './directive.entity.js';
import { type Change, Directives } from './directives.repository.js';

/** The part of a directive that its receipts name. */
export type Named = Pick<DirectiveEntity, 'workspaceId' | 'directiveId' | 'teamId' | 'capo' | 'status'>;

/** What a model was paid for. */
export type PaidFor = 'draft' | 'routing';

const UNUSED: Readonly<Record<PaidFor, { action: string; summary: string }>> = {
  draft: { action: 'directive.draft_failed', summary: 'A draft was paid for and cannot be used' },
  routing: { action: 'directive.routing_unused', summary: 'Routing was paid for and cannot be used' },
};

/** The receipt of a transition, or of something else that happened to a directive. */
export interface DirectiveReceipt extends Partial<
  Pick<ReceiptContent, 'details' | 'outcome' | 'guardianEpoch'>
> {
  actor: Actor;
  action: string;
  summary: string;
}

/**
 * The one way in which the status of a directive changes: by the table of states, together with the receipt of the change,
 * and with the event for the outside when it is done. The kill switch and its revert change many at once, by the same
 * table ({@link Directives.halt}, {@link Directives.resume}).
 */
@Injectable()
export class DirectiveTransitions {
  constructor(
    private readonly directives: Directives,
    private readonly receipts: Receipts,
    private readonly events: Events,
    private readonly clock: Clock,
    private readonly teams: Teams,
  ) {}

  /** A receipt about a directive whose status stays; answers its id. */
  note(directive: Named, { actor, action, summary, ...also }: DirectiveReceipt): string {
    return this.receipts.append({
      actor,
      action,
      entity: { type: 'directive', id: directive.directiveId },
      directiveId: directive.directiveId,
      teamId: directive.teamId,
      capo: directive.capo,
      summary,
      ...also,
    });
  }

  /** What was paid for an answer of which nothing can be used; nothing is noted where nothing was paid. */
  noteUnused(directive: Named, paidFor: PaidFor, error: { code: string; message: string }, paid: Paid): void {
    if (!isPaid(paid)) return;
    const { action, summary } = UNUSED[paidFor];
    this.note(directive, {
      actor: directive.capo ? capoActor(directive.capo) : SYSTEM,
      action,
      outcome: 'failure',
      summary: `${summary}: ${error.message}`,
      details: { code: error.code, engine: paid.engine, cost: paid.cost },
    });
  }

  /**
   * Applies a transition to a directive that the transaction has locked, itself or through its approval.
   * @throws InvalidTransition when the table has no such transition from its status
   */
  apply(
    directive: Named,
    trigger: DirectiveTrigger,
    receipt: DirectiveReceipt,
    change: Change = {},
  ): DirectiveStatus {
    const to = DIRECTIVE_STATES.next(directive.status, trigger);
    const receiptId = this.note(directive, receipt);
    const at = this.clock.now();
    if (to === 'executed' || to === 'failed') {
      const { directiveId } = directive;
      this.events.record('directive.executed', {
        directiveId,
        status: to,
        summary: receipt.summary,
        receiptId,
      });
    }
    this.directives.transition(directive, { from: directive.status, to, at, receiptId }, change);
    return to;
  }

  /**
   * That what has ended may be taken up again: it may be too late for it, or nobody may be left to see it.
   * @throws InvalidTransition unless it ended so, after its deadline, or in an archived team
   */
  async assertReopenable(
    { workspaceId, teamId, status, deadline }: DirectiveEntity,
    ended: DirectiveStatus,
  ): Promise<void> {
    const refused = (message: string) => new InvalidTransition({ message, details: { status } });
    if (status !== ended) throw refused(`Its directive has not ${ended}; it is ${status}.`);
    if (teamId !== null && (await this.teams.isArchived(workspaceId, teamId))) {
      throw refused(
        'The team of this directive has been archived. Hand in a new directive for what is still wanted.',
      );
    }
    if (deadline !== null && deadline <= this.clock.now()) {
      throw refused('The deadline of this directive has passed. Hand in a new one if it is still wanted.');
    }
  }
}
