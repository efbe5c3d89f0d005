import { Injectable, type OnModuleInit } from '@nestjs/common';
import { actorOf, type Caller, peopleBehind } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Work } from '../../platform/work/work.js';
import { RequestApproval } from '../approvals/index.js';
import { capoActor } from '../capos/index.js';
import {
  APPROVE_ONCE,
  BUDGET_EXCEEDED,
  type Decider,
  type EscalationEntity,
  EscalationOptions,
  Escalations,
  PACKET_FAILED,
  RETRY,
} from '../escalations/index.js';
import { Guardians } from '../guardian/index.js';
import { isDeniedByBudget } from '../standing-orders/index.js';
import { DirectiveTransitions } from './directive-transitions.js';
import type { DirectiveEntity } from './directive.entity.js';
import { titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { authorOf, readyContent } from './ready-content.js';

/** Has another draft made of a directive that failed and of which certainly nothing was sent. */
@Injectable()
export class RetryDirective {
  constructor(
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly requestApproval: RequestApproval,
    private readonly transitions: DirectiveTransitions,
    private readonly work: Work,
    private readonly escalations: Escalations,
  ) {}

  /** @throws NotFound; InvalidTransition unless it failed, when a part of it may have been sent, after its deadline, or in an archived team */
  async execute(caller: Caller, directiveId: string): Promise<DirectiveEntity> {
    const { workspaceId } = caller;
    await this.guardians.lockShared(workspaceId);
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) throw new NotFound();
    requireRole(caller, directive.teamId, 'operator');
    await this.assertRetryable(directive);

    const actor = actorOf(caller);
    const title = titleOf(directive.text);
    const approvalId = directive.approvalId === null ? undefined : newId('apr');
    this.transitions.apply(
      directive,
      approvalId ? 'retry_for_approval' : 'retry',
      {
        actor,
        action: 'directive.retried',
        summary: `${caller.name} asked for another draft of "${title}", which had failed.`,
        details: { failed: directive.error, ...(approvalId && { approvalId }) },
      },
      approvalId === undefined ? {} : { approvalId },
    );
    this.directives.update(directive, { error: null, escalationId: null });
    this.packets.supersede(workspaceId, directiveId);
    const because = `${caller.name} asked for another draft of "${title}".`;
    const kinds = [BUDGET_EXCEEDED, PACKET_FAILED] as const;
    await this.escalations.resolveAbout(kinds, { type: 'directive', id: directiveId }, because);
    if (approvalId) {
      this.requestApproval.open({
        approvalId,
        workspaceId,
        teamId: directive.teamId,
        directiveId,
        capo: directive.capo,
        title,
        priority: directive.priority,
        round: directive.feedback.length,
        requestedBy: directive.requestedBy ?? directive.createdBy,
        requesterIds: directive.requesterIds,
        deadline: directive.deadline,
      });
    }
    this.work.enqueue(directive.capo ? 'directive.draft' : 'directive.route', { id: directiveId });
    return (await this.directives.lock(workspaceId, directiveId))!;
  }

  private async assertRetryable(directive: DirectiveEntity): Promise<void> {
    const { workspaceId, directiveId, status } = directive;
    if (status !== 'failed') {
      throw new InvalidTransition({
        message: 'Only a directive that failed can be retried.',
        details: { status },
      });
    }
    if (await this.packets.anyPerhapsSent(workspaceId, directiveId)) {
      throw new InvalidTransition({
        message:
          'A part of this directive was sent or may have been, so it cannot be drafted again. Hand in a new directive for what is still wanted.',
        details: { status },
      });
    }
    await this.transitions.assertReopenable(directive, 'failed');
  }
}

/**
 * What a person may do about a directive that a budget has stopped: ask for an approval that lets it through once, which is
 * decided like any other, or have it drafted again, since the budget may have been raised or its window be over.
 */
@Injectable()
export class BudgetOverride implements OnModuleInit {
  constructor(
    private readonly options: EscalationOptions,
    private readonly guardians: Guardians,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly transitions: DirectiveTransitions,
    private readonly requestApproval: RequestApproval,
    private readonly retryDirective: RetryDirective,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.options.register(BUDGET_EXCEEDED, 'directive', {
      lock: (escalation) => this.lock(escalation),
      options: {
        [APPROVE_ONCE]: {
          role: 'operator',
          effect:
            'Asks for an approval that lets the directive go over the budget this once; nothing is sent before somebody approves it.',
          run: (escalation, by) => this.ask(escalation, by),
        },
        [RETRY]: {
          role: 'operator',
          effect:
            'Has another draft made, which the budget stops again unless it was raised or its period is over.',
          run: (escalation, by) => this.retry(escalation, by),
        },
      },
    });
  }

  private async lock({ workspaceId, entityId }: EscalationEntity): Promise<DirectiveEntity> {
    await this.guardians.lockShared(workspaceId);
    const directive = await this.directives.lock(workspaceId, entityId);
    if (!directive) throw new NotFound();
    return directive;
  }

  private async retry({ entityId }: EscalationEntity, { caller }: Decider): Promise<string> {
    const { text } = await this.retryDirective.execute(caller, entityId);
    return `${caller.name} asked for another draft of "${titleOf(text)}".`;
  }

  private async ask(escalation: EscalationEntity, { caller }: Decider): Promise<string> {
    const directive = await this.lock(escalation);
    const { workspaceId, directiveId, teamId, capo, priority, deadline, text, engine } = directive;
    requireRole(caller, teamId, 'operator');
    await this.transitions.assertReopenable(directive, 'failed');
    const packets = await this.stoppedBy(directive);
    for (const packet of packets) this.packets.transition(packet, 'ask_override', { result: null });
    const approvalId = newId('apr');
    const title = titleOf(text);
    const summary = `${caller.name} asked for an approval that lets "${title}" through once although a budget is exceeded: ${approvalId}.`;
    this.requestApproval.open({
      approvalId,
      kind: 'budget_override',
      workspaceId,
      teamId,
      directiveId,
      capo,
      title,
      priority,
      round: 0,
      requestedBy: directive.requestedBy ?? directive.createdBy,
      // A member who asks to exceed the budget is not a second pair of eyes.
      requesterIds: [...new Set([...directive.requesterIds, ...peopleBehind(caller)])],
      deadline,
    });
    this.requestApproval.makeReady(
      { workspaceId, approvalId, directiveId, title, deadline },
      readyContent(
        directive,
        packets,
        packets.map(({ decision }) => decision!),
        { now: this.clock.now() },
      ),
      { author: authorOf(engine), by: capoActor(capo!) },
    );
    this.transitions.apply(
      directive,
      'ask_override',
      {
        actor: actorOf(caller),
        action: 'directive.override_asked',
        summary,
        details: { approvalId, workPacketIds: packets.map(({ workPacketId }) => workPacketId) },
      },
      { approvalId },
    );
    this.directives.update(directive, { error: null });
    return summary;
  }

  /** @throws InvalidTransition when an order denies one of them, whatever it costs */
  private async stoppedBy({ workspaceId, directiveId }: DirectiveEntity): Promise<WorkPacketEntity[]> {
    const packets = await this.packets.lockStopped(workspaceId, directiveId);
    const denied = packets.filter(({ status }) => status === 'denied');
    if (
      denied.length > 0 &&
      denied.every(({ decision }) => decision !== null && isDeniedByBudget(decision))
    ) {
      return packets.filter(({ decision }) => decision !== null);
    }
    throw new InvalidTransition({
      message: 'Not only a budget stopped this directive, so it cannot be approved once.',
    });
  }
}
