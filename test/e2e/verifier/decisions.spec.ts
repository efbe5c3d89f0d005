import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReceiptProofs, verifyLog } from '../../../src/features/verifier/verifier.js';
import { hashOf, type RecordedInput } from '../../../src/features/standing-orders/decision-input.js';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import type { ReceiptContent } from '../../../src/platform/receipts/receipt.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { BusyDay } from './busy-day.js';

const STEPS = 60;

type Receipt = ReceiptContent & { seq: number };
interface Decision {
  outcome: string;
  inputHash: string;
  input: RecordedInput;
}

let test: TestApp;
let workspace: TestWorkspace;
let day: BusyDay;
let text: string;
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
  day = new BusyDay(test, workspace);
  await day.pass(STEPS);
  text = (await day.owner.get('/audit-feed?format=jsonl')).text;
}, 300_000);
afterAll(() => test.close());

/** The receipts in their order, to be changed. */
function receipts(): Receipt[] {
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Receipt).toSorted((a, b) => a.seq - b.seq);
}

function proofsOf(changed: readonly Receipt[]): ReceiptProofs {
  const proofs = new ReceiptProofs();
  for (const { seq, ...content } of changed) proofs.receipt(seq, content);
  return proofs;
}

const decisionsOf = ({ details }: ReceiptContent) => (details['decisions'] ?? []) as Decision[];

/** The first decision of a receipt of which this is true, and that receipt. */
function find(
  all: Receipt[],
  isWanted: (decision: Decision, receipt: Receipt) => boolean,
): { receipt: Receipt; decision: Decision } {
  for (const receipt of all) {
    const decision = decisionsOf(receipt).find((one) => isWanted(one, receipt));
    if (decision) return { receipt, decision };
  }
  throw new Error('the day has no such decision');
}

/** As somebody does it who keeps the hash of what they change right. */
function rehash(decision: Decision): void {
  decision.inputHash = hashOf(decision.input);
}

const kinds = ({ decisions }: ReceiptProofs) => decisions.faults.map(({ kind, seq }) => `${kind} ${seq}`);

describe('a busy day, from its receipts alone', () => {
  it('comes out the same when every decision is made again', async () => {
    const { proofs, areHashesChecked, gaps } = await verifyLog(
      Readable.from([Buffer.from(text)]),
      workspace.workspaceId,
    );
    expect({ areHashesChecked, gaps }).toEqual({ areHashesChecked: true, gaps: 0 });
    const { decisions, equal, unknown, faults } = proofs.decisions;
    expect(faults).toEqual([]);
    expect({ equal, unknown }).toEqual({ equal: decisions, unknown: 0 });
    // As many as were recorded.
    const [{ recorded }] = (await test.rows<{ recorded: number }>(
      'select count(*)::int as recorded from policy_decisions where workspace_id = $1',
      [workspace.workspaceId],
    )) as [{ recorded: number }];
    expect(decisions).toBe(recorded);
    expect(decisions).toBeGreaterThan(STEPS);
    const outcomes = new Set(
      receipts().flatMap((receipt) => decisionsOf(receipt).map(({ outcome }) => outcome)),
    );
    expect(outcomes.size).toBeGreaterThan(1);
    const told = receipts().flatMap((receipt) => (decisionsOf(receipt).length > 0 ? [receipt.action] : []));
    const acts = ['directive.drafted', 'approval.edited', 'directive.recalled', 'packet.denied'];
    expect(told).toEqual(expect.arrayContaining(acts));
    expect(proofs.halts.count).toBe(1);
    expect(proofs.areSound).toBe(true);
  });

  it('is verified as far as it goes when it does not begin with the first receipt', () => {
    const later = proofsOf(receipts().slice(40));
    expect(later.decisions.faults).toEqual([]);
    expect(later.decisions.unknown).toBeGreaterThan(0);
  });
});

