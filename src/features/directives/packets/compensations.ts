import { Injectable } from '@nestjs/common';
import { type ActionResult, type Compensation, HTTP_UNDO } from '../../capos/index.js';
import { Documents, RevenueEvents, Signals } from '../../records/index.js';
import { WithdrawProposal } from '../../standing-orders/index.js';
import { CallEffect } from './call-effect.js';
import { EffectFailed } from './packet-effect.js';
import type { PacketToUndo, Undo, Undone } from './undo.js';
import { WithdrawDelegation } from './withdraw-delegation.js';

type UndoOf = (workspaceId: string, params: Compensation['params']) => Undo | Promise<Undo>;

/**
 * How each compensation of the registry is carried out. None of them is an action type, so no draft can propose one: what is
 * undone is what a packet has done, as its own result names it.
 */
@Injectable()
export class Compensations {
  readonly #undos = new Map<string, UndoOf>();

  constructor(
    documents: Documents,
    signals: Signals,
    revenue: RevenueEvents,
    delegation: WithdrawDelegation,
    proposal: WithdrawProposal,
    calls: CallEffect,
  ) {
    this.declare(HTTP_UNDO, (workspaceId, params) => calls.undo(workspaceId, params));
    this.inside('document.withdraw', 'documentId', async (documentId, { by }) =>
      (await documents.withdraw(documentId, by)) ? done({ documentId }) : gone('document'),
    );
    this.inside('signal.withdraw', 'signalId', async (signalId, { by }) =>
      (await signals.withdraw(signalId, by)) ? done({ signalId }) : gone('signal'),
    );
    this.inside('revenue.reverse', 'eventId', async (eventId, { by }) => {
      const reversal = await revenue.reverse(eventId, by);
      return reversal ? done({ eventId: reversal.eventId, reverses: eventId }) : gone('revenue event');
    });
    this.inside('directive.cancel', 'directiveId', (directiveId, packet) =>
      delegation.execute(directiveId, packet),
    );
    this.inside(
      'standing_order.archive',
      'standingOrderId',
      async (standingOrderId, { by }) => {
        const refusal = await proposal.execute(standingOrderId, by);
        return refusal === null ? done({ standingOrderId }) : { outcome: 'not_possible', reason: refusal };
      },
      (workspaceId, standingOrderId) => proposal.refusal({ workspaceId, teamIds: 'all' }, standingOrderId),
    );
  }

  /** Declares how compensations of one type are carried out; called while the program starts. */
  declare(type: string, undoOf: UndoOf): void {
    this.#undos.set(type, undoOf);
  }

  /** @throws EffectFailed when nothing here carries it out */
  async of(workspaceId: string, { type, params }: Compensation): Promise<Undo> {
    const undoOf = this.#undos.get(type);
    if (undoOf) return undoOf(workspaceId, params);
    throw new EffectFailed('NOT_AVAILABLE', `Nothing here carries out ${type}.`, false);
  }

  /** An undo within the database, of what the parameter `name` is the id of. */
  private inside(
    type: string,
    name: string,
    run: (id: string, packet: PacketToUndo) => Promise<Undone>,
    refusal?: (workspaceId: string, id: string) => Promise<string | null>,
  ): void {
    this.declare(type, (workspaceId, { [name]: id }) => {
      if (typeof id !== 'string') {
        throw new EffectFailed(
          'COMPENSATION_INCOMPLETE',
          `It is not known which ${name} it is about.`,
          false,
        );
      }
      return {
        kind: 'inside',
        run: (packet) => run(id, packet),
        ...(refusal && { refusal: () => refusal(workspaceId, id) }),
      };
    });
  }
}

function done(result: ActionResult): Undone {
  return { outcome: 'done', result };
}

function gone(what: string): Undone {
  return { outcome: 'skipped', reason: `The ${what} was withdrawn already, or is gone.` };
}
