import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, peopleBehind } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Jobs } from '../../platform/jobs/jobs.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { RequestApproval } from '../approvals/request-approval.js';
import { Events } from '../events/events.js';
import { type CapoRole, NO_COST, type Priority } from '../terms/terms.js';
import { TeamOfRequest } from '../workspaces/team-of-request.js';
import { titleOf } from './directive.js';
import type { DirectiveEntity } from './directive.entity.js';
import { Directives, type Requester } from './directives.repository.js';
import { instantOf } from './is-instant-ahead.js';

/** A directive as it is handed in, by whatever route. */
export interface NewDirective {
  text: string;
  capo?: CapoRole;
  priority?: Priority;
  requiresApproval?: boolean;
  context?: Record<string, unknown>;
  /** ISO 8601 */
  deadline?: string;
  teamId?: string;
}

/**
 * Accepts a directive: its row, its approval if one is wanted, its receipts and its wake-up, in one transaction and
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
    private readonly jobs: Jobs,
    private readonly clock: Clock,
  ) {}

  /** @throws NotFound for a team that the caller may not see, ValidationFailed when the team has to be named */
  async execute(caller: Caller, input: NewDirective): Promise<DirectiveEntity> {
    const teamId = await this.teamOfRequest.resolve(caller, input.teamId);
    requireRole(caller, teamId, 'operator');
    const actor = actorOf(caller);
    const onBehalfOf = { requestedBy: actor, requesterIds: peopleBehind(caller) };
    return this.accept(input, { workspaceId: caller.workspaceId, teamId, actor, onBehalfOf });
  }

  /** Accepts what an actor inside hands in: a capo that delegates, on behalf of whoever asked the capo. */
  accept(
    input: NewDirective,
    by: { workspaceId: string; teamId: string | null; actor: Actor; onBehalfOf: Requester },
  ): DirectiveEntity {
    const { workspaceId, teamId, actor, onBehalfOf } = by;
    // JSON says null where it means nothing, so null counts as left out.
    const { text } = input;
    const capo = input.capo ?? null;
    const priority = input.priority ?? 'medium';
    const requiresApproval = input.requiresApproval ?? true;
    const context = input.context ?? {};
    const now = this.clock.now();
    const directiveId = newId('dir');
    const status = requiresApproval ? 'pending_approval' : 'queued';
    const receiptId = this.receipts.append({
      actor,
      action: 'directive.created',
      entity: { type: 'directive', id: directiveId },
      directiveId,
      teamId,
      capo,
      summary: `${actor.name} handed in "${titleOf(text)}".`,
      details: { priority, requiresApproval, routedBy: capo ? 'operator' : 'consigliere' },
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
      stage: capo ? 'draft' : 'route',
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
      createdAt: now,
      startedAt: null,
      executedAt: null,
      dueAt: now,
      attempts: 0,
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
    this.jobs.wake(capo ? 'directive.draft' : 'directive.route', directiveId);
    return directive;
  }
}
