import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { WorkError, WorkItem } from '../../../platform/work/work-item.js';
import { Work } from '../../../platform/work/work.js';
import { Approvals } from '../../approvals/index.js';
import { type ActionResult, type Compensation, HTTP_UNDO } from '../../capos/index.js';
import { COMPENSATE, KILLED_TOPIC, type OpenStep } from '../../guardian/index.js';
import { Documents, RevenueEvents, Signals } from '../../records/index.js';
import { WithdrawProposal } from '../../standing-orders/index.js';
import { DIRECTIVE_STATES } from '../directive-states.js';
import { Directives } from '../directives.repository.js';
import { EndDirective } from '../end-directive.js';
import { CompensationResults, mayUndo } from './compensation-results.js';
import { DueUndos } from './due-packets.repository.js';
import { type Outgoing, OutsideAttempts } from './outside-attempts.js';
import { CallEffect } from './outside-effects.js';
import { EffectFailed, type Failure, type Outcome } from './packet-effect.js';
import type { WorkPacketEntity } from './work-packet.entity.js';
import { WorkPackets } from './work-packets.repository.js';
import type { PacketToUndo, Undo, Undone } from './undo.js';

/**
 * Takes back that a directive was handed to another capo: it is cancelled, if nothing of it was carried out. What was carried out
 * of it came later than the delegation, so by its turn a revert has undone that; what could not be undone stays, and so does
 * the directive.
 */
@Injectable()
export class WithdrawDelegation {
  constructor(
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
  ) {}

  /** In the open transaction, which has locked the guardian. */
  async execute(directiveId: string, { workspaceId, by }: PacketToUndo): Promise<Undone> {
    const approval = await this.approvals.lockPending(workspaceId, directiveId);
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) return { outcome: 'skipped', reason: 'The directive is gone.' };
    const { executed, underWay } = await this.packets.carriedOut(workspaceId, directiveId);
    if (executed + underWay > 0) {
      const reason = `The directive has been carried out, and ${executed + underWay} of its work packets could not be undone.`;
      return { outcome: 'not_possible', reason };
    }
    if (DIRECTIVE_STATES.sources('cancel').includes(directive.status)) {
      await this.endDirective.endFromOutside(directive, approval, {
        trigger: 'cancel',
        actor: by,
        because: `${by.name} had the work packet undone that handed it on`,
      });
    }
    return { outcome: 'done', result: { directiveId, was: directive.status } };
  }
}

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

/** How soon to look again whether a packet that was handed out before the kill has taken effect. */
const LOOK_AGAIN_MS = 500;

/**
 * Undoes one work packet, as one step of a revert. The guardian's row is locked while it does, so none begins after a second
 * kill has committed. What is undone inside the database is undone in the transaction that records it, so exactly once; what
 * leaves the program is marked before and recorded after, and what is not known to have happened is not repeated unless
 * repeating it changes nothing.
 */
@Injectable()
export class CompensatePacket implements OnModuleInit {
  constructor(
    private readonly work: Work,
    private readonly undos: DueUndos,
    private readonly attempts: OutsideAttempts,
    private readonly compensations: Compensations,
    private readonly results: CompensationResults,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: COMPENSATE,
      pool: 16,
      perQueue: 1,
      perQueueEverywhere: 1,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) =>
        this.attempts.make(item, signal, {
          begin: () => this.begin(item),
          refuse: (failure) => this.fail(item, failure, false),
        }),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  /** Undoes what is undone inside the database; answers what has to leave it. */
  private async begin(item: WorkItem): Promise<Outgoing | undefined> {
    const due = await this.undos.lock(item);
    if (!due) return undefined;
    const { guardian, packet, step } = due;
    const undo = await this.compensations.of(item.workspaceId, step.compensation!);
    const mayHaveHappened = step.begunAt !== null;
    if (mayHaveHappened && (step.revertStatus !== 'running' || !isRepeatable(undo))) throw unconfirmed();
    if (!mayUndo(guardian, step)) {
      // A second kill: the step waits until somebody takes the revert up again.
      this.work.park(item);
      return undefined;
    }
    if (packet.status === 'sending') {
      // It was handed out before the kill, and says soon how that ended.
      this.work.reschedule(item, LOOK_AGAIN_MS);
      return undefined;
    }
    if (packet.status !== 'executed') {
      const reason = `The work packet is ${packet.status}, so there is nothing to undo.`;
      await this.results.skip(item, step, packet, reason);
      return undefined;
    }
    const attempts = step.attempts + 1;
    if (undo.kind === 'inside') {
      const undone = await undo.run(toUndo(packet, step));
      const tried = { ...step, attempts };
      if (undone.outcome === 'done') await this.results.succeed(item, tried, packet, undone.result, guardian);
      else await this.results.decline(item, tried, packet, undone);
      return undefined;
    }
    this.work.check(item);
    const begun = this.undos.markBegun(step, attempts);
    return {
      attempt: attempts,
      revertId: step.revertId,
      run: (signal) => undo.run(toUndo(packet, begun), signal),
      ended: (outcome, calledOff) =>
        'result' in outcome
          ? this.succeed(item, outcome.result)
          : this.fail(item, outcome.failure, calledOff),
      endedLate: (outcome) => this.endedLate(item, begun, outcome),
    };
  }

  /** It has lost its work, and what it shows stands: by now the step may have ended as one that nobody can tell of. */
  private async endedLate(item: WorkItem, begun: OpenStep, outcome: Outcome): Promise<void> {
    const { guardian, packet, step } = await this.undos.lockLate(item, begun);
    if (packet.status !== 'executed' || step.attempts !== begun.attempts) return;
    if ('result' in outcome) await this.results.succeedLate(step, packet, outcome.result, guardian);
    else if (step.status === 'planned' && outcome.failure.retryable)
      this.results.notBegun(step, outcome.failure);
  }

  private async succeed(item: WorkItem, result: ActionResult): Promise<void> {
    const due = await this.undos.lock(item);
    if (due) await this.results.succeed(item, due.step, due.packet, result, due.guardian);
  }

  private async fail(item: WorkItem, failure: Failure, calledOff: boolean): Promise<void> {
    const due = await this.undos.lock(item);
    if (due) await this.results.fail(item, due, failure, calledOff);
  }

  private async giveUp(item: WorkItem, { code, message }: WorkError): Promise<void> {
    const due = await this.undos.lock(item);
    if (due) await this.results.giveUp(due, new EffectFailed(code, message, false));
  }
}

function done(result: ActionResult): Undone {
  return { outcome: 'done', result };
}

function gone(what: string): Undone {
  return { outcome: 'skipped', reason: `The ${what} was withdrawn already, or is gone.` };
}

function isRepeatable(undo: Undo): boolean {
  return undo.kind === 'inside' || undo.repeatable;
}

function unconfirmed(): EffectFailed {
  return new EffectFailed(
    'UNCONFIRMED',
    'The process ended while this was being undone; it is not known whether it was, so it is not tried again.',
    false,
  );
}

export function toUndo(packet: WorkPacketEntity, { compensation, revertedBy }: OpenStep): PacketToUndo {
  const { workPacketId, workspaceId, teamId, directiveId, capo } = packet;
  return {
    workPacketId,
    workspaceId,
    teamId,
    directiveId,
    capo,
    params: compensation!.params,
    by: revertedBy,
  };
}
