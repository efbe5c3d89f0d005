import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { newId } from '../../platform/kernel/ids.js';
import { Work } from '../../platform/work/work.js';
import { RequestApproval } from '../approvals/index.js';
import { BUDGET_EXCEEDED, Escalations, PACKET_FAILED } from '../escalations/index.js';
import { Guardians } from '../guardian/index.js';
import { AssertWanted } from './assert-wanted.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { titleOf } from './directive.js';
import { DirectiveTransitions } from './directive-transitions.js';
import type { DirectiveEntity } from './directive.entity.js';
import { Directives } from './directives.repository.js';

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
    private readonly wanted: AssertWanted,
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
    await this.wanted.execute(directive, 'failed');
  }
}
