import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { TrustFiguresReader } from '../../../src/features/partner/persona.reader.js';
import type { CapoRunner } from '../../../src/features/capos/briefing.js';
import { CAPO_RUNNER } from '../../../src/features/capos/capos.module.js';
import { Clock } from '../../../src/platform/kernel/clock.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { PartnerDesk, type Update } from './partner-desk.js';

const DAY_MS = 86_400_000;

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterEach(() => {
  test.clock.goOn();
  vi.restoreAllMocks();
});
afterAll(() => test.close());

/** A workspace that the partner tells about, and its owner at work. */
async function told(
  ...updates: Update[]
): Promise<{ partner: PartnerDesk; desk: Desk; workspaceId: string }> {
  const { workspaceId, owner } = await test.createWorkspace();
  const partner = await PartnerDesk.of(test, workspaceId);
  for (const update of updates) await partner.report(update);
  return { partner, desk: new Desk(test, owner.token), workspaceId };
}

const of = (buyer: string, metric: string, newConfidence: number, more: Update = {}): Update => ({
  customerEntitlementId: buyer,
  metric,
  newConfidence,
  delta: 0.1,
  ...more,
});

/** What is kept of all buyers together is what adding up each of them gives. */
async function expectExactSums(workspaceId: string): Promise<void> {
  const [sums] = await test.rows(
    `select
       (select (p.buyers, p.confidence_sum) = (select count(*), sum(confidence::text::numeric) from buyers where workspace_id = $1)
        from personas p where workspace_id = $1) as persona,
       (select count(*)::int from persona_metrics p where workspace_id = $1 and (p.buyers, p.confidence_sum) <> (
         select count(*), sum(confidence::text::numeric) from buyer_metrics b where b.workspace_id = $1 and b.metric = p.metric))
         as wrong_metrics`,
    [workspaceId],
  );
  expect(sums).toEqual({ persona: true, wrong_metrics: 0 });
}

const NOTHING = { strongest: null, weakest: null, metrics: [], buyers: 0, lastEventAt: null };

describe('GET /partner/avatar 200', () => {
  it('is empty before the first update', async () => {
    const { desk } = await told();
    const { status, body } = await desk.client.get('/partner/avatar');
    expect(status).toBe(200);
    expect(body).toEqual({ confidence: null, stage: null, ...NOTHING });
  });

  it('answers what all buyers together add up to', async () => {
    const { partner, desk } = await told(
      of('a', 'overall', 0.8),
      of('a', 'trust', 0.3),
      of('a', 'urgency', 0.9),
      of('b', 'trust', 0.5),
    );
    const { update } = await partner.report(of('b', 'urgency', 0.2));
    expect((await desk.client.get('/partner/avatar')).body).toEqual({
      // a: what the partner calls overall; b, of whom it has not: the mean of 0.5 and 0.2.
      confidence: 0.575,
      stage: 'evaluation',
      metrics: [
        { metric: 'urgency', confidence: 0.55, buyers: 2 },
        { metric: 'trust', confidence: 0.4, buyers: 2 },
        { metric: 'overall', confidence: 0.8, buyers: 1 },
      ],
      strongest: 'urgency',
      weakest: 'trust',
      buyers: 2,
      lastEventAt: update['firedAt'],
    });
  });

  it('is limited to 5 a minute, for a viewer too', async () => {
    const { workspaceId } = await told();
    const viewer = new Client(test.url, (await test.createMember(workspaceId, 'viewer')).token);
    test.clock.stopAtMinute();
    for (const path of ['/partner/avatar', '/partner/intelligence']) {
      for (let left = 4; left >= 0; left--) {
        const { status, headers } = await viewer.get(path);
        expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, String(left)]);
      }
      expect((await viewer.get(path)).status).toBe(429);
    }
  });
});

