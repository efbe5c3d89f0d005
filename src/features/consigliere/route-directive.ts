import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { CAPOS } from '../capos/capo.js';
import type { DirectiveEntity } from '../directives/directive.entity.js';
import { titleOf } from '../directives/directive.js';
import { DirectiveTransitions } from '../directives/directive-transitions.js';
import { Directives } from '../directives/directives.repository.js';
import { GiveUpDraft } from '../directives/give-up-draft.js';
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
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly orders: StandingOrders,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
    private readonly giveUpDraft: GiveUpDraft,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'directive.route',
      pool: 8,
      perQueue: 4,
      tries: 5,
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUpDraft.execute(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    await this.db.transaction(scopeOfWork(item), async (unit) => {
      const [[guardian], [directive]] = (await unit.batch([
        this.guardians.lockSharedStatement(workspaceId),
        this.directives.lockDraftingStatement(workspaceId, id),
      ])) as [[GuardianEntity], [DirectiveEntity?]];
      if (!directive) return;
      if (guardian.mode === 'killed') {
        this.work.park(item);
        return;
      }
      const { text, priority, context, teamId } = directive;
      const { capo, candidates, reason } = routeDirective({
        text,
        priority,
        context,
        standingOrders: await this.orders.brief(workspaceId, teamId),
      });
      this.directives.assign(directive, capo, { candidates, reason });
      this.transitions.note(
        { ...directive, capo },
        {
          actor: CONSIGLIERE,
          action: 'directive.routed',
          summary: `The consigliere assigned "${titleOf(text)}" to ${CAPOS[capo].name}.`,
          details: { candidates, reason },
          guardianEpoch: guardian.epoch,
        },
      );
      this.work.complete(item);
      this.work.enqueue('directive.draft', { id });
    });
  }
}
