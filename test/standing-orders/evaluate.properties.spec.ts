import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../src/platform/kernel/canonical-json.js';
import {
  type DecisionInput,
  recorded,
  type RecordedInput,
} from '../../src/features/standing-orders/decision-input.js';
import { evaluate, evaluateAgain } from '../../src/features/standing-orders/evaluate.js';
import { EFFECTS, tightens } from '../../src/features/standing-orders/standing-order.js';
import { GUARDIAN_MODES, type GuardianMode } from '../../src/features/terms/terms.js';
import { anInput, anOrder, inputs, orders } from './factories.js';

const RUNS = { numRuns: 500 };
const strictness = (input: DecisionInput) => EFFECTS.indexOf(evaluate(input).outcome);

describe('evaluate', () => {
  it('gives the same decision for the orders in any sequence', () => {
    const shuffled = inputs.chain((input) =>
      fc.tuple(
        fc.constant(input),
        fc.shuffledSubarray([...input.orders], { minLength: input.orders.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([input, sequence]) => {
        expect(evaluate({ ...input, orders: sequence })).toEqual(evaluate(input));
      }),
      RUNS,
    );
  });

  it('gives the same decision again from what a JSON column returns of its input, and the orders of its policy', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const column = JSON.parse(JSON.stringify(recorded(input))) as RecordedInput;
        expect(evaluateAgain(column, input.orders)).toEqual(evaluate(input));
        expect(JSON.stringify(column)).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      }),
      RUNS,
    );
  });

  it('names its input by the hash of the whole canonical text', () => {
    fc.assert(
      fc.property(inputs, (input) => {
        const hash = sha256(canonicalJson(JSON.parse(JSON.stringify(recorded(input)))));
        expect(evaluate(input).inputHash).toBe(hash);
      }),
      RUNS,
    );
  });

  it('records of the parameters those alone that an order asks for', () => {
    const order = anOrder({ match: { fields: { 'params.subject': { $eq: 'Hello' } } } });
    const { packet } = recorded(anInput({ orders: [order] }));
    expect(packet.fields).toEqual({ 'params.subject': 'Hello' });
    expect(packet).not.toHaveProperty('params');
  });

  it('never loosens when an order that denies is added, and denies when that order matches', () => {
    const added = anOrder({ standingOrderId: 'so_new', effect: 'deny' });
    fc.assert(
      fc.property(inputs, orders, (input, order) => {
        const more = { ...input, orders: [...input.orders, { ...order, effect: 'deny' as const }] };
        expect(strictness(more)).toBeGreaterThanOrEqual(strictness(input));
        expect(evaluate({ ...input, orders: [...input.orders, added] }).outcome).toBe('deny');
      }),
      RUNS,
    );
  });

  it('never loosens when any order that tightens is added', () => {
    fc.assert(
      fc.property(inputs, orders.filter(tightens), (input, order) => {
        // With an id of its own: the usage of another order is not its usage.
        const added = { ...order, standingOrderId: 'so_new' as const };
        expect(strictness({ ...input, orders: [...input.orders, added] })).toBeGreaterThanOrEqual(
          strictness(input),
        );
      }),
      RUNS,
    );
  });

  it('never loosens with the mode of the guardian, but where a packet that can be undone needs no order', () => {
    fc.assert(
      fc.property(inputs, fc.constantFrom(...GUARDIAN_MODES), (input, mode) => {
        const by = (given: GuardianMode) =>
          evaluate({ ...input, guardian: { ...input.guardian, mode: given } });
        const [decided, guardrailed] = [by(mode), by('guardrailed')];
        // What orders stop, no mode lets go.
        const strictest = Math.max(
          0,
          ...decided.matched.map(({ effect }) => (effect === 'throttle' ? 0 : EFFECTS.indexOf(effect))),
        );
        expect(EFFECTS.indexOf(decided.outcome)).toBeGreaterThanOrEqual(strictest);
        const needsNone =
          mode === 'autonomous' &&
          ['read_only', 'reversible'].includes(input.packet.reversibility) &&
          !decided.matched.some(({ effect }) => effect === 'allow');
        if (needsNone) return;
        expect(EFFECTS.indexOf(decided.outcome)).toBeGreaterThanOrEqual(EFFECTS.indexOf(guardrailed.outcome));
      }),
      RUNS,
    );
  });

  it('is not changed by orders in shadow, and says of each what it alone would have changed', () => {
    const triedOut = fc.uniqueArray(orders, { maxLength: 3, selector: (order) => order.standingOrderId });
    let said = 0;
    fc.assert(
      fc.property(inputs, triedOut, (input, some) => {
        const shadows = some.map((order, index) => ({
          ...order,
          standingOrderId: `so_shadow_${index}` as const,
          status: 'shadow' as const,
        }));
        const without = evaluate(input);
        const tried = evaluate({ ...input, orders: [...input.orders, ...shadows] });
        const { considered: _, inputHash: _hash, shadow, ...rest } = tried;
        const { considered: _all, inputHash: _other, shadow: none, ...alone } = without;
        expect(rest).toEqual(alone);
        expect(none).toEqual([]);
        for (const { standingOrderId, outcome } of shadow) {
          said += 1;
          const order = shadows.find((one) => one.standingOrderId === standingOrderId)!;
          const active = { ...order, status: 'active' as const };
          expect(outcome).toBe(evaluate({ ...input, orders: [...input.orders, active] }).outcome);
        }
      }),
      RUNS,
    );
    expect(said).toBeGreaterThan(RUNS.numRuns / 50);
  });

  it('says until when exactly where the packet only has to wait, and that lies ahead', () => {
    let throttled = 0;
    fc.assert(
      fc.property(inputs, fc.integer({ min: 1, max: 5 }), (input, maxPerHour) => {
        const pace = anOrder({ standingOrderId: 'so_a', effect: 'throttle', limits: { maxPerHour } });
        const allow = anOrder({ standingOrderId: 'so_new' });
        const { outcome, throttledUntil } = evaluate({
          ...input,
          orders: [...input.orders.filter(({ effect }) => effect !== 'deny'), pace, allow],
        });
        expect(throttledUntil === null).toBe(outcome !== 'throttle');
        if (throttledUntil === null) return;
        throttled += 1;
        expect(throttledUntil).toBeGreaterThan(input.at);
      }),
      RUNS,
    );
    expect(throttled).toBeGreaterThan(RUNS.numRuns / 50);
  });

  it('never loosens when a recipient is added to an allowed mail', () => {
    const order = anOrder({ match: { fields: { 'params.to': { $domainIn: ['example.com'] } } } });
    const recipients = fc.array(fc.oneof(fc.emailAddress(), fc.constant('a@example.com'), fc.string()));
    fc.assert(
      fc.property(recipients, fc.emailAddress(), (to, one) => {
        fc.pre(to.length > 0);
        const before = anInput({ orders: [order], packet: { params: { to } } });
        const after = anInput({ orders: [order], packet: { params: { to: [...to, one] } } });
        expect(strictness(after)).toBeGreaterThanOrEqual(strictness(before));
      }),
      RUNS,
    );
  });

  it('allows only what an order allows within its limits, or what may go in autonomous mode', () => {
    let allowed = 0;
    fc.assert(
      fc.property(inputs, (input) => {
        const decision = evaluate(input);
        if (decision.outcome !== 'allow') return;
        allowed += 1;
        expect(decision.limits.every((limit) => limit.holds)).toBe(true);
        expect(decision.matched.every(({ effect }) => effect === 'allow' || effect === 'throttle')).toBe(
          true,
        );
        expect(['guardrailed', 'autonomous']).toContain(input.guardian.mode);
        if (decision.matched.some(({ effect }) => effect === 'allow')) return;
        expect(input.guardian.mode).toBe('autonomous');
        expect(['read_only', 'reversible']).toContain(input.packet.reversibility);
      }),
      RUNS,
    );
    expect(allowed).toBeGreaterThan(RUNS.numRuns / 50);
  });

  it('answers for any JSON that a model may write', () => {
    const json = fc.jsonValue({ stringUnit: 'binary' }) as fc.Arbitrary<never>;
    const anything = fc.tuple(inputs, fc.dictionary(fc.string({ unit: 'binary' }), json), json);
    fc.assert(
      fc.property(anything, ([input, params, to]) => {
        const { outcome } = evaluate({ ...input, packet: { ...input.packet, params: { ...params, to } } });
        expect(EFFECTS).toContain(outcome);
      }),
      RUNS,
    );
  });

  it.each([
    ['nested 100,000 deep', `{"to":${'['.repeat(100_000)}${']'.repeat(100_000)}}`],
    ['out of range', '{"to":[1e400,-1e400,-0]}'],
    ['with keys of the prototype', '{"__proto__":{"to":1},"constructor":{"prototype":null},"to":null}'],
    ['with text no database takes', '{"to":"\\u0000\\ud800","\\udfff\\u0000":1}'],
  ])('answers for JSON %s', (_, text) => {
    const order = anOrder({ match: { fields: { 'params.to': { $ne: 'x' } } } });
    const input = anInput({ orders: [order], packet: { params: JSON.parse(text) as never } });
    const column = JSON.parse(JSON.stringify(recorded(input))) as RecordedInput;
    expect(evaluateAgain(column, input.orders)).toEqual(evaluate(input));
  });
});
