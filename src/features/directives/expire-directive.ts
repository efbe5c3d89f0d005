import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import { Guardians } from '../guardian/index.js';
import type { DirectiveStatus } from '../terms/index.js';
import type { DirectiveEntity } from './directive.entity.js';
import { DIRECTIVE_STATES } from './directive-states.js';
import { Directives } from './directives.repository.js';
import { titleOf } from './directive.js';
import { CancelUnsentRest } from './cancel-unsent-rest.js';
import { EndDirective } from './end-directive.js';
import { WorkPackets } from './packets/work-packets.repository.js';

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
    private readonly cancelUnsentRest: CancelUnsentRest,
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
    await this.cancelUnsentRest.execute(directive, titleOf(text), SYSTEM, because);
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
