import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, actorOf, type Caller, isAskedBy, mayRead, SYSTEM } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Channel } from '../../platform/database/channel.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import { capoActor, type Draft, quotable } from '../capos/index.js';
import { Guardians, PolicyDenied, PolicyGate } from '../guardian/index.js';
import { Signals } from '../records/index.js';
import { type DirectiveStatus, TELL_MEMBERS } from '../terms/index.js';
import { CompleteDirective } from './complete-directive.js';
import { DIRECTIVE_STATES } from './directive-states.js';
import { DirectiveTransitions, type Named } from './directive-transitions.js';
import type { DirectiveEntity } from './directive.entity.js';
import { titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import { WorkPackets } from './packets/work-packets.repository.js';

const NOTHING_PREPARED = 'NOTHING_PREPARED';

/** Why nothing came of a directive, in the words of the runner; those of a model are quoted, and are not ours. */
export function nothingPrepared({ engine, remarks }: Pick<Draft, 'engine' | 'remarks'>): WorkError {
  // The built-in runner ends so by itself.
  const said = quotable(remarks, undefined).replace(/\s*Nothing was prepared\.$/, '');
  const reason =
    said === ''
      ? 'its capo found nothing in it that it could do.'
      : engine.model === null
        ? said
        : `“${said}”`;
  return { code: NOTHING_PREPARED, message: `Nothing was prepared: ${reason}` };
}

/** How a directive ends before anything of it was sent. */
interface Ending {
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
    private readonly completeDirective: CompleteDirective,
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

  /**
   * Ends the part of a directive that waits for a person, when another part has been sent already: it was recalled. The
   * directive then ends as what was sent did.
   */
  async dropRest(directive: Named, title: string, actor: Actor, because: string): Promise<void> {
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

/** Cancels a directive before anything of it was sent. */
@Injectable()
export class CancelDirective {
  constructor(
    private readonly db: Db,
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
    private readonly work: Work,
  ) {}

  /** @throws NotFound; InvalidTransition once it is being sent or has ended */
  async execute(caller: Caller, directiveId: string): Promise<DirectiveEntity> {
    const { workspaceId } = caller;
    // A revert takes the same rows in another order, so the two take turns.
    await this.guardians.lockShared(workspaceId);
    // Requesters may always withdraw it, even after changing teams.
    await this.db.unit.seeWholeWorkspace();
    const approval = await this.approvals.lockPending(workspaceId, directiveId);
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) throw new NotFound();
    if (!isAskedBy(caller, directive.requestedBy ?? directive.createdBy)) {
      if (!mayRead(caller, directive.teamId)) throw new NotFound();
      requireRole(caller, directive.teamId, 'operator');
    }
    const isUnsent =
      DIRECTIVE_STATES.sources('cancel').includes(directive.status) &&
      !(await this.packets.anyHandedOut(workspaceId, directiveId));
    // What is released goes, unless all of it still waits: standing orders delay it, or it is tried again later.
    const isReleased = directive.status === 'sending' && !(await this.doAllWait(workspaceId, directiveId));
    if (!isUnsent || isReleased) {
      throw new InvalidTransition({ details: { status: directive.status } });
    }
    const actor = actorOf(caller);
    await this.endDirective.endFromOutside(directive, approval, {
      trigger: 'cancel',
      actor,
      because: `${caller.name} withdrew it`,
    });
    return (await this.directives.lock(workspaceId, directiveId))!;
  }

  private async doAllWait(workspaceId: string, directiveId: string): Promise<boolean> {
    const open = await this.packets.open(workspaceId, directiveId);
    const released = open.filter(({ isDelayed }) => !isDelayed).map(({ workPacketId }) => workPacketId);
    if (open.length === 0 || !open.every(({ isQueued }) => isQueued)) return false;
    return (
      released.length === 0 || (await this.work.countPutOff('packet.send', released)) === released.length
    );
  }
}

/** While it is sending, the deadline is checked packet by packet, as each is about to be sent. */
const EXPIRABLE: readonly DirectiveStatus[] = DIRECTIVE_STATES.sources('expire').filter(
  (status) => status !== 'sending',
);

/**
 * Ends a directive whose deadline has passed before anything of it was sent. The work is enqueued when the time has come
 * and not before: an item for each that may never be needed would cost every hand-in more than it costs the few.
 */
@Injectable()
export class ExpireDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'directive.expire',
      pool: 4,
      perQueue: 2,
      tries: 5,
      enqueueDue: 'app.enqueue_expired_directives',
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    await this.db.transaction(scopeOfWork(item), async () => {
      await this.guardians.lockShared(workspaceId);
      const approval = await this.approvals.lockPending(workspaceId, id);
      const directive = await this.directives.lock(workspaceId, id);
      this.work.complete(item);
      if (directive && this.hasExpired(directive)) await this.expire(directive, approval);
    });
  }

  private hasExpired({ status, deadline }: DirectiveEntity): boolean {
    return EXPIRABLE.includes(status) && deadline !== null && deadline <= this.clock.now();
  }

  private async expire(directive: DirectiveEntity, approval: ApprovalEntity | undefined): Promise<void> {
    const { workspaceId, directiveId, status, text } = directive;
    const because = 'its deadline passed';
    if (!(await this.packets.anyHandedOut(workspaceId, directiveId))) {
      await this.endDirective.endFromOutside(directive, approval, {
        trigger: 'expire',
        actor: SYSTEM,
        because,
      });
      return;
    }
    // Recalled after a part was sent. A halted one goes on with the revert, packet by packet.
    if (status !== 'pending_approval') return;
    if (approval)
      this.endDirective.endApproval(directive, approval, { trigger: 'expire', actor: SYSTEM, because });
    await this.endDirective.dropRest(directive, titleOf(text), SYSTEM, because);
  }

  /** It cannot even be ended as expired; so it is ended as failed, without what may be in the way. */
  private async giveUp({ workspaceId, id }: WorkItem, error: WorkError): Promise<void> {
    await this.guardians.lockShared(workspaceId);
    const approval = await this.approvals.lockPending(workspaceId, id);
    const directive = await this.directives.lock(workspaceId, id);
    if (!directive || !EXPIRABLE.includes(directive.status) || directive.status === 'halted') return;
    if (await this.packets.anyHandedOut(workspaceId, id)) return;
    this.endDirective.fail(directive, approval, error);
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
