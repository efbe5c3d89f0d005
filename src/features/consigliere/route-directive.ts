import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { type ApprovalEntity, Approvals } from '../approvals/index.js';
import {
  type BriefedDirective,
  CAPOS,
  RunnerFailed,
  type StandingOrderBrief,
  paidBefore,
} from '../capos/index.js';
import {
  DraftAttempts,
  ChargeUnused,
  type DirectiveEntity,
  DirectiveTransitions,
  Directives,
  DraftDirective,
  DueDrafts,
  type RouteInMemory,
  addCost,
  titleOf,
} from '../directives/index.js';
import { type GuardianEntity, isHalted } from '../guardian/index.js';
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
  /** The capos that are paused. */
  paused: ReadonlySet<string>;
}

/**
 * Gives a directive without a capo to the one it belongs to (SPECIFICATION, processing order 1 and 2). The scores of
 * all five and the reason are kept with the directive. No transaction is open while a model is asked; what it answers
 * counts only if the work is still this attempt's. Where no model is asked, the capo drafts as part of the same work.
 */
@Injectable()
export class RouteDirective implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly orders: StandingOrders,
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly transitions: DirectiveTransitions,
    private readonly router: Router,
    private readonly drafts: DueDrafts,
    private readonly attempts: DraftAttempts,
    private readonly draftDirective: DraftDirective,
    private readonly chargeUnused: ChargeUnused,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      ...this.draftDirective.kind,
      name: 'directive.route',
      run: (item, signal) =>
        this.router.asksModel
          ? this.routeByModel(item, signal)
          : this.draftDirective.run(item, signal, {
              begin: () => this.db.transaction(scopeOfWork(item), () => this.routeAndBegin(item)),
              route: (directive, standingOrders) => this.routeInMemory(directive, standingOrders),
            }),
    });
  }

  private routeInMemory(
    { text, priority, context }: BriefedDirective,
    standingOrders: readonly StandingOrderBrief[],
  ): ReturnType<RouteInMemory> {
    const routed = this.router.byWords({ text, priority, context, standingOrders });
    return { capo: routed.capo, assign: (found) => this.assign(found, routed) };
  }

  private async routeByModel(item: WorkItem, signal: AbortSignal): Promise<void> {
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
        if (!found) return false;
        this.assign(found, routed);
        this.handOver(item);
        return true;
      }),
    );
  }

  /** The directive, if its capo may work on it now; that of a paused one waits as work that ends with the pause. */
  private async routeAndBegin(item: WorkItem): Promise<DirectiveEntity | undefined> {
    const found = await this.locked(item);
    if (!found) return undefined;
    const { directive, guardian, paused } = found;
    if (directive.capo === null) this.assign(found, this.router.byWords(await this.requestOf(directive)));
    if (paused.has(directive.capo!)) {
      this.handOver(item);
      return undefined;
    }
    this.attempts.recordStart(item, directive, guardian);
    this.work.check(item);
    return directive;
  }

  private handOver(item: WorkItem): void {
    this.work.complete(item);
    this.work.enqueue('directive.draft', { id: item.id });
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

  private assign({ guardian, approval, directive }: Found, routed: Routed): void {
    const { capo, candidates, reason, model, fallback, cost } = routed;
    this.directives.assign(directive, capo, { candidates, reason });
    directive.capo = capo;
    if (approval) {
      this.approvals.assign(approval, capo);
      approval.capo = capo;
    }
    if (cost.tokensIn + cost.tokensOut > 0) {
      this.directives.update(directive, { cost: addCost(directive.cost, cost) });
    }
    this.transitions.note(directive, {
      actor: CONSIGLIERE,
      action: 'directive.routed',
      summary: `The consigliere assigned "${titleOf(directive.text)}" to ${CAPOS[capo].name}.`,
      details: { candidates, reason, ...(model !== null && { model, fallback, cost }) },
      guardianEpoch: guardian.epoch,
    });
  }

  /** Nothing when the directive has ended; under a kill the work is parked. In the open transaction. */
  private async locked(item: WorkItem): Promise<Found | undefined> {
    const { directive, ...locked } = await this.drafts.lockToBegin(item);
    if (!directive) return undefined;
    if (isHalted(locked.guardian.mode)) {
      this.work.park(item);
      return undefined;
    }
    return { ...locked, directive };
  }
}
