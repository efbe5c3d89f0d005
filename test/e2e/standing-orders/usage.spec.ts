import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUDGET_WINDOWS } from '../../../src/features/standing-orders/standing-order.js';
import {
  lockDecisionsStatement,
  StandingOrderUses,
} from '../../../src/features/standing-orders/standing-order-uses.repository.js';
import { type UsageOfOrder, Usages } from '../../../src/features/standing-orders/uses-of-order.js';
import { startOfWindow } from '../../../src/features/standing-orders/windows.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

/** What an order has let through, counted from all its uses: what the counters must say at any time. */
const COUNTED = `
  select count(*) filter (where s.at > $4::timestamptz - interval '1 hour')::int as "lastHour",
    count(*) filter (where s.at > $4::timestamptz - interval '1 day')::int as "lastDay",
    coalesce(sum(s.amount) filter (where s.currency = 'EUR' and s.at >= date_trunc($5, $4::timestamptz, $3)), 0)::float8 as "budgetSpent",
    (select coalesce(jsonb_object_agg(c.currency, c.amount), '{}') from (
      select t.currency, sum(t.amount)::float8 as amount from standing_order_uses t
      where t.workspace_id = $1 and t.standing_order_id = $2 and t.at >= date_trunc('day', $4::timestamptz, $3)
        and t.currency is not null group by t.currency) c) as "amountsToday"
  from standing_order_uses s where s.workspace_id = $1 and s.standing_order_id = $2`;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

class Order {
  private constructor(
    readonly workspaceId: string,
    readonly orderId: string,
    readonly window: string,
  ) {}

  static async with(window: 'day' | 'week' | 'month', workspaceId?: string): Promise<Order> {
    const place = workspaceId ?? (await test.createWorkspace()).workspaceId;
    const order = new Order(place, newId('so'), window);
    await test.rows(
      `insert into standing_orders (standing_order_id, workspace_id, name, text, status, effect, match, budget, hash,
         created_by, created_at, updated_at)
       values ($1, $2, 'Order', '', 'active', 'allow', '{}', jsonb_build_object('window', $3::text, 'currency', 'EUR'), '', '{}', now(), now())`,
      [order.orderId, order.workspaceId, window],
    );
    return order;
  }

  /** As the act that sends a work packet. */
  use(at: number, amount = 1, currency: string | null = 'EUR'): Promise<void> {
    return this.act(async () => {
      const { unsettled } = new Usages([await this.read(at)]);
      test.app
        .get(StandingOrderUses)
        .recordUses([this.orderId], newId('pkt'), { at, amount, currency }, unsettled);
    });
  }

  giveBack(workPacketId: string): Promise<unknown> {
    return this.act(() => test.app.get(StandingOrderUses).giveBack([workPacketId]));
  }

  /** What a decision at that time finds. */
  async usage(at: number, timezone = 'UTC') {
    await test.rows('update workspaces set timezone = $2 where workspace_id = $1', [
      this.workspaceId,
      timezone,
    ]);
    const {
      standingOrderId: _id,
      warned: _warned,
      isSettled: _isSettled,
      ...usage
    } = await this.act(() => this.read(at));
    return usage;
  }

  private async read(at: number): Promise<UsageOfOrder> {
    const [, , [row]] = (await test.app
      .get(Db)
      .unit.batch([
        lockDecisionsStatement(this.workspaceId),
        { text: `select set_config('app.decided_at', $1, true)`, values: [new Date(at).toISOString()] },
        test.app.get(StandingOrderUses).usageStatement(this.workspaceId, [this.orderId]),
      ])) as [unknown, unknown, [UsageOfOrder]];
    return row;
  }

  async counted(at: number, timezone = 'UTC') {
    const values = [this.workspaceId, this.orderId, timezone, new Date(at), this.window];
    return (await test.rows(COUNTED, values))[0]!;
  }

  private act<T>(work: () => Promise<T>): Promise<T> {
    return test.app.get(Db).transaction({ workspaceId: this.workspaceId, teamIds: 'all' }, work);
  }
}

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 4, 13, 12);

