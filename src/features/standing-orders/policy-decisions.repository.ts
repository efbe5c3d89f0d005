import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { newId } from '../../platform/kernel/ids.js';
import {
  type DecidedPacket,
  type DecisionOrder,
  policyOf,
  type RecordedInput,
  storableContent,
} from './decision-input.js';
import type { Decision } from './evaluate.js';
import { Policies } from './policies.repository.js';
import { PolicyDecisionEntity } from './policy-decision.entity.js';

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
