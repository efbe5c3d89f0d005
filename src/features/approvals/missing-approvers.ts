import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Channel } from '../../platform/database/channel.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { APPROVERS_MISSING, DISMISS, Escalations, REJECT } from '../escalations/index.js';
import { about, quotedTitle } from './approval.js';
import type { UnrevisedApproval } from './approval.entity.js';
import { Approvals, CHECK_APPROVERS } from './approvals.repository.js';
import { CurrentApprovals } from './current-approvals.repository.js';
import { approvalsMissing, missingInWords } from './waiting.js';

/**
 * Checks that enough members may still approve, and escalates to admins if not. It is enqueued when an approval is ready or edited,
 * and when members change (app.check_approvers).
 */
@Injectable()
export class MissingApprovers implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly work: Work,
    private readonly approvals: Approvals,
    private readonly current: CurrentApprovals,
    private readonly escalations: Escalations,
    private readonly receipts: Receipts,
    private readonly channel: Channel,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: CHECK_APPROVERS,
      pool: 2,
      perQueue: 1,
      tries: 5,
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    const scope = scopeOfWork(item);
    await this.db.transaction(scope, async () => {
      const [approval] = await this.approvals.lock(workspaceId, [id]);
      this.work.complete(item);
      if (!approval) return;
      const [waiting] = await this.current.waiting(scope, [id], this.clock.now());
      const able = waiting?.mayApprove?.length ?? Infinity;
      const missing = Math.max(0, approvalsMissing(approval) - able);
      if (missing === approval.missingApprovers) return;
      this.approvals.setMissingApprovers(approval, missing);
      if (missing === 0) await this.resolve(approval, waiting !== undefined);
      else if (missing > approval.missingApprovers) {
        await this.escalate({ ...approval, missingApprovers: missing });
      }
      this.channel.publish('approval', id);
    });
  }

  private async giveUp({ workspaceId, id }: WorkItem, { message }: WorkError): Promise<void> {
    const [approval] = await this.approvals.lock(workspaceId, [id]);
    if (approval?.status !== 'pending') return;
    this.receipts.append({
      actor: SYSTEM,
      action: 'approval.approvers_unchecked',
      outcome: 'failure',
      ...about(approval),
      summary: `Could not check whether enough members may approve ${quotedTitle(approval)}. ${message}`,
    });
  }

  private async escalate(approval: UnrevisedApproval): Promise<void> {
    await this.escalations.open({
      kind: APPROVERS_MISSING,
      ...about(approval),
      reason: `Too few people may approve ${quotedTitle(approval)}. ${missingInWords(approval)}`,
      options: [REJECT, DISMISS],
      dueAt: null,
    });
  }

  private resolve(approval: UnrevisedApproval, isWaiting: boolean): Promise<void> {
    const because = isWaiting
      ? `enough people may approve ${quotedTitle(approval)} now.`
      : `${quotedTitle(approval)} does not wait for an approval any more.`;
    return this.escalations.resolveAbout(APPROVERS_MISSING, about(approval).entity, because);
  }
}