describe('what an order has let through', () => {
  it('leaves the hour and the day to the millisecond', async () => {
    const order = await Order.with('day');
    await order.use(NOON);
    expect(await order.usage(NOON)).toMatchObject({ lastHour: 1, lastDay: 1 });
    expect(await order.usage(NOON + HOUR - 1)).toMatchObject({ lastHour: 1, lastDay: 1 });
    expect(await order.usage(NOON + HOUR)).toMatchObject({ lastHour: 0, lastDay: 1 });
    await order.use(NOON + HOUR);
    expect(await order.usage(NOON + 24 * HOUR - 1)).toMatchObject({ lastHour: 0, lastDay: 2 });
    expect(await order.usage(NOON + 24 * HOUR)).toMatchObject({ lastHour: 0, lastDay: 1 });
    expect(await order.usage(NOON + 25 * HOUR)).toMatchObject({ lastHour: 0, lastDay: 0 });
  });

  it('is what counting gives for uses from before there were counters', async () => {
    const order = await Order.with('month');
    const insert = `insert into standing_order_uses select $1, $2, 'pkt' || n, $3::timestamptz - n * interval '7 minutes', 2, 'EUR'
      from generate_series(0, 999) n`;
    await test.rows('alter table standing_order_uses disable trigger count_use');
    await test.rows(insert, [order.workspaceId, order.orderId, new Date(NOON)]);
    await test.rows('alter table standing_order_uses enable trigger count_use');
    expect(await order.usage(NOON)).toEqual(await order.counted(NOON));
    expect((await order.usage(NOON)).lastDay).toBe(206);
  });

  it('counts a use that is renewed where it stands now', async () => {
    const order = await Order.with('day');
    await order.use(NOON);
    await order.use(NOON + 1);
    expect(await order.usage(NOON + 2 * HOUR)).toMatchObject({ lastHour: 0, lastDay: 2 });
    await test.rows('update standing_order_uses set at = $2 where standing_order_id = $1 and at = $3', [
      order.orderId,
      new Date(NOON + 2 * HOUR),
      new Date(NOON),
    ]);
    expect(await order.usage(NOON + 2 * HOUR)).toEqual(await order.counted(NOON + 2 * HOUR));
  });

  it('does not come back when old uses are let go', async () => {
    const order = await Order.with('day');
    await order.use(NOON);
    await order.usage(NOON);
    await test.rows('delete from standing_order_uses where standing_order_id = $1', [order.orderId]);
    expect(await order.usage(NOON + 90 * 24 * HOUR)).toEqual({
      lastHour: 0,
      lastDay: 0,
      amountsToday: {},
      budgetSpent: 0,
    });
  });

  it('no longer counts what is given back, in whichever windows it was', async () => {
    const order = await Order.with('month');
    const days = [40, 3, 0.5, 0.3, 0.01].map((ago) => NOON - ago * 24 * HOUR);
    for (const at of days) await order.use(at, 10);
    await order.usage(NOON);
    for (const { id } of await test.rows<{ id: string }>(
      'select work_packet_id as id from standing_order_uses where standing_order_id = $1 order by at',
      [order.orderId],
    )) {
      await order.giveBack(id);
      const { amountsToday, ...usage } = await order.usage(NOON);
      const { amountsToday: countedToday, ...counted } = await order.counted(NOON);
      expect({ ...usage, amountsToday: { EUR: 0, ...amountsToday } }).toEqual({
        ...counted,
        amountsToday: { EUR: 0, ...(countedToday as object) },
      });
    }
    await order.use(NOON, 5);
    expect(await order.usage(NOON + 1)).toEqual(await order.counted(NOON + 1));
  });

  // The nights in which the clock is put forward and back, and a zone that does so by half an hour.
  it.each([
    ['Europe/Berlin', Date.UTC(2026, 9, 24, 18)],
    ['Europe/Berlin', Date.UTC(2027, 2, 27, 18)],
    ['Australia/Lord_Howe', Date.UTC(2026, 9, 3, 8)],
    ['Africa/Cairo', Date.UTC(2026, 3, 23, 18)],
    ['Asia/Kathmandu', Date.UTC(2026, 11, 31, 12)],
  ])('is what counting gives through two days of %s from %i on', async (timezone, from) => {
    const order = await Order.with('week');
    const monthly = await Order.with('month', order.workspaceId);
    // A sequence that is the same in each run.
    let seed = from % 2147483647;
    const next = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
    let at = from;
    for (let step = 0; step < 60; step++) {
      at += next(100) * 60_000;
      for (const each of [order, monthly]) {
        expect(await each.usage(at, timezone)).toEqual(await each.counted(at, timezone));
        if (next(3) > 0) await each.use(at, next(5000) / 100, next(4) === 0 ? 'USD' : 'EUR');
      }
    }
    // Another zone has another midnight.
    expect(await order.usage(at, 'Pacific/Auckland')).toEqual(await order.counted(at, 'Pacific/Auckland'));
  });

  it('belongs to the day whose midnight the clock shows twice from the first of the two on', async () => {
    const zone = 'America/Havana';
    const order = await Order.with('day');
    const first = Date.UTC(2026, 10, 1, 4);
    await order.usage(first - HOUR, zone);
    await order.use(first - 1, 7);
    await order.use(first + HOUR / 2, 10);
    expect(await order.usage(first + HOUR / 2 + 1, zone)).toMatchObject({
      budgetSpent: 10,
      amountsToday: { EUR: 10 },
    });
    await order.use(first + 2 * HOUR, 5);
    expect(await order.usage(first + 3 * HOUR, zone)).toMatchObject({
      budgetSpent: 15,
      amountsToday: { EUR: 15 },
    });
    expect(await order.usage(first + 25 * HOUR, zone)).toMatchObject({ budgetSpent: 0, amountsToday: {} });
  });

  it('begins each window where the simulation and the verifier say, in the nights of every zone in which the clock is put back or forward', async () => {
    const zones = ['America/Havana', 'Atlantic/Azores', 'Africa/Cairo', 'Australia/Lord_Howe', 'Asia/Beirut'];
    const instants = Array.from(
      { length: 2 * 365 * 8 },
      (_, n) => Date.UTC(2026, 0, 1, 0, 30) + 3 * n * HOUR,
    );
    for (const zone of zones) {
      for (const window of BUDGET_WINDOWS) {
        const rows = await test.rows<{ start: Date }>(
          'select app.window_start($1, t.at, $2) as start from unnest($3::timestamptz[]) with ordinality as t (at, n) order by n',
          [window, zone, instants.map((at) => new Date(at))],
        );
        const differing = instants.filter(
          (at, n) => rows[n]!.start.getTime() !== startOfWindow(window, at, zone),
        );
        expect(differing.map((at) => `${window} ${zone} ${new Date(at).toISOString()}`)).toEqual([]);
      }
    }
  });
});
