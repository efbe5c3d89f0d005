import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '../../../platform/auth/caller.js';
import { requireRole } from '../../../platform/auth/require-role.js';
import { computedBeforehand } from '../../../platform/database/beforehand.js';
import { ConnectionGate } from '../../../platform/database/connection-gate.js';
import { Clock } from '../../../platform/kernel/clock.js';
import { newId } from '../../../platform/kernel/ids.js';
import type { DecisionOrder } from '../decision-input.js';
import { decisionOrderOf } from '../order-content.js';
import { Policies } from '../policy-decisions.repository.js';
import type { StandingOrderEntity } from '../standing-order.entity.js';
import { StandingOrders } from '../standing-orders.repository.js';
import { type EndOfHistory, History } from './history.reader.js';
import { type PastDecision, Replay, type Simulated } from './replay.js';
import { type SimulationView, simulationViewOf } from './simulation.dto.js';
import type { SimulationEntity } from './simulation.entity.js';
import { Simulations } from './simulations.repository.js';

/** Other requests are served after this long at the latest. */
const SLICE_MS = 10;
/** Each keeps the thread busy, so more of them at a time only make all of them late. */
const AT_ONCE = 2;
/** How long one waits for its turn before it is refused. */
const WAIT_MS = 30_000;
/** How many policies are known at a time; history goes from one to the next. */
const KNOWN_POLICIES = 20;

/** Replays the history of a workspace, with no transaction open, once for all the drafts. */
@Injectable()
export class ReplayHistory {
  readonly #gate = new ConnectionGate(AT_ONCE, WAIT_MS);

  constructor(
    private readonly history: History,
    private readonly policies: Policies,
  ) {}

  /** One for each draft. @throws Unavailable when too many others are replayed */
  async execute(
    workspaceId: string,
    end: EndOfHistory,
    drafts: readonly DecisionOrder[],
  ): Promise<Simulated[]> {
    await this.#gate.enter();
    try {
      return await this.replay(workspaceId, end, drafts);
    } finally {
      this.#gate.leave();
    }
  }

  private async replay(
    workspaceId: string,
    end: EndOfHistory,
    drafts: readonly DecisionOrder[],
  ): Promise<Simulated[]> {
    const replays = drafts.map((draft) => new DraftReplay(draft, end));
    const ordersOf = this.policiesOf(workspaceId);
    for await (const chunk of this.history.until(workspaceId, end, parametersOf(drafts))) {
      let since = performance.now();
      for (const decision of chunk) {
        const known = ordersOf(decision.input.policy);
        const orders = known instanceof Promise ? await known : known;
        for (const replay of replays) replay.add(decision, orders);
        if (performance.now() - since < SLICE_MS) continue;
        await nextTurn();
        since = performance.now();
      }
    }
    return replays.map((replay) => replay.result());
  }

  private policiesOf(
    workspaceId: string,
  ): (hash: string) => readonly DecisionOrder[] | Promise<readonly DecisionOrder[]> {
    const known = new Map<string, readonly DecisionOrder[]>();
    return (hash) =>
      known.get(hash) ??
      this.policies.ordersOf({ workspaceId, teamIds: 'all' }, hash).then((orders) => {
        const [oldest] = known.keys();
        if (oldest !== undefined && known.size === KNOWN_POLICIES) known.delete(oldest);
        known.set(hash, orders);
        return orders;
      });
  }
}

/** Replays a draft for those who see everything, and beside it for those who only see the rows of its team, or of none. */
class DraftReplay {
  readonly #teamId: string | null;
  readonly #whole: Replay;
  readonly #own: Replay;

  constructor(draft: DecisionOrder, { zone, hasTeams }: EndOfHistory) {
    this.#teamId = draft.teamId;
    this.#whole = new Replay(draft, zone);
    // An order of a team decides about its work packets alone, and without teams there is nothing but what everybody sees.
    this.#own = draft.teamId === null && hasTeams ? new Replay(draft, zone) : this.#whole;
  }

