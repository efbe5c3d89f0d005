import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Jobs, type JobTarget } from '../../platform/jobs/jobs.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Approvals } from '../approvals/approvals.repository.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { UNSENT } from './directive.js';
import { Directives } from './directives.repository.js';
import { EndDirective } from './end-directive.js';

/**
 * Ends a directive whose deadline has passed before anything of it was sent.
 * Woken by the sweep for overdue work, within about two seconds: a job for each that may never be needed would cost
 * every hand-in more than this costs the few that come to it.
 */
@Injectable()
export class ExpireDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('directive.expire', (target, scope) => this.execute(target, scope));
  }

  private async execute({ workspaceId, id }: JobTarget, scope: Scope): Promise<void> {
    await this.db.transaction(scope, async () => {
      await this.guardians.lockShared(workspaceId);
      const approval = await this.approvals.lockPending(workspaceId, id);
      const directive = await this.directives.lock(workspaceId, id);
      if (!directive || !UNSENT.includes(directive.status)) return;
      if (directive.deadline === null || directive.deadline > this.clock.now()) return;
      if (directive.status === 'halted' && (await this.packets.anyHandedOut(workspaceId, id))) return;
      const because = 'its deadline passed';
      this.endDirective.end(directive, approval, { to: 'expired', actor: SYSTEM, because });
    });
  }
}
