import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, peopleBehind } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { RequestContext } from '../../platform/kernel/request-context.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { RequestApproval } from '../approvals/index.js';
import { Events } from '../events/index.js';
import { type CapoRole, NO_COST, type Priority } from '../terms/index.js';
import { TeamOfRequest } from '../workspaces/index.js';
import { DirectiveTransitions } from './directive-transitions.js';
import { DIRECTIVE_STATES } from './directive-states.js';
import type { DirectiveEntity } from './directive.entity.js';
import { titleOf } from './directive.js';
import { Directives, type Requester } from './directives.repository.js';
import { instantOf } from './directives.dto.js';

/** A directive as it is handed in, by whatever route. */
interface NewDirective {
  text: string;
  capo?: CapoRole;
  priority?: Priority;
  requiresApproval?: boolean;
  context?: Record<string, unknown>;
  /** ISO 8601 */
  deadline?: string;
  teamId?: string;
}

/** The schedule that a directive is a run of. */
interface RunOfSchedule {
  scheduleId: string;
  name: string;
  /** Unix milliseconds; null: a person ran it. */
  dueAt: number | null;
}

/**
 * Accepts a directive: its row, its approval if one is wanted, its receipts and the work on it, in one transaction and
 * without a round trip of its own.
 */
@Injectable()
export class HandInDirective {
  constructor(
    private readonly directives: Directives,
    private readonly requestApproval: RequestApproval,
    private readonly teamOfRequest: TeamOfRequest,
    private readonly receipts: Receipts,
    private readonly events: Events,
    private readonly work: Work,
    private readonly clock: Clock,
    private readonly transitions: DirectiveTransitions,
  ) {}

  /** @throws NotFound for a team that the caller may not see, ValidationFailed when the team has to be named */
  async execute(caller: Caller, input: NewDirective): Promise<DirectiveEntity> {
    const teamId = await this.teamOfRequest.resolve(caller, input.teamId);
    requireRole(caller, teamId, 'operator');
    const actor = actorOf(caller);
    const onBehalfOf = { requestedBy: actor, requesterIds: peopleBehind(caller) };
    return this.accept(input, { workspaceId: caller.workspaceId, teamId, actor, onBehalfOf });
  }

  /** Accepts what an actor inside hands in: a capo that delegates, on behalf of the capo's requester, or a schedule. */
  accept(
    input: NewDirective,
    by: {
      workspaceId: string;
      teamId: string | null;
      actor: Actor;
      onBehalfOf: Requester;
      schedule?: RunOfSchedule;
    },
  ): DirectiveEntity {
    const { workspaceId, teamId, actor, onBehalfOf, schedule } = by;
    // JSON says null where it means nothing, so null counts as left out.
    const { text } = input;
    const capo = input.capo ?? null;
    const priority = input.priority ?? 'medium';
    const requiresApproval = input.requiresApproval ?? true;
    const context = input.context ?? {};
    const now = this.clock.now();
    const directiveId = newId('dir');
    const status = DIRECTIVE_STATES.next(null, requiresApproval ? 'hand_in_for_approval' : 'hand_in');
    const receiptId = this.receipts.append({
      actor,
      action: 'directive.created',
      entity: { type: 'directive', id: directiveId },
      directiveId,
      teamId,
      capo,
      summary: schedule
        ? `The schedule "${schedule.name}" handed in "${titleOf(text)}" for ${actor.name}.`
        : `${actor.name} handed in "${titleOf(text)}".`,
      details: {
        priority,
        requiresApproval,
        routedBy: capo ? 'operator' : 'consigliere',
        ...(schedule && { schedule }),
      },
    });
    const approvalId = requiresApproval ? newId('apr') : null;
    const directive: DirectiveEntity = {
      directiveId,
      workspaceId,
      teamId,
      text,
      capo,
      routedBy: capo ? 'operator' : 'consigliere',
      routing: null,
      priority,
      requiresApproval,
      context,
      deadline: instantOf(input.deadline) ?? null,
      status,
      haltedFrom: null,
      approvalId,
      workPacketIds: [],
      output: null,
      engine: null,
      cost: NO_COST,
      error: null,
      feedback: [],
      history: [{ from: null, to: status, at: now, receiptId }],
      createdBy: actor,
      ...onBehalfOf,
      escalationId: null,
      scheduleId: schedule?.scheduleId ?? null,
      scheduledFor: schedule?.dueAt ?? null,
      createdAt: now,
      startedAt: null,
      executedAt: null,
      traceparent: RequestContext.current?.trace?.traceparent ?? null,
    };
    this.directives.add(directive);
    if (approvalId) {
      const title = titleOf(text);
      const { deadline } = directive;
      const asked = {
        approvalId,
        workspaceId,
        teamId,
        directiveId,
        capo,
        title,
        priority,
        round: 0,
        deadline,
      };
      this.requestApproval.open({ ...asked, ...onBehalfOf });
    }
    this.events.record('directive.created', { directiveId, text, capo, priority, requiresApproval });
    this.work.enqueue(capo ? 'directive.draft' : 'directive.route', { id: directiveId });
    return directive;
  }

  /**
   * Hands in a directive again whose approval nobody decided on in time: as a new one, with a new draft and a new approval. Answers
   * what came of it.
   * @throws NotFound, Forbidden; InvalidTransition unless it expired, after its deadline, or in an archived team
   */
  async again(caller: Caller, directiveId: string): Promise<string> {
    const { workspaceId } = caller;
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) throw new NotFound();
    const { teamId, text, routedBy, capo, priority, requiresApproval, context, deadline } = directive;
    requireRole(caller, teamId, 'operator');
    await this.transitions.assertReopenable(directive, 'expired');
    // Both the first and the second requester count as requesters, so neither is the other's second pair of eyes.
    const onBehalfOf = {
      requestedBy: directive.requestedBy ?? directive.createdBy,
      requesterIds: [...new Set([...directive.requesterIds, ...peopleBehind(caller)])],
    };
    const again = this.accept(
      {
        text,
        ...(routedBy === 'operator' && capo && { capo }),
        priority,
        requiresApproval,
        context: { ...context, handedInAgainFrom: directiveId },
        ...(deadline !== null && { deadline: new Date(deadline).toISOString() }),
      },
      { workspaceId, teamId, actor: actorOf(caller), onBehalfOf },
    );
    return `${caller.name} handed in "${titleOf(text)}" again, as ${again.directiveId}.`;
  }
}