  add(decision: PastDecision, orders: readonly DecisionOrder[]): void {
    const isOwn = decision.teamId === this.#teamId;
    if (isOwn || this.#teamId === null) this.#whole.add(decision, orders);
    if (isOwn && this.#own !== this.#whole) this.#own.add(decision, orders);
  }

  result(): Simulated {
    const whole = this.#whole.result();
    return { whole, own: this.#own === this.#whole ? whole : this.#own.result() };
  }
}

/**
 * The simulation of what an order says, for a mutation of the order. It takes seconds where there is a long history, so it is
 * computed with no transaction open: neither decisions nor a kill wait for it. The mutation then finds the order as it is by
 * then; another version is simulated again. Decisions that were made in between are not in it: it would never end where
 * many are made.
 */
@Injectable()
export class OrderSimulation {
  constructor(
    private readonly history: History,
    private readonly replayHistory: ReplayHistory,
    private readonly simulations: Simulations,
    private readonly clock: Clock,
    private readonly orders: StandingOrders,
  ) {}

  /**
   * Of a locked order as it stands, or is going to. One that considered all decisions until now is not computed again.
   * @throws NeededBeforehand, before anything is written
   */
  of(order: StandingOrderEntity): SimulationEntity {
    const { standingOrderId, version, hash } = order;
    return computedBeforehand(`simulation ${standingOrderId} ${version} ${hash}`, async () => {
      const end = await this.history.end(order.workspaceId);
      return (
        (await this.simulations.find(order, end)) ?? this.simulations.keep(await this.compute(order, end))
      );
    });
  }

  /**
   * Of an order that is being created; {@link keepNew} adds it.
   * @throws NeededBeforehand, before anything is written
   */
  ofNew(order: StandingOrderEntity): SimulationEntity {
    const { standingOrderId, workspaceId } = order;
    const simulated = computedBeforehand(`simulation of a new order ${order.hash} ${order.name}`, async () =>
      this.compute(order, await this.history.end(workspaceId)),
    );
    // The order that was simulated was never written: its transaction was rolled back.
    return { ...simulated, standingOrderId };
  }

  /** Adds the simulation of an order that the open transaction has added. */
  keepNew(simulation: SimulationEntity): void {
    this.simulations.add(simulation);
  }

  /**
   * What an order, whatever its status, would have done to the decisions of the past; nothing else changes.
   * @throws NotFound, Forbidden
   */
  async simulate(caller: Caller, standingOrderId: string): Promise<SimulationView> {
    const order = await this.orders.lock(standingOrderId);
    requireRole(caller, order.teamId, 'operator');
    return simulationViewOf(this.of(order), caller);
  }

  private async compute(order: StandingOrderEntity, end: EndOfHistory): Promise<SimulationEntity> {
    const { workspaceId } = order;
    const [replayed] = await this.replayHistory.execute(workspaceId, end, [decisionOrderOf(order, 'active')]);
    return this.rowOf(order, end, replayed!);
  }

  private rowOf(
    { workspaceId, standingOrderId, teamId, version }: StandingOrderEntity,
    { until, zone }: EndOfHistory,
    { whole, own }: Simulated,
  ): SimulationEntity {
    return {
      ...whole,
      own,
      workspaceId,
      simulationId: newId('sim'),
      standingOrderId,
      teamId,
      version,
      untilDecisionId: until,
      zone,
      computedAt: this.clock.now(),
    };
  }
}

/** The parameters that conditions of the drafts begin with: `to` for `params.to`. */
function parametersOf(drafts: readonly DecisionOrder[]): string[] {
  const paths = drafts.flatMap(({ match }) => Object.keys(match.fields ?? {}));
  const names = paths.filter((path) => path.startsWith('params.')).map((path) => path.split('.')[1]!);
  return [...new Set(names)];
}
