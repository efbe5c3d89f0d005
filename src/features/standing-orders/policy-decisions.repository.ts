import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { newId } from '../../platform/kernel/ids.js';
import {
  type DecisionOrder,
  type Policy,
  policyOrders,
  storableOrder,
  type DecidedPacket,
  policyOf,
  type RecordedInput,
  storableContent,
} from './decision-input.js';
import type { Decision } from './evaluate.js';
import { PolicyDecisionEntity } from './standing-order.entity.js';

const ORDERS_OF = /* sql */ `
select v.standing_order_id, v.version, v.hash, v.name, o.status, v.team_id, v.capos, v.effect, v.match, v."when", v.limits,
  v.budget, v.approval, v.expires_at
from policies p
cross join jsonb_to_recordset(p.orders) as o("standingOrderId" text, version int, status text)
join standing_order_versions v on v.workspace_id = p.workspace_id and v.standing_order_id = o."standingOrderId"
  and v.version = o.version
where p.workspace_id = $1 and p.hash = $2`;

/** The policies that decisions were made under: immutable sets of immutable versions, each named by its hash. */
@Injectable()
export class Policies {
  /** What this process has added already, so that it is not written with every decision. */
  readonly #added = new WeakMap<readonly DecisionOrder[], Set<string>>();

  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
  ) {}

  /** Adds a policy in the open transaction, unless it is there. */
  add({ hash, orders }: Policy): void {
    const { unit } = this.db;
    const { workspaceId } = unit.scope;
    const added = this.#added.get(orders) ?? new Set();
    if (added.has(workspaceId)) return;
    this.db.write(
      `insert into policies (workspace_id, hash, orders, created_at) values ($1, $2, $3, $4) on conflict do nothing`,
      [workspaceId, hash, JSON.stringify(policyOrders({ orders })), new Date(this.clock.now())],
    );
    unit.afterCommit.push(() => this.#added.set(orders, added.add(workspaceId)));
  }

  /** The order versions of a policy as decisions take them; none for a hash that names no policy, or the empty one. */
  async ordersOf(scope: Scope, hash: string): Promise<DecisionOrder[]> {
    const { workspaceId } = scope;
    const rows = await this.db.read<DecisionOrder>({ workspaceId, teamIds: 'all' }, ORDERS_OF, [
      workspaceId,
      hash,
    ]);
    return rows.map(storableOrder);
  }
}

/** A decision that was recorded. */
export type RecordedDecision = Omit<PolicyDecisionEntity, 'workspaceId'>;

const COLUMNS = columnsOf(PolicyDecisionEntity, { without: ['workspaceId'] });

/** As many as are in memory together. */
const CHUNK = 500;

const NEXT = `select ${COLUMNS} from policy_decisions
  where workspace_id = $1 and (at, decision_id) > ($2, $3) and at <= $4 order by at, decision_id limit ${CHUNK}`;

/** Every decision about work packets, and what each depended on. */
@Injectable()
export class PolicyDecisions {
  constructor(
    private readonly db: Db,
    private readonly policies: Policies,
  ) {}

  /** Adds one in the open transaction, with the policy that it was made under. */
  add(
    packet: DecidedPacket,
    decision: Decision,
    input: RecordedInput,
    orders: readonly DecisionOrder[],
  ): void {
    this.policies.add(policyOf(orders));
    this.db.insert(PolicyDecisionEntity, {
      workspaceId: this.db.unit.scope.workspaceId,
      decisionId: newId('dec'),
      workPacketId: packet.workPacketId!,
      teamId: packet.teamId,
      at: input.at,
      outcome: decision.outcome,
      decision,
      input,
      ...storableContent(packet),
    });
  }

  /**
   * All until `until` (Unix milliseconds), oldest first, a chunk at a time; those of teams that `scope` does not see are left
   * out.
   */
  async *stream(scope: Scope, until: number): AsyncGenerator<RecordedDecision[]> {
    let after = { at: 0, decisionId: '' };
    for (;;) {
      const values = [scope.workspaceId, new Date(after.at), after.decisionId, new Date(until)];
      const chunk = await this.db.read<RecordedDecision>(scope, NEXT, values);
      if (chunk.length > 0) yield chunk;
      if (chunk.length < CHUNK) return;
      after = chunk.at(-1)!;
    }
  }
}
