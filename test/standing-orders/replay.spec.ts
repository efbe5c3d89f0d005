import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../src/platform/kernel/canonical-json.js';
import {
  type DecisionInput,
  type DecisionOrder,
  recorded,
  storableContent,
  storableOrder,
} from '../../src/features/standing-orders/decision-input.js';
import { evaluate } from '../../src/features/standing-orders/evaluate.js';
import { type PastDecision, Replay } from '../../src/features/standing-orders/simulation/replay.js';
import { EFFECTS } from '../../src/features/standing-orders/standing-order.js';
import { anInput, anOrder, inputs, orders } from './factories.js';

const ZONE = 'Europe/Vienna';
const HOUR_MS = 3_600_000;

/** Each order as a policy has it: named by what it says. */
const hashed = (order: DecisionOrder) => storableOrder({ ...order, hash: sha256(canonicalJson(order)) });

/** The decision that was made about this input, as it is recorded. */
function pastOf(input: DecisionInput, number: number): PastDecision {
  return {
    decisionId: `dec_${String(number).padStart(6, '0')}`,
    workPacketId: `pkt_${number}`,
    teamId: input.packet.teamId,
    outcome: evaluate(input).outcome,
    input: recorded(input),
    ...storableContent(input.packet),
    isGivenBack: false,
    title: 'A mail',
    recipient: input.packet.target,
    tool: null,
    agent: null,
    asksAnyway: false,
  };
}

function replay(history: readonly DecisionInput[], draft: DecisionOrder) {
  const replayed = new Replay(draft, ZONE);
  for (const [number, input] of history.entries()) replayed.add(pastOf(input, number), input.orders);
  return replayed.result();
}

/** What a replay has to come to: every decision made again by the one pure function, with all uses of before at hand. */
function oneByOne(history: readonly DecisionInput[], draft: DecisionOrder) {
  const active = { ...draft, status: 'active' as const };
  const id = draft.standingOrderId;
  const uses: { at: number; amount: number; currency: string | null }[] = [];
  return history.map((input) => {
    const { at, packet } = input;
    const { amount, currency } = recorded(input).packet;
    const now = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(ZONE);
    const today = now.startOfDay();
    const starts = {
      day: today,
      week: today.subtract({ days: today.dayOfWeek - 1 }).startOfDay(),
      month: today.with({ day: 1 }).startOfDay(),
    };
    const sumSince = (start: Temporal.ZonedDateTime, unit: string | null | undefined) =>
      Number(
        uses
          .filter(
            (use) => use.currency !== null && use.currency === unit && use.at >= start.epochMilliseconds,
          )
          .reduce((sum, use) => sum + use.amount, 0)
          .toFixed(4),
      );
    const usage = {
      lastHour: uses.filter((use) => use.at > at - HOUR_MS).length,
      lastDay: uses.filter((use) => use.at > at - 24 * HOUR_MS).length,
      amountToday: sumSince(today, currency),
      budgetSpent: draft.budget ? sumSince(starts[draft.budget.window], draft.budget.currency) : 0,
    };
    const decision = evaluate({
      ...input,
      orders: [...input.orders.filter(({ standingOrderId }) => standingOrderId !== id), active],
      usage: { ...input.usage, [id]: usage },
    });
    const counts = decision.matched.some(({ standingOrderId }) => standingOrderId === id);
    if (decision.outcome === 'allow' && counts) uses.push({ at, amount: Math.abs(amount ?? 0), currency });
    return { packet, from: evaluate(input).outcome, to: decision.outcome };
  });
}

const histories = fc
  .tuple(
    fc.array(fc.array(orders.map(hashed), { maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    fc.array(fc.tuple(inputs, fc.nat(2), fc.integer({ min: 0, max: 20 * 60_000 })), {
      maxLength: 30,
      size: 'max',
    }),
    fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 11, 1) }),
  )
  .map(([policies, decisions, start]) => {
    let at = start;
    return decisions.map(([input, policy, gap]) => {
      at += gap;
      // A magnitude that no ledger has only makes sums inexact.
      const amount = Math.abs(input.packet.amount ?? 0) > 1e12 ? 1 : input.packet.amount;
      return {
        ...input,
        at,
        packet: { ...input.packet, amount },
        orders: policies[policy % policies.length]!,
      };
    });
  });

const drafts = orders.map((order) =>
  hashed({ ...order, standingOrderId: 'so_a', status: 'draft', version: 9 }),
);

