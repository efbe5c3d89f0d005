import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { ReceiptContent } from '../../platform/receipts/receipt.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Events } from '../events/events.js';
import type { CapoRole, DirectiveStatus } from '../terms/terms.js';
import { type Change, Directives } from './directives.repository.js';

/** The part of a directive that its receipts name. */
export interface Named {
  workspaceId: string;
  directiveId: string;
  teamId: string | null;
  capo: CapoRole | null;
  status: DirectiveStatus;
}

/** Changes the status of a directive together with the receipt of the change, and tells the outside when it is done. */
@Injectable()
export class DirectiveJournal {
  constructor(
    private readonly directives: Directives,
    private readonly receipts: Receipts,
    private readonly events: Events,
    private readonly clock: Clock,
  ) {}

  /** A receipt about a directive; answers its id. */
  note(
    directive: Named,
    actor: Actor,
    action: string,
    summary: string,
    also: Partial<Pick<ReceiptContent, 'details' | 'outcome' | 'guardianEpoch'>> = {},
  ): string {
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

  /** Moves a locked directive to `to`, under a receipt of this name. */
  move(
    directive: Named,
    to: DirectiveStatus,
    change: Change,
    receipt: {
      actor: Actor;
      action: string;
      summary: string;
      details?: Record<string, unknown>;
      outcome?: ReceiptContent['outcome'];
      guardianEpoch?: number;
    },
  ): void {
    const { actor, action, summary, ...also } = receipt;
    const receiptId = this.note(directive, actor, action, summary, also);
    if (to === 'executed' || to === 'failed') {
      const { directiveId } = directive;
      this.events.record('directive.executed', { directiveId, status: to, summary, receiptId });
    }
    this.directives.move(directive, { from: directive.status, to, at: this.clock.now(), receiptId }, change);
  }
}