describe('an update that was overtaken', () => {
  it('changes no confidence, but is kept, told and counted', async () => {
    const now = Date.now();
    const { partner, desk, workspaceId } = await told(of('a', 'trust', 0.7, { firedAt: now }));
    const { answer } = await partner.report(of('a', 'trust', 0.2, { firedAt: now - 1, delta: -0.5 }));
    expect((await desk.client.get('/partner/avatar')).body).toMatchObject({
      confidence: 0.7,
      lastEventAt: now,
    });
    const { body } = await desk.client.get('/partner/intelligence');
    expect(body).toMatchObject({ counts: { updates: 2, updates24h: 2 }, lastEventAt: now });
    const rows = await test.rows(
      `select body::jsonb->'details'->'isNewest' as newest from receipts
       where workspace_id = $1 and action = 'partner.confidence_updated' order by seq`,
      [workspaceId],
    );
    expect(rows).toEqual([{ newest: true }, { newest: false }]);
    expect(await test.rows('select 1 from signals where signal_id = $1', [answer.signalId])).toHaveLength(1);
  });

  it('is overtaken in its own metric alone, and by its own buyer alone', async () => {
    const now = Date.now();
    const { desk } = await told(
      of('a', 'trust', 0.7, { firedAt: now }),
      of('a', 'urgency', 0.1, { firedAt: now - 1000 }),
      of('b', 'trust', 0.3, { firedAt: now - 2000 }),
    );
    const { profiles } = (await desk.client.get('/context')).body.buyerContext;
    expect(profiles).toEqual([
      { buyerId: 'a', segment: null, stage: 'interest', confidence: 0.4, topGap: 'urgency', updatedAt: now },
      {
        buyerId: 'b',
        segment: null,
        stage: 'interest',
        confidence: 0.3,
        topGap: 'trust',
        updatedAt: now - 2000,
      },
    ]);
  });

  it('gives way to the one that came later when both were fired at once', async () => {
    const firedAt = Date.now();
    const { desk } = await told(of('a', 'trust', 0.7, { firedAt }), of('a', 'trust', 0.6, { firedAt }));
    expect((await desk.client.get('/partner/avatar')).body.confidence).toBe(0.6);
  });

  it(
    'leaves sums that are exact after many changes of many buyers at once',
    { timeout: 60_000 },
    async () => {
      const { partner, workspaceId } = await told();
      const updates = Array.from({ length: 300 }, (_, index) =>
        partner.update(
          of(
            `b-${index % 7}`,
            ['trust', 'urgency', 'overall', 'authority'][index % 4]!,
            ((index * 37) % 101) / 101,
            {
              firedAt: Date.now() - ((index * 53) % 97) * 1000,
            },
          ),
        ),
      );
      const answers = await Promise.all(updates.map((update) => partner.send(update)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      await expectExactSums(workspaceId);
    },
  );

  it('leaves the newest confidence, in whatever order many arrive at once', async () => {
    const now = Date.now();
    const { partner, desk, workspaceId } = await told();
    const updates = Array.from({ length: 40 }, (_, index) =>
      partner.update(of('a', index % 2 ? 'trust' : 'urgency', index / 100, { firedAt: now + index })),
    );
    const answers = await Promise.all(
      updates
        .toSorted((a, b) => String(a['partnerEventId']).localeCompare(String(b['partnerEventId'])))
        .map((update) => partner.send(update)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    expect((await desk.client.get('/context')).body.buyerContext.profiles).toEqual([
      // The last of each: 0.38 and 0.39.
      {
        buyerId: 'a',
        segment: null,
        stage: 'interest',
        confidence: 0.385,
        topGap: 'urgency',
        updatedAt: now + 39,
      },
    ]);
    expect((await desk.client.get('/partner/intelligence')).body.counts).toMatchObject({
      buyers: 1,
      updates: 40,
    });
    await expectExactSums(workspaceId);
  });
});

describe('GET /partner/intelligence 200', () => {
  it('is empty before the first update', async () => {
    const { desk } = await told();
    expect((await desk.client.get('/partner/intelligence')).body).toEqual({
      counts: { buyers: 0, updates: 0, updates24h: 0, updates7d: 0 },
      topGap: null,
      trends: [],
      recent: [],
      lastEventAt: null,
    });
  });

  it('answers trends over a day and a week, the biggest gap and what came last', async () => {
    const now = Date.now();
    const { partner, desk } = await told();
    const clock = vi.spyOn(test.app.get(Clock), 'now');
    const at = (before: number, update: Update) => {
      clock.mockReturnValue(now - before);
      return partner.report({ ...update, firedAt: now - before });
    };
    await at(7 * DAY_MS, of('a', 'trust', 0.1, { delta: -0.9 }));
    await at(7 * DAY_MS - 1, of('a', 'trust', 0.2, { delta: 0.1 }));
    await at(2 * DAY_MS, of('a', 'urgency', 0.9, { delta: 0 }));
    await at(DAY_MS, of('a', 'trust', 0.4, { delta: 0.2 }));
    await at(DAY_MS - 1, of('a', 'trust', 0.3, { delta: -0.1 }));
    const last = await at(0, of('b', 'trust', 0.5, { delta: -0.2 }));
    clock.mockReturnValue(now);
    const { body } = await desk.client.get('/partner/intelligence');
    expect(body).toMatchObject({
      counts: { buyers: 2, updates: 6, updates24h: 2, updates7d: 5 },
      topGap: 'trust',
      lastEventAt: now,
      trends: [
        {
          metric: 'urgency',
          confidence: 0.9,
          direction: 'steady',
          change24h: 0,
          change7d: 0,
          updates24h: 0,
          updates7d: 1,
        },
        {
          metric: 'trust',
          confidence: 0.4,
          direction: 'steady',
          // a fell by 0.1 and b by 0.2; over the week a rose by 0.2.
          change24h: -0.15,
          change7d: 0,
          updates24h: 2,
          updates7d: 4,
        },
      ],
    });
    expect(body.recent).toHaveLength(6);
    expect(body.recent[0]).toEqual({
      partnerEventId: last.update['partnerEventId'],
      buyerId: 'b',
      metric: 'trust',
      delta: -0.2,
      newConfidence: 0.5,
      firedAt: now,
    });
    expect(body.recent.map(({ firedAt }: { firedAt: number }) => firedAt)).toEqual(
      body.recent
        .map(({ firedAt }: { firedAt: number }) => firedAt)
        .toSorted((a: number, b: number) => b - a),
    );
  });

  it.each([
    [0.2, 'rising'],
    [-0.2, 'falling'],
    [0.005, 'steady'],
  ])('calls a change of %d %s', async (delta, direction) => {
    const { desk } = await told(of('a', 'trust', 0.5, { delta }));
    const { trends } = (await desk.client.get('/partner/intelligence')).body;
    expect(trends).toMatchObject([{ metric: 'trust', change7d: delta, direction }]);
  });

  it('shows the 20 updates that came last', async () => {
    const { partner, desk } = await told();
    for (let index = 0; index < 22; index++) await partner.report(of(`b-${index}`, 'trust', 0.5));
    const { recent, counts } = (await desk.client.get('/partner/intelligence')).body;
    expect(counts).toMatchObject({ buyers: 22, updates: 22 });
    expect(recent).toHaveLength(20);
    expect(recent[0].buyerId).toBe('b-21');
    expect(recent[19].buyerId).toBe('b-2');
  });
});

describe('GET /context', () => {
  it('has no persona and no buyers before the first update', async () => {
    const { desk } = await told();
    expect((await desk.client.get('/context')).body).toMatchObject({
      partner: { avatar: null, intelligence: null, lastEventAt: null },
      buyerContext: { profiles: [], aggregate: { count: 0, averageConfidence: null, topGap: null } },
    });
  });

  it('has the buyers, and the persona as its own routes answer it', async () => {
    const now = Date.now();
    const { desk } = await told(
      of('a', 'trust', 0.3, { firedAt: now - 2 }),
      of('b', 'overall', 0.9, { firedAt: now - 1 }),
      of('c', 'authority', 0.2, { firedAt: now }),
    );
    const context = (await desk.client.get('/context')).body;
    expect(context.buyerContext).toEqual({
      profiles: [
        {
          buyerId: 'c',
          segment: null,
          stage: 'awareness',
          confidence: 0.2,
          topGap: 'authority',
          updatedAt: now,
        },
        { buyerId: 'b', segment: null, stage: 'decision', confidence: 0.9, topGap: null, updatedAt: now - 1 },
        {
          buyerId: 'a',
          segment: null,
          stage: 'interest',
          confidence: 0.3,
          topGap: 'trust',
          updatedAt: now - 2,
        },
      ],
      aggregate: { count: 3, averageConfidence: 0.4667, topGap: 'authority' },
    });
    expect(context.partner).toEqual({
      avatar: (await desk.client.get('/partner/avatar')).body,
      intelligence: (await desk.client.get('/partner/intelligence')).body,
      lastEventAt: now,
    });
  });

  it('shows the 50 buyers of whom something was told last, and counts all', async () => {
    const now = Date.now();
    const { partner, desk } = await told();
    for (let index = 60; index > 0; index--) {
      await partner.report(of(`b-${index}`, 'overall', 0.5, { firedAt: now - index }));
    }
    const { profiles, aggregate } = (await desk.client.get('/context')).body.buyerContext;
    expect(profiles.map(({ buyerId }: { buyerId: string }) => buyerId)).toEqual(
      Array.from({ length: 50 }, (_, index) => `b-${index + 1}`),
    );
    expect(aggregate).toEqual({ count: 60, averageConfidence: 0.5, topGap: null });
  });

  it('counts the signals of the partner as scored', async () => {
    const { desk } = await told(of('a', 'trust', 0.3), of('a', 'trust', 0.4));
    const { metrics, signals } = (await desk.client.get('/context')).body;
    expect(metrics.signalsScored).toBe(2);
    expect(signals).toHaveLength(2);
    expect(signals[0]).toMatchObject({ type: 'confidence', score: 0.4, source: { type: 'partner' } });
  });
});

describe('the briefing of a capo', () => {
  it('has the buyers', async () => {
    const { desk } = await told(of('a', 'trust', 0.2), of('b', 'urgency', 0.6));
    const run = vi.spyOn(test.app.get<CapoRunner>(CAPO_RUNNER), 'run');
    const { approvalId } = await desk.handIn({
      text: 'Write a document "Overview": "This week."',
      capo: 'ceo',
    });
    await desk.ready(approvalId);
    const { buyerContext } = run.mock.calls[0]![0];
    run.mockRestore();
    expect(buyerContext.aggregate).toEqual({ count: 2, averageConfidence: 0.4, topGap: 'trust' });
    expect(buyerContext.profiles.toSorted((a, b) => a.confidence! - b.confidence!)).toMatchObject([
      { buyerId: 'a', stage: 'awareness', confidence: 0.2 },
      { buyerId: 'b', stage: 'evaluation', confidence: 0.6 },
    ]);
  });
});

describe('the trust figures', () => {
  it('count what came in within a half-open range, by the time of receipt', async () => {
    const from = Date.UTC(2026, 10, 19);
    const to = from + DAY_MS;
    const { partner, workspaceId } = await told();
    const clock = vi.spyOn(test.app.get(Clock), 'now');
    const at = (receivedAt: number, update: Update) => {
      clock.mockReturnValue(receivedAt);
      // Fired on the other side of the border: it is the receipt that counts.
      return partner.report({ ...update, firedAt: receivedAt + (receivedAt < to ? 0 : -1000) });
    };
    await at(from - 1, of('a', 'trust', 0));
    await at(from, of('a', 'trust', 0.2));
    await at(from + 5, of('b', 'trust', 0.4));
    await at(from + 9, of('a', 'overall', 0.1));
    await at(to - 1, of('b', 'urgency', 0.5));
    await at(to, of('b', 'urgency', 0));
    const reader = test.app.get(TrustFiguresReader, { strict: false });
    const scope = { workspaceId, teamIds: 'all' as const };
    expect(await reader.read(scope, from, to)).toEqual({
      scoresCompleted: 4,
      averageScore: expect.closeTo(0.3, 10),
      topGap: 'trust',
    });
    expect(await reader.read(scope, to, to + DAY_MS)).toEqual({
      scoresCompleted: 1,
      averageScore: 0,
      topGap: 'urgency',
    });
    expect(await reader.read(scope, from - DAY_MS, from - 2)).toEqual({
      scoresCompleted: 0,
      averageScore: null,
      topGap: null,
    });
  });
});
