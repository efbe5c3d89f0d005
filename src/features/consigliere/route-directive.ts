import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Jobs, type JobTarget } from '../../platform/jobs/jobs.js';
import { Clock } from '../../platform/kernel/clock.js';
import { CAPOS } from '../capos/capo.js';
import type { DirectiveEntity } from '../directives/directive.entity.js';
import { titleOf } from '../directives/directive.js';
import { DirectiveJournal } from '../directives/directive-journal.js';
import { Directives } from '../directives/directives.repository.js';
import type { GuardianEntity } from '../guardian/guardian.entity.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { StandingOrders } from '../standing-orders/standing-orders.repository.js';
import { routeDirective } from './route.js';

const CONSIGLIERE: Actor = {
  type: 'consigliere',
  id: 'consigliere',
  name: 'The consigliere',
  via: 'policy',
};

/**
 * Gives a directive without a capo to the one it belongs to (SPECIFICATION, processing order 1 and 2). The scores of
 * all five and the reason are kept with the directive.
 */
@Injectable()
export class RouteDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly jobs: Jobs,
    private readonly guardians: Guardians,
    private readonly orders: StandingOrders,
    private readonly directives: Directives,
    private readonly journal: DirectiveJournal,
  ) {}

  onModuleInit(): void {
    this.jobs.handle('directive.route', (target, scope) => this.execute(target, scope));
  }

  private async execute({ workspaceId, id }: JobTarget, scope: Scope): Promise<void> {
    await this.db.transaction(scope, async (unit) => {
      const now = this.clock.now();
      const [[guardian], [directive]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.directives.claimStatement(workspaceId, id, 'route', now),
      ])) as [[GuardianEntity], [DirectiveEntity?]];
      if (!directive) return;
      if (guardian.mode === 'killed') {
        this.directives.rest(directive, now);
        return;
      }
      const { text, priority, context, teamId } = directive;
      const { capo, candidates, reason } = routeDirective({
        text,
        priority,
        context,
        standingOrders: await this.orders.brief(workspaceId, teamId),
      });
      this.directives.assign(directive, capo, { candidates, reason }, now);
      this.journal.note(
        { ...directive, capo },
        CONSIGLIERE,
        'directive.routed',
        `The consigliere gave "${titleOf(text)}" to ${CAPOS[capo].name}.`,
        { details: { candidates, reason }, guardianEpoch: guardian.epoch },
      );
      this.jobs.wake('directive.draft', id);
    });
  }
}
