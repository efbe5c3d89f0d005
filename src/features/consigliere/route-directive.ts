import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import { CAPOS, RunnerFailed, paidBefore } from '../capos/index.js';
import {
  ChargeUnused,
  type DirectiveEntity,
  DirectiveTransitions,
  Directives,
  GiveUpDraft,
  addCost,
  titleOf,
} from '../directives/index.js';
import { type GuardianEntity, Guardians, KILLED_TOPIC, isHalted } from '../guardian/index.js';
import { StandingOrders } from '../standing-orders/index.js';
import type { RouteRequest } from './route.js';
import { type Routed, Router } from './router.js';

const CONSIGLIERE: Actor = {
  type: 'consigliere',
  id: 'consigliere',
  name: 'The consigliere',
  via: 'policy',
};

/** A directive that may be routed now, locked. */
interface Found {
  guardian: GuardianEntity;
  /** The one that waits for the draft, if one does. */
  approval: ApprovalEntity | undefined;
  directive: DirectiveEntity;
}

/**
 * Gives a directive without a capo to the one it belongs to (SPECIFICATION, processing order 1 and 2). The scores of
 * all five and the reason are kept with the directive. No transaction is open while a model is asked; what it answers
 * counts only if the work is still this attempt's.
 */
@Injectable()
export class RouteDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly guardians: Guardians,
    private readonly orders: StandingOrders,
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
    private readonly router: Router,
    private readonly giveUpDraft: GiveUpDraft,
    private readonly chargeUnused: ChargeUnused,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: 'directive.route',
      // Mostly it waits for a model; the words of a directive are read in no time.
      pool: 32,
      perQueue: 4,
      tries: 5,
      abortTopic: KILLED_TOPIC,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUpDraft.execute(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    if (!this.router.asksModel) {
      await this.db.transaction(scopeOfWork(item), async () => {
        const found = await this.locked(item);
        if (found) this.assign(item, found, this.router.byWords(await this.requestOf(found.directive)));
      });
      return;
    }
    const request = await this.db.transaction(scopeOfWork(item), async () => {
      const found = await this.locked(item);
      return found && this.requestOf(found.directive);
    });
    if (!request) return;
    let routed: Routed;
    try {
      routed = await this.router.byModel(item.workspaceId, request, signal);
    } catch (error) {
      const paid = paidBefore(error);
      if (!(error instanceof RunnerFailed)) {
        await this.chargeUnused.afterFailure(item, 'routing', paid, error);
        throw error;
      }
      await this.chargeUnused.execute(item, 'routing', paid);
      // As with a draft: the kill has voided the attempt, or the message of the kill came late.
      await this.db.transaction(scopeOfWork(item), async () => this.work.reschedule(item, 0));
      return;
    }
    await this.chargeUnused.after(item, 'routing', routed, () =>
      this.db.transaction(scopeOfWork(item), async () => {
        const found = await this.locked(item);
        if (found) this.assign(item, found, routed);
        return found !== undefined;
      }),
    );
  }

  private async requestOf({
    workspaceId,
    teamId,
    text,
    priority,
    context,
  }: DirectiveEntity): Promise<RouteRequest> {
    return { text, priority, context, standingOrders: await this.orders.brief(workspaceId, teamId) };
  }

  private assign(item: WorkItem, { guardian, approval, directive }: Found, routed: Routed): void {
    const { capo, candidates, reason, model, fallback, cost } = routed;
    this.directives.assign(directive, capo, { candidates, reason });
    if (approval) this.approvals.assign(approval, capo);
    if (cost.tokensIn + cost.tokensOut > 0) {
      this.directives.update(directive, { cost: addCost(directive.cost, cost) });
    }
    this.transitions.note(
      { ...directive, capo },
      {
        actor: CONSIGLIERE,
        action: 'directive.routed',
        summary: `The consigliere assigned "${titleOf(directive.text)}" to ${CAPOS[capo].name}.`,
        details: { candidates, reason, ...(model !== null && { model, fallback, cost }) },
        guardianEpoch: guardian.epoch,
      },
    );
    this.work.complete(item);
    this.work.enqueue('directive.draft', { id: item.id });
  }

  /** Nothing when the directive has ended; under a kill the work is parked. In the open transaction. */
  private async locked(item: WorkItem): Promise<Found | undefined> {
    const { workspaceId, id } = item;
    const [[guardian], [approval], [directive]] = (await this.db.unit.batch([
      this.guardians.lockSharedStatement(workspaceId),
      this.approvals.lockPendingStatement(workspaceId, id),
      this.directives.lockDraftingStatement(workspaceId, id),
    ])) as [[GuardianEntity], [ApprovalEntity?], [DirectiveEntity?]];
    if (!directive) return undefined;
    if (isHalted(guardian.mode)) {
      this.work.park(item);
      return undefined;
    }
    return { guardian, approval, directive };
  }
}
