import { Injectable, type OnModuleInit } from '@nestjs/common';
import { type Actor, actorOf, SYSTEM } from '../../../platform/auth/caller.js';
import { requireRole } from '../../../platform/auth/require-role.js';
import { Db } from '../../../platform/database/db.js';
import { DomainError } from '../../../platform/kernel/define-error.js';
import { InvalidTransition, NotFound } from '../../../platform/kernel/errors.js';
import { Work } from '../../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../../platform/work/work-item.js';
import {
  type Decider,
  type EscalationEntity,
  EscalationOptions,
  Escalations,
  PACKET_FAILED,
  RETRY,
} from '../../escalations/index.js';
import { haltedIn } from '../../terms/index.js';
import { Guardians, letsNothingLeave } from '../../guardian/index.js';
import { titleOf } from '../directive.js';
import { DirectiveTransitions } from '../directive-transitions.js';
import type { DirectiveEntity } from '../directive.entity.js';
import { Directives } from '../directives.repository.js';
import { FAILED_DIRECTIVES } from './packet-escalations.js';
import { WorkPackets } from './work-packets.repository.js';

/** The work of sending one directive again, where one decision was about many. */
export const SEND_AGAIN_WORK = 'directive.send_again';

/**
 * Sends the work packets of a failed directive again that were certainly not sent. Each is what was allowed, and is checked
 * again like any other in the transaction that claims it.
 */
@Injectable()
export class SendAgain implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly options: EscalationOptions,
    private readonly escalations: Escalations,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SEND_AGAIN_WORK,
      pool: 4,
      perQueue: 2,
      tries: 5,
      run: (item) => this.carryOut(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
    this.options.register(PACKET_FAILED, 'directive', {
      lock: ({ workspaceId, entityId }) => this.lock(workspaceId, entityId),
      options: {
        [RETRY]: {
          role: 'operator',
          effect:
            'Sends the work packets again that could not be sent; each is checked again before it leaves.',
          run: (escalation, by) => this.one(escalation, by),
        },
      },
    });
    this.options.register(PACKET_FAILED, FAILED_DIRECTIVES, {
      lock: ({ workspaceId }) => this.guardians.lockShared(workspaceId),
      options: {
        [RETRY]: {
          role: 'operator',
          effect:
            'Sends the work packets of all these directives again that could not be sent; each is checked again before it leaves.',
          run: (escalation, by) => this.all(escalation, by),
        },
      },
    });
  }

  private async lock(workspaceId: string, directiveId: string): Promise<DirectiveEntity | undefined> {
    await this.guardians.lockShared(workspaceId);
    return this.directives.lock(workspaceId, directiveId);
  }

  private async one({ workspaceId, entityId }: EscalationEntity, { caller }: Decider): Promise<string> {
    const directive = await this.lock(workspaceId, entityId);
    if (!directive) throw new NotFound();
    requireRole(caller, directive.teamId, 'operator');
    await this.assertMayLeave(workspaceId);
    const count = await this.execute(directive, actorOf(caller));
    return `${caller.name} has ${count === 1 ? 'a work packet' : `${count} work packets`} of "${titleOf(directive.text)}" sent again.`;
  }

  /** There may be thousands, so each is an act of its own. */
  private async all(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const { workspaceId, escalationId } = escalation;
    await this.assertMayLeave(workspaceId);
    const ids = await this.directives.failedOf(workspaceId, escalationId);
    this.work.enqueue(SEND_AGAIN_WORK, ...ids.map((id) => ({ id })));
    return `${caller.name} has ${ids.length === 1 ? 'a failed directive' : `${ids.length} failed directives`} sent again.`;
  }

  private async assertMayLeave(workspaceId: string): Promise<void> {
    const { mode } = await this.guardians.lockShared(workspaceId);
    if (letsNothingLeave(mode)) throw haltedIn(mode);
  }

  /** Answers how many work packets are queued again. @throws InvalidTransition */
  private async execute(directive: DirectiveEntity, by: Actor): Promise<number> {
    const { workspaceId, directiveId, text } = directive;
    await this.transitions.assertReopenable(directive, 'failed');
    const packets = await this.packets.lockFailedUnsent(workspaceId, directiveId);
    if (packets.length === 0) {
      const message = 'No work packet of this directive failed without being sent.';
      throw new InvalidTransition({ message });
    }
    const ids = packets.map(({ workPacketId }) => workPacketId);
    for (const packet of packets) {
      this.packets.transition(packet, 'send_again', { result: null, sendingSince: null });
    }
    this.transitions.apply(directive, 'send_again', {
      actor: by,
      action: 'directive.sending_again',
      summary: `${by.name} has what failed of "${titleOf(text)}" sent again.`,
      details: { failed: directive.error, workPacketIds: ids },
    });
    this.directives.update(directive, { error: null, escalationId: null });
    this.work.enqueue('packet.send', ...ids.map((id) => ({ id })));
    return packets.length;
  }

  private async carryOut(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    await this.db.transaction(scopeOfWork(item), async () => {
      const { mode } = await this.guardians.lockShared(workspaceId);
      const directive = await this.directives.lock(workspaceId, id);
      if (letsNothingLeave(mode)) {
        this.work.park(item);
        return;
      }
      this.work.complete(item);
      if (!directive || directive.status !== 'failed') return;
      try {
        await this.execute(directive, await this.decidedBy(item, directive));
      } catch (error) {
        // Every refusal is made before anything is written.
        if (!(error instanceof DomainError)) throw error;
        this.notSent(directive, error.message);
      }
    });
  }

  private async decidedBy(item: WorkItem, { escalationId }: DirectiveEntity): Promise<Actor> {
    const escalation =
      escalationId === null ? undefined : await this.escalations.find(scopeOfWork(item), escalationId);
    return escalation?.decidedBy ?? SYSTEM;
  }

  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const directive = await this.lock(workspaceId, id);
    if (directive) this.notSent(directive, message);
  }

  private notSent(directive: DirectiveEntity, because: string): void {
    this.transitions.note(directive, {
      actor: SYSTEM,
      action: 'directive.not_sent_again',
      outcome: 'failure',
      summary: `"${titleOf(directive.text)}" was not sent again: ${because}`,
    });
    this.directives.update(directive, { escalationId: null });
  }
}