describe('one changed number', () => {
  it('of the rule of an order is named', () => {
    const all = receipts();
    const { decision } = find(all, ({ input }) => Object.keys(input.usage).length > 0);
    const [id] = Object.keys(decision.input.usage);
    const made = all.find(({ entity, action }) => entity.id === id && action === 'standing_order.created')!;
    const rule = made.details['rule'] as { limits: Record<string, number> | null };
    rule.limits = { ...rule.limits, maxPerHour: 1_000 };
    expect(kinds(proofsOf(all))[0]).toBe(`order_hash ${made.seq}`);
  });

  it('of the rule of an order is named at the decisions, when its hash was made to fit', () => {
    const all = receipts();
    const { receipt, decision } = find(all, ({ input }) => Object.keys(input.usage).length > 0);
    const [id] = Object.keys(decision.input.usage);
    const acts = all.filter(({ entity, details }) => entity.id === id && typeof details['hash'] === 'string');
    const rule = acts[0]!.details['rule'] as { limits: Record<string, number> | null };
    rule.limits = { ...rule.limits, maxPerHour: 1_000 };
    for (const { details } of acts) details['hash'] = sha256(canonicalJson(rule));
    const named = kinds(proofsOf(all));
    expect(named.length).toBeGreaterThan(0);
    expect(named.every((kind) => kind.startsWith('policy '))).toBe(true);
    expect(named).toContain(`policy ${receipt.seq}`);
  });

  it('of an input is named by its hash', () => {
    const all = receipts();
    const { receipt, decision } = find(all, () => true);
    decision.input.at += 1;
    expect(kinds(proofsOf(all))).toEqual([`input_hash ${receipt.seq}`]);
  });

  it('of an outcome is named', () => {
    const all = receipts();
    const { receipt, decision } = find(all, ({ outcome }) => outcome === 'require_approval');
    decision.outcome = 'allow';
    expect(kinds(proofsOf(all))).toEqual([`outcome ${receipt.seq}`]);
  });

  it.each(['lastHour', 'lastDay'] as const)(
    'of a usage is named, with its hash made to fit: %s',
    (counter) => {
      const all = receipts();
      const { receipt, decision } = find(all, ({ input }, { action }) => {
        const [id] = Object.keys(input.usage);
        return action === 'directive.drafted' && id !== undefined && input.usage[id]![counter] > 0;
      });
      const [id] = Object.keys(decision.input.usage);
      decision.input.usage[id!]![counter] -= 1;
      rehash(decision);
      expect(kinds(proofsOf(all))).toContain(`usage ${receipt.seq}`);
    },
  );

  it('of a budget that is spent is named, with its hash made to fit', () => {
    const all = receipts();
    const { receipt, decision } = find(all, ({ input }) =>
      Object.values(input.usage).some(({ budgetSpent }) => budgetSpent > 0),
    );
    const usage = Object.values(decision.input.usage).find(({ budgetSpent }) => budgetSpent > 0)!;
    usage.budgetSpent -= 0.01;
    rehash(decision);
    expect(kinds(proofsOf(all))).toContain(`usage ${receipt.seq}`);
  });

  it('of the epoch is named, with its hash made to fit', () => {
    const all = receipts();
    const { receipt, decision } = find(all, ({ input }) => input.guardian.epoch === 1);
    decision.input.guardian.epoch = 0;
    rehash(decision);
    expect(kinds(proofsOf(all))[0]).toBe(`guardian ${receipt.seq}`);
  });
});

describe('another deceit', () => {
  it('is named: a decision that goes by orders which were not in force', () => {
    const all = receipts();
    // Long after the last change: one that was under way during a change may have gone by what was before.
    const first = find(all, ({ input }, { at, seq }) => {
      const changed = all.findLast(({ action, seq: n }) => n < seq && action.startsWith('standing_order.'))!;
      return Object.keys(input.usage).length > 0 && at - changed.at > 120_000;
    });
    // None of the day's orders: what an empty policy lets everybody do.
    const { input } = first.decision;
    first.decision.input = { ...input, policy: sha256(canonicalJson([])), usage: {} };
    rehash(first.decision);
    expect(kinds(proofsOf(all))).toContain(`policy ${first.receipt.seq}`);
  });

  it('is named: a receipt that was left out, where the usage shows it', () => {
    const all = receipts();
    const releases = all.flatMap(({ action }, index) =>
      action === 'directive.sending' && all[index - 1]!.action === 'directive.drafted' ? [index] : [],
    );
    const showing = releases.filter((released) => {
      // Numbered anew, so that no gap shows it.
      const rest = all.toSpliced(released - 1, 2).map((receipt, index) => ({ ...receipt, seq: index + 1 }));
      return kinds(proofsOf(rest)).some((kind) => kind.startsWith('usage'));
    });
    expect(showing.length).toBeGreaterThan(0);
  });

  it('does not end the verification, whatever stands in a receipt', () => {
    const all = receipts();
    for (const [index, receipt] of all.entries()) {
      const nonsense = [null, [], 'x', 7, { input: {} }, { input: { packet: {}, guardian: {}, usage: {} } }];
      if (index % 3 === 0) receipt.details['decisions'] = nonsense;
      if (index % 3 === 1) receipt.details['rule'] = nonsense[index % nonsense.length];
    }
    const { decisions, faultCount } = proofsOf(all).decisions;
    expect(decisions).toBeLessThan(proofsOf(receipts()).decisions.decisions);
    expect(faultCount).toBeLessThanOrEqual(decisions);
  });
});

describe('a budget that is nearly spent', () => {
  // With the built-in runner, which drafts what the directive says.
  let plain: TestApp;
  beforeAll(async () => {
    plain = await startTestApp();
  });
  afterAll(() => plain.close());

  it('is followed past the warning that stands between a draft and its sending', async () => {
    const { workspaceId, owner } = await plain.createWorkspace();
    const desk = new Desk(plain, owner.token);
    const made = await desk.client.post('/standing-orders', {
      name: 'Small sales',
      effect: 'allow',
      match: { actionTypes: ['revenue.record'] },
      budget: { window: 'day', amount: 1000, currency: 'EUR', warnPercent: 50 },
    });
    expect(made.body, made.text).toMatchObject({ status: 'active', heldBecause: null });
    for (const amount of [300, 300, 100]) {
      const body = {
        directive: `Record revenue of ${amount} EUR from Stripe.`,
        capo: 'capo_revenue',
        requiresApproval: false,
      };
      await desk.until((await desk.client.post('/directives', body)).body.directiveId, 'executed');
    }
    const log = (await desk.client.get('/audit-feed?format=jsonl')).text;
    expect(log).toContain('Budget nearly spent');
    const { proofs } = await verifyLog(Readable.from([Buffer.from(log)]), workspaceId);
    expect(proofs.decisions.faults).toEqual([]);
    expect(proofs.decisions.equal).toBe(3);
  });
});
