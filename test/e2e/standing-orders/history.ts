import { newId } from '../../../src/platform/kernel/ids.js';
import {
  type DecidedPacket,
  type DecisionInput,
  policyOf,
  policyOrders,
  recorded,
  storableContent,
} from '../../../src/features/standing-orders/decision-input.js';
import { evaluate } from '../../../src/features/standing-orders/evaluate.js';
import type { TestApp } from '../../support/test-app.js';
import { anInput } from '../../standing-orders/factories.js';

type Given = Omit<Parameters<typeof anInput>[0] & object, 'packet'> & { packet?: Partial<DecidedPacket> };

/** Decisions of the past, recorded as the program records them. */
export class RecordedHistory {
  constructor(
    private readonly test: TestApp,
    private readonly workspaceId: string,
  ) {}

  /** Adds one decision; answers its input. */
  async decided(given: Given = {}, workPacketId = newId('pkt')): Promise<DecisionInput> {
    const input = anInput({ ...given, packet: { ...given.packet, workPacketId } });
    const policy = policyOf(input.orders);
    await this.test.rows(
      'insert into policies (workspace_id, hash, orders, created_at) values ($1, $2, $3, now()) on conflict do nothing',
      [this.workspaceId, policy.hash, JSON.stringify(policyOrders(policy))],
    );
    for (const order of policy.orders) {
      await this.test.rows(
        `insert into standing_order_versions (workspace_id, standing_order_id, version, team_id, name, text, capos, effect, match,
           "when", limits, budget, approval, expires_at, hash, created_by, created_at)
         values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, '{}', now()) on conflict do nothing`,
        [
          this.workspaceId,
          order.standingOrderId,
          order.version,
          order.teamId,
          order.name,
          order.capos,
          order.effect,
          ...[order.match, order.when, order.limits, order.budget, order.approval].map(
            (part) => part && JSON.stringify(part),
          ),
          order.expiresAt === null ? null : new Date(order.expiresAt),
          order.hash,
        ],
      );
    }
    const decision = evaluate(input);
    const { target, params } = storableContent(input.packet);
    await this.test.rows(
      `insert into policy_decisions (workspace_id, decision_id, work_packet_id, team_id, at, outcome, decision, input, target, params)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        this.workspaceId,
        newId('dec'),
        workPacketId,
        input.packet.teamId,
        new Date(input.at),
        decision.outcome,
        JSON.stringify(decision),
        JSON.stringify(recorded(input)),
        target,
        JSON.stringify(params),
      ],
    );
    return input;
  }
}
