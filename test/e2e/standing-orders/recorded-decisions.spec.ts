import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import {
  type DecisionOrder,
  policyOf,
  type RecordedInput,
} from '../../../src/features/standing-orders/decision-input.js';
import { evaluateAgain } from '../../../src/features/standing-orders/evaluate.js';
import {
  Policies,
  PolicyDecisions,
  type RecordedDecision,
} from '../../../src/features/standing-orders/policy-decisions.repository.js';
import type { DirectiveView } from '../../../src/features/directives/directives.dto.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { FILE_DOCUMENTS, MAIL_TO_ACME, OrderDesk } from './order-desk.js';

let test: TestApp;
let orders: OrderDesk;
let workspace: TestWorkspace;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
  orders = new OrderDesk(test);
});
beforeEach(async () => {
  workspace = await test.createWorkspace();
  desk = new Desk(test, workspace.owner.token);
});
afterAll(() => test.close());

const scope = () => ({ workspaceId: workspace.workspaceId, teamIds: 'all' as const });

/** Hands in what nobody wants to approve, and waits for what becomes of it. */
async function run(directive: string, until: string): Promise<DirectiveView> {
  const answer = await desk.client.post('/directives', {
    directive,
    capo: 'capo_marketing',
    requiresApproval: false,
  });
  return desk.until(answer.body.directiveId, until);
}

async function recordedDecisions() {
  const decisions: RecordedDecision[] = [];
  const chunks = test.app.get(PolicyDecisions).stream(scope(), Date.now() + 1000);
  for await (const chunk of chunks) decisions.push(...chunk);
  return decisions;
}

interface OrderReceipt {
  action: string;
  entity: { id: string };
  details: { name: string; version: number; hash: string; status: string; rule?: object };
}

/** The orders in force after these receipts, from nothing but them. */
function inForce(receipts: OrderReceipt[]): DecisionOrder[] {
  const known = new Map<string, DecisionOrder>();
  for (const { entity, details } of receipts) {
    const rule = details.rule ?? known.get(entity.id)!;
    const { name, version, hash, status } = details;
    known.set(entity.id, {
      ...rule,
      standingOrderId: entity.id,
      name,
      version,
      hash,
      status,
    } as DecisionOrder);
  }
  return [...known.values()].filter(({ status }) => status === 'active');
}

describe('a decision', () => {
  it('is recorded with its policy, and comes out the same when it is made again', async () => {
    const order = await orders.active({ ...MAIL_TO_ACME, limits: { maxPerDay: 1 } }, workspace.owner);
    await run('Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.', 'executed');
    await run(
      'Email joe@acme.example, subject "Delivery": The delivery arrives on Monday.',
      'pending_approval',
    );
    await orders.active(FILE_DOCUMENTS, workspace.owner);
    await workspace.owner.delete(`/standing-orders/${order}`);
    await run(
      'Email jim@acme.example, subject "Delivery": The delivery arrives on Tuesday.',
      'pending_approval',
    );

    const decisions = await recordedDecisions();
    expect(decisions.map(({ outcome }) => outcome)).toEqual([
      'allow',
      'require_approval',
      'require_approval',
    ]);
    expect(decisions.map(({ decision }) => decision.considered.length)).toEqual([1, 1, 1]);
    expect(new Set(decisions.map(({ input }) => input.policy)).size).toBe(2);
    for (const { decision, input, params } of decisions) {
      const policy = await test.app.get(Policies).ordersOf(scope(), input.policy);
      expect(policyOf(policy).hash).toBe(input.policy);
      expect(evaluateAgain(input, policy)).toEqual(decision);
      expect(decision.inputHash).toBe(sha256(canonicalJson(input)));
      // The mail itself stands beside the input, which keeps what an order asked for.
      expect(params).toHaveProperty('body');
      expect(JSON.stringify(input)).not.toContain('delivery');
    }
    expect(decisions[1]!.decision.limits).toMatchObject([{ limit: 'maxPerDay', used: 2, holds: false }]);
  });

  it('can be made again from the receipts alone', async () => {
    await orders.active({ ...MAIL_TO_ACME, limits: { maxPerDay: 1 } }, workspace.owner);
    await run('Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.', 'executed');
    await run(
      'Email joe@acme.example, subject "Delivery": The delivery arrives on Monday.',
      'pending_approval',
    );

    const rows = await test.rows<{ body: string }>(
      'select body from receipts where workspace_id = $1 order by seq',
      [workspace.workspaceId],
    );
    const receipts = rows.map(({ body }) => JSON.parse(body));
    const policy = inForce(receipts.filter(({ action }) => action.startsWith('standing_order.')));
    const told = receipts.flatMap(({ details }) => details?.decisions ?? []) as {
      outcome: string;
      inputHash: string;
      input: RecordedInput;
    }[];
    expect(told.map(({ outcome }) => outcome)).toEqual(['allow', 'require_approval']);
    for (const { outcome, inputHash, input } of told) {
      expect(policyOf(policy).hash).toBe(input.policy);
      expect(evaluateAgain(input, policy)).toMatchObject({ outcome, inputHash });
    }
  });

  it('goes by an order that another process has just activated, or paused', async () => {
    const statuses: string[] = [];
    const send = async (address: string, until: string) => {
      const { status } = await run(
        `Email ${address}, subject "Delivery": The delivery arrives on Friday.`,
        until,
      );
      statuses.push(status);
    };
    await send('jane@acme.example', 'pending_approval');
    const order = await orders.active(MAIL_TO_ACME, workspace.owner);
    await send('joe@acme.example', 'executed');
    // As another process does: this one is not told.
    await test.rows(`update standing_orders set status = 'paused' where standing_order_id = $1`, [order]);
    await send('jim@acme.example', 'pending_approval');
    expect(statuses).toEqual(['pending_approval', 'executed', 'pending_approval']);
  });

  it('and the versions and policies that it names cannot be changed by the application', async () => {
    for (const table of ['policy_decisions', 'policies', 'standing_order_versions']) {
      const [row] = await test.rows<{ granted: string[] }>(
        `select array_agg(privilege_type::text order by privilege_type) as granted from information_schema.role_table_grants
         where table_name = $1 and grantee = 'consigliere_app'`,
        [table],
      );
      expect(row!.granted).toEqual(['INSERT', 'SELECT']);
    }
  });
});