describe('a replay', () => {
  it('comes to what deciding each again one by one comes to', () => {
    fc.assert(
      fc.property(histories, drafts, (history, draft) => {
        const again = oneByOne(history, draft);
        const moves = again.filter(({ from, to }) => from !== to);
        const isRelaxed = ({ from, to }: (typeof again)[number]) =>
          EFFECTS.indexOf(to) < EFFECTS.indexOf(from);
        const relaxed = moves.filter(isRelaxed);
        const replayed = replay(history, draft);
        expect(replayed).toMatchObject({
          considered: history.length,
          relaxed: relaxed.length,
          escalated: moves.length - relaxed.length,
          unchanged: history.length - moves.length,
          relaxedIrreversible: relaxed.filter(({ packet }) => packet.reversibility === 'irreversible').length,
        });
        const named = replayed.changes.map(({ workPacketId, from, to }) => ({ workPacketId, from, to }));
        const expected = again.flatMap(({ from, to }, number) =>
          from === to ? [] : [{ workPacketId: `pkt_${number}`, from, to }],
        );
        expect(named.toSorted(byPacket)).toEqual(expected.toSorted(byPacket));
      }),
      { numRuns: 100 },
    );
  });

  it('has the same hash for the same decisions and version, and another for others', () => {
    const history = Array.from({ length: 5 }, (_, n) => anInput({ at: Date.UTC(2026, 6, 1, n), orders: [] }));
    const draft = anOrder({ match: { actionTypes: ['email.send'] }, hash: 'one' });
    const { hash } = replay(history, draft);
    expect(replay(history, draft).hash).toBe(hash);
    // Which id the draft has, and what it is called, changes nothing that it does.
    expect(replay(history, { ...draft, standingOrderId: 'so_other', name: 'Other' }).hash).toBe(hash);
    expect(replay(history.slice(1), draft).hash).not.toBe(hash);
    expect(replay(history, { ...draft, hash: 'two' }).hash).not.toBe(hash);
  });

  it('asks for what no order of then asked for', () => {
    const history = [
      anInput({ packet: { params: { to: ['ann@example.com'] }, target: 'ann@example.com' } }),
      anInput({ packet: { params: { to: ['bob@other.com'] }, target: 'bob@other.com' } }),
    ];
    for (const path of ['params.to', 'target']) {
      const draft = anOrder({ match: { fields: { [path]: { $domainIn: ['example.com'] } } } });
      expect(replay(history, draft).changes.map(({ workPacketId }) => workPacketId)).toEqual(['pkt_0']);
    }
  });

  it('lets through no more than the limits of the draft do, and says why the others still ask', () => {
    const start = Date.UTC(2026, 6, 1, 9);
    const history = Array.from({ length: 10 }, (_, n) => anInput({ at: start + n * 10 * 60_000 }));
    const draft = anOrder({ name: 'Slowly', limits: { maxPerHour: 2 } });
    const { relaxed, unchanged, changes } = replay(history, draft);
    // At 0, 10, 60, 70 minutes: the first two leave the hour by then.
    expect({ relaxed, unchanged }).toEqual({ relaxed: 4, unchanged: 6 });
    expect(changes.map(({ workPacketId }) => workPacketId)).toEqual(['pkt_7', 'pkt_6', 'pkt_1', 'pkt_0']);
    expect(changes[0]!.why).toBe('The standing order "Slowly" allows this work packet.');
  });

  it('counts nothing of what certainly did not happen', () => {
    const start = Date.UTC(2026, 6, 1, 9);
    const draft = anOrder({ limits: { maxPerDay: 1 } });
    const replayed = new Replay(draft, ZONE);
    const declined = { ...pastOf(anInput({ at: start }), 0), isGivenBack: true };
    for (const past of [
      declined,
      pastOf(anInput({ at: start + 1 }), 1),
      pastOf(anInput({ at: start + 2 }), 2),
    ]) {
      replayed.add(past, []);
    }
    const changed = replayed.result().changes.map(({ workPacketId }) => workPacketId);
    expect(changed).toEqual(['pkt_1', 'pkt_0']);
  });

  it('names a hundred changes, what cannot be taken back first and the newest of it first, and counts the rest', () => {
    const history = Array.from({ length: 240 }, (_, n) =>
      anInput({
        at: Date.UTC(2026, 6, 1) + n,
        packet: { reversibility: n % 4 === 0 ? 'irreversible' : 'reversible' },
      }),
    );
    const { relaxed, relaxedIrreversible, changes } = replay(history, anOrder());
    expect({ relaxed, relaxedIrreversible }).toEqual({ relaxed: 240, relaxedIrreversible: 60 });
    expect(changes).toHaveLength(100);
    expect(changes.slice(0, 2).map(({ workPacketId }) => workPacketId)).toEqual(['pkt_236', 'pkt_232']);
    expect(changes.slice(60, 62).map(({ workPacketId }) => workPacketId)).toEqual(['pkt_239', 'pkt_238']);
  });

  it('relaxes nothing of a directive that asks anyway, and spends no limit on it', () => {
    const replayed = new Replay(anOrder({ limits: { maxPerDay: 1 } }), ZONE);
    for (const [number, asksAnyway] of [true, true, false, false].entries()) {
      replayed.add({ ...pastOf(anInput({ at: Date.UTC(2026, 6, 1, 12, number) }), number), asksAnyway }, []);
    }
    const { considered, relaxed, stillAsks, unchanged, relaxedIrreversible, changes } = replayed.result();
    expect({ considered, relaxed, stillAsks, unchanged, relaxedIrreversible }).toEqual({
      considered: 4,
      relaxed: 1,
      stillAsks: 2,
      unchanged: 1,
      relaxedIrreversible: 1,
    });
    expect(changes.map(({ workPacketId }) => workPacketId)).toEqual(['pkt_2']);
  });

  it.each([
    [
      'nothing was decided',
      [],
      { match: { actionTypes: ['email.send'] } },
      'Nothing that it could be about was decided yet.',
    ],
    [
      'one condition excludes the nearest',
      [{ actionType: 'document.file' }, {}, {}],
      { match: { actionTypes: ['email.send'], fields: { 'params.subject': { $prefix: 'Shipped' } } } },
      'None of the 3 meets every condition: the nearest 2 differ only in the subject: “Hello” does not begin with “Shipped”.',
    ],
    [
      'the subject begins so and ends otherwise',
      [{}],
      {
        match: {
          actionTypes: ['email.send'],
          fields: { 'params.subject': { $prefix: 'He', $suffix: ' has shipped' } },
        },
      },
      'None of the 1 meets every condition: the nearest 1 differs only in the subject: “Hello” does not end with “ has shipped”.',
    ],
    [
      'several exclude all',
      [{}],
      { capos: ['capo_product' as const], match: { actionTypes: ['document.file'] } },
      'None of the 1 meets every condition: the nearest 1 differs in the action and the capo.',
    ],
    [
      'it is of another team',
      [{}],
      { teamId: 'team_other' as const, match: { actionTypes: ['email.send'] } },
      'None of the 1 meets every condition: the nearest 1 differs only in the team.',
    ],
    [
      'it had expired',
      [{}],
      { expiresAt: 1, match: { actionTypes: ['email.send'] } },
      'None of the 1 meets every condition: the nearest 1 differs only in the time, since the order has expired by then.',
    ],
  ])('says why it changes nothing where %s', (_where, packets, draft, why) => {
    const history = packets.map((packet) => anInput({ packet }));
    expect(replay(history, anOrder(draft)).why).toBe(why);
  });

  it('says that what it matches came out the same, and nothing where it changes something', () => {
    const other = hashed(anOrder({ standingOrderId: 'so_a', name: 'Never', effect: 'deny' }));
    expect(replay([anInput({ orders: [other] })], anOrder()).why).toBe(
      '1 of 1 meet every condition, and come out as they did: The standing order "Never" forbids this work packet.',
    );
    expect(replay([anInput()], anOrder()).why).toBeNull();
  });

  it('takes the former version of the order out', () => {
    const former = hashed(anOrder({ standingOrderId: 'so_a', effect: 'deny' }));
    const draft = hashed(
      anOrder({
        standingOrderId: 'so_a',
        effect: 'deny',
        match: { actionTypes: ['webhook.post'] },
        version: 2,
      }),
    );
    const { changes, relaxedIrreversible } = replay([anInput({ orders: [former] })], draft);
    expect(relaxedIrreversible).toBe(1);
    expect(changes).toEqual([
      {
        workPacketId: 'pkt_0',
        teamId: null,
        title: 'A mail',
        recipient: anInput().packet.target,
        from: 'deny',
        to: 'require_approval',
        why: 'No standing order allows this work packet.',
      },
    ]);
  });
});

function byPacket(a: { workPacketId: string }, b: { workPacketId: string }): number {
  return a.workPacketId < b.workPacketId ? -1 : 1;
}
