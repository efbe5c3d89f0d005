import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { DeliveryService } from '../../../src/features/webhooks/delivery.service.js';
import type { ClaimedDelivery } from '../../../src/features/webhooks/deliveries.repository.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { causeEvent, deliveriesOf, notifyWorkers, register, SECRET } from './delivery-desk.js';

/** One receiver for all; each test says how it answers on its own path. */
type Script = Parameters<typeof startEventReceiver>[0];

let app: TestApp;
let receiver: EventReceiver;
const scripts = new Map<string, NonNullable<Script>>();
const counts = new Map<string, number>();
let paths = 0;

/** A destination of its own path; `script` answers, with the number of the request on that path. */
async function destination(script?: Script, columns: Parameters<typeof register>[2] = {}) {
  const path = `/${++paths}`;
  if (script) scripts.set(path, script);
  const url = new URL(path, receiver.url).href;
  const destinationId = await register(app, url, columns);
  const received = () => receiver.received.filter((one) => one.path === path);
  return { destinationId, url, received };
}

const status =
  (...codes: number[]): NonNullable<Script> =>
  (_, response, count) =>
    response.writeHead(codes[Math.min(count, codes.length) - 1]!).end();

const deliveries = (destinationId: string) => deliveriesOf(app, destinationId);

/** What falls due for a destination that is sent to, without anyone being told, has arrived: the sweep has been round. */
async function untilSwept(witness: Awaited<ReturnType<typeof destination>>): Promise<void> {
  const { delivery_id: deliveryId } = await ended(witness.destinationId, 'delivered');
  const { length } = witness.received();
  await app.rows(`update webhook_deliveries set status = 'pending' where delivery_id = $1`, [deliveryId]);
  await app.rows(
    `insert into work_items (kind, id, workspace_id, queue, due_at) values ('webhook.deliver', $1, $2, $3, now())`,
    [deliveryId, app.workspaceId, witness.destinationId],
  );
  await eventually(
    async () => witness.received().length,
    (count) => count > length,
  );
}

async function ended(destinationId: string, expected: string, seconds?: number) {
  const [row] = await eventually(
    () => deliveries(destinationId),
    ([first]) => first?.status === expected,
    seconds,
  );
  return row!;
}

/** Lets the waits pass: what is due later is due now. */
async function makeDue(destinationId: string): Promise<void> {
  await app.rows(`update work_items set due_at = now() where queue = $1 and not claimed`, [destinationId]);
  notifyWorkers(app, destinationId);
}

/** Lets nothing through to a destination. */
async function openBreaker(destinationId: string): Promise<void> {
  await app.rows(
    `insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
     values ('webhook.deliver', $1, $2, now() + interval '1 hour', interval '1 hour')`,
    [destinationId, app.workspaceId],
  );
}

const signalsAbout = (destinationId: string) =>
  app.rows<{ title: string; body: string }>(`select title, body from signals where entity->>'id' = $1`, [
    destinationId,
  ]);

beforeAll(async () => {
  receiver = await startEventReceiver((received, response) => {
    const count = (counts.get(received.path) ?? 0) + 1;
    counts.set(received.path, count);
    const script = scripts.get(received.path);
    if (script) script(received, response, count);
    else response.end();
  });
  app = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
});
// Each test has its own destination; those of earlier tests receive nothing more.
afterEach(async () => {
  await app.rows(`update webhook_destinations set deleted_at = now() where deleted_at is null`);
  await app.rows(`update webhook_deliveries set status = 'dead' where status in ('pending', 'failed')`);
  await app.rows(`delete from work_items where kind = 'webhook.deliver'`);
});
afterAll(async () => {
  await app.close();
  await receiver.close();
});

describe('a delivery', () => {
  it('carries the event as it was recorded, with the head of the chain', async () => {
    const { destinationId, received } = await destination();
    const eventId = await causeEvent(app, 12.5);
    const delivery = await ended(destinationId, 'delivered');
    const [head] = await app.rows<{ seq: string; hash: string }>(
      `select seq, hash from receipts where workspace_id = $1 and entity_id = $2`,
      [app.workspaceId, eventId],
    );
    expect(JSON.parse(received()[0]!.body.toString())).toEqual({
      event: 'revenue.recorded',
      timestamp: expect.any(Number),
      workspaceId: app.workspaceId,
      payload: {
        eventId,
        amount: 12.5,
        currency: 'USD',
        source: 'test',
        receiptHead: { seq: Number(head!.seq), hash: head!.hash },
      },
    });
    expect(received()[0]!.eventId).toBe(delivery.event_id);
    expect(delivery).toMatchObject({
      due_at: null,
      attempts: [{ n: 1, status: 200, error: null }],
    });
  });

  it('has exactly the documented headers', async () => {
    const { destinationId, received } = await destination();
    await causeEvent(app);
    await ended(destinationId, 'delivered');
    const [{ rawHeaders, body }] = received() as [ReturnType<typeof received>[number]];
    expect(Object.fromEntries(rawHeaders)).toEqual({
      host: receiver.hostPort,
      connection: 'keep-alive',
      'content-length': String(body.length),
      'Content-Type': 'application/json',
      'User-Agent': 'Consigliere',
      'Accept-Encoding': 'identity',
      'X-Service-Event': 'revenue.recorded',
      'X-Service-RequestId': expect.stringMatching(/^req_[0-9a-hjkmnp-tv-z]{26}$/),
      'X-Service-Signature': expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/),
      'webhook-id': expect.stringMatching(/^evt_/),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(rawHeaders).toHaveLength(12);
  });

  it('names the request that caused the event', async () => {
    const { received } = await destination();
    const { headers } = await app.owner.post('/revenue-events', {
      amount: 1,
      currency: 'USD',
      source: 'test',
    });
    const [one] = await eventually(
      async () => received(),
      (all) => all.length > 0,
    );
    expect(one!.headers['x-service-requestid']).toBe(headers.get('x-request-id'));
  });

  it('is verified by the libraries that receivers use', async () => {
    const { destinationId, received } = await destination();
    await causeEvent(app);
    await ended(destinationId, 'delivered');
    const [{ body, headers }] = received() as [ReturnType<typeof received>[number]];
    const event = Stripe.webhooks.constructEvent(body, headers['x-service-signature'] as string, SECRET);
    expect(event).toMatchObject({ event: 'revenue.recorded' });
    expect(new Webhook(SECRET).verify(body.toString(), headers as Record<string, string>)).toMatchObject({
      event: 'revenue.recorded',
    });
  });

  it('is signed under each former secret until its own time', async () => {
    const [first, second, over] = ['the first secret of sixteen', SECRET, 'one whose time is over'] as const;
    const { destinationId, received } = await destination(undefined, {
      secret: 'the new secret of sixteen',
      formerSecrets: [
        { secret: second, until: Date.now() + 80_000 },
        { secret: first, until: Date.now() + 40_000 },
        { secret: over, until: Date.now() - 1 },
      ],
    });
    await causeEvent(app);
    await ended(destinationId, 'delivered');
    const [{ body, headers }] = received() as [ReturnType<typeof received>[number]];
    const signature = headers['x-service-signature'] as string;
    expect(signature.match(/v1=/g)).toHaveLength(3);
    for (const secret of ['the new secret of sixteen', second, first]) {
      expect(Stripe.webhooks.constructEvent(body, signature, secret)).toBeTruthy();
    }
    expect(() => Stripe.webhooks.constructEvent(body, signature, over)).toThrow('No signatures found');
  });

  it('is signed under both secrets while a rotation overlaps', async () => {
    const { destinationId, received } = await destination(undefined, {
      secret: 'the new secret of sixteen',
      formerSecrets: [{ secret: SECRET, until: Date.now() + 3_600_000 }],
    });
    await causeEvent(app);
    await ended(destinationId, 'delivered');
    const [{ body, headers }] = received() as [ReturnType<typeof received>[number]];
    const signature = headers['x-service-signature'] as string;
    expect(signature).toMatch(/^t=\d{10},v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
    for (const secret of [SECRET, 'the new secret of sixteen']) {
      expect(Stripe.webhooks.constructEvent(body, signature, secret)).toBeTruthy();
    }
  });

  it('keeps the beginning of the answer, and no more than 2 KiB of it', async () => {
    const { destinationId } = await destination((_, response) => response.end('n'.repeat(50_000)));
    await causeEvent(app);
    expect((await ended(destinationId, 'delivered')).attempts[0]!.answer).toBe('n'.repeat(2048));
  });
});

describe('an event', () => {
  it('is kept for no one when no destination wants it', async () => {
    await destination(undefined, { events: ['kill.activated'] });
    await causeEvent(app);
    expect(
      await app.rows(`select 1 from webhook_events where event = 'revenue.recorded' and created_at > now()`),
    ).toEqual([]);
    expect(await app.rows(`select 1 from work_items where kind = 'webhook.deliver'`)).toEqual([]);
  });

  it('goes to every destination of its workspace that wants it, and to none of another', async () => {
    const [one, two] = [await destination(), await destination()];
    const other = await app.createWorkspace();
    const foreign = await destination(undefined, { workspaceId: other.workspaceId });
    await causeEvent(app);
    await ended(one.destinationId, 'delivered');
    await ended(two.destinationId, 'delivered');
    expect(one.received()[0]!.eventId).toBe(two.received()[0]!.eventId);
    expect(one.received()[0]!.body).toEqual(two.received()[0]!.body);
    expect(await deliveries(foreign.destinationId)).toEqual([]);
  });

  it('is not written when its act is undone', async () => {
    const { destinationId } = await destination();
    const event = { amount: 1, currency: 'USD', source: 'test', externalId: 'once' };
    await app.owner.post('/revenue-events', event);
    await ended(destinationId, 'delivered');
    expect((await app.owner.post('/revenue-events', { ...event, amount: 2 })).status).toBe(409);
    expect((await app.owner.post('/revenue-events', event)).status).toBe(200);
    expect(await deliveries(destinationId)).toHaveLength(1);
  });

  it('of each kind tells what has happened', async () => {
    const { destinationId, received } = await destination();
    const text = 'Email jane@acme.example, subject "Your order": Your order ships on Friday.';
    const { directiveId, approvalId } = (await app.owner.post('/directive', { text })).body;
    await eventually(
      () => app.owner.get(`/approvals/${approvalId}?wait=5`),
      ({ body }) => body.ready,
    );
    const approval = (await app.owner.get(`/approvals/${approvalId}`)).body;
    await app.owner.post(`/approvals/${approvalId}/approve`);
    await eventually(
      () => app.owner.get(`/directives/${directiveId}`),
      ({ body }) => body.status === 'executed',
    );
    const killed = (await app.owner.post('/guardian/kill-switch', { reason: 'a drill' })).body;
    await app.owner.post('/guardian/revert', { reason: 'over' });
    await eventually(
      () => deliveries(destinationId),
      (rows) => rows.length === 4 && rows.every((row) => row.status === 'delivered'),
    );
    const payloads = Object.fromEntries(
      received().map(({ body }) => {
        const { event, payload } = JSON.parse(body.toString());
        return [event, payload];
      }),
    );
    const receiptHead = { seq: expect.any(Number), hash: expect.stringMatching(/^[0-9a-f]{64}$/) };
    const [{ receipt_id: receiptId, summary }] = (await app.rows<{ receipt_id: string; summary: string }>(
      `select receipt_id, body::jsonb->>'summary' as summary from receipts where action = 'directive.executed'`,
    )) as [{ receipt_id: string; summary: string }];
    expect(payloads).toEqual({
      'directive.created': {
        directiveId,
        text,
        capo: null,
        priority: 'medium',
        requiresApproval: true,
        receiptHead,
      },
      'approval.requested': {
        approvalId,
        directiveId,
        actionRequestId: null,
        questionId: null,
        title: approval.title,
        risk: approval.risk,
        reversibility: approval.reversibility,
        expiresAt: approval.expiresAt,
        url: `${app.url}/approvals/${approvalId}`,
        receiptHead,
      },
      'directive.executed': { directiveId, status: 'executed', summary, receiptId, receiptHead },
      'kill.activated': { reason: 'a drill', epoch: killed.epoch, halted: killed.halted, receiptHead },
    });
  });
});

describe('an event that is recorded while a claim waits for its turn', () => {
  it('is delivered, with all that belongs to it', async () => {
    const { destinationId, received } = await destination();
    const other = new pg.Client({ connectionString: app.database.url });
    await other.connect();
    // As another process holds it that claims for the same destination.
    await other.query('begin');
    await other.query(`select pg_advisory_xact_lock(hashtextextended('webhook.deliver ' || $1, 2))`, [
      destinationId,
    ]);
    notifyWorkers(app, destinationId);
    await eventually(
      () =>
        app.rows(
          `select 1 from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
        ),
      (waiting) => waiting.length > 0,
    );
    await causeEvent(app);
    await other.query('commit');
    await other.end();
    await ended(destinationId, 'delivered');
    expect(received()).toHaveLength(1);
  });
});

describe('an attempt that fails', () => {
  it('is followed by others, with the same bytes and a signature of their own, until one arrives', async () => {
    const { destinationId, received } = await destination(status(500, 302, 204));
    await causeEvent(app);
    await eventually(
      () => deliveries(destinationId),
      ([row]) => row?.attempts.length === 2,
    );
    await makeDue(destinationId);
    const { attempts } = await ended(destinationId, 'delivered');
    expect(attempts.map(({ n, status: code, error }) => [n, code, error])).toEqual([
      [1, 500, null],
      [2, 302, null],
      [3, 204, null],
    ]);
    const [first, second, third] = received();
    expect([second!.body, third!.body]).toEqual([first!.body, first!.body]);
    expect(new Set(received().map(({ eventId }) => eventId)).size).toBe(1);
    expect(new Set(received().map(({ headers }) => headers['x-service-requestid'])).size).toBe(1);
    const [t1, t2] = received().map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(t2! - t1!).toBeGreaterThanOrEqual(1);
  });

  it('is given up after five sends', async () => {
    const { destinationId, received } = await destination(status(503));
    await causeEvent(app);
    for (let sends = 1; sends < 5; sends++) {
      await eventually(
        () => deliveries(destinationId),
        ([row]) => row?.attempts.length === sends,
      );
      await makeDue(destinationId);
    }
    const delivery = await ended(destinationId, 'dead');
    expect(delivery.attempts).toHaveLength(5);
    expect(delivery.due_at).toBeNull();
    expect(received()).toHaveLength(5);
    const [{ consecutive_failures: failures }] = (await app.rows<{ consecutive_failures: number }>(
      `select consecutive_failures from webhook_destinations where destination_id = $1`,
      [destinationId],
    )) as [{ consecutive_failures: number }];
    expect(failures).toBe(1);
  });

  it('waits at least 1 s, and longer when the receiver asks for it, to twice as long at most', async () => {
    const { destinationId, received } = await destination((_, response, count) =>
      count < 2 ? response.writeHead(429, { 'Retry-After': '3600' }).end() : response.end(),
    );
    await causeEvent(app);
    await ended(destinationId, 'delivered');
    const [first, second] = received();
    expect(second!.at - first!.at).toBeGreaterThanOrEqual(2000);
  });

  it('at an address that is not allowed any more sends nothing', async () => {
    const { destinationId, received } = await destination();
    await app.rows(
      `update webhook_destinations set url = 'https://169.254.169.254/' where destination_id = $1`,
      [destinationId],
    );
    await causeEvent(app);
    const [{ attempts }] = (await eventually(
      () => deliveries(destinationId),
      ([row]) => row?.attempts.length === 1,
    )) as [Awaited<ReturnType<typeof deliveries>>[number]];
    expect(attempts[0]).toMatchObject({ status: null, error: 'destination' });
    expect(received()).toEqual([]);
  });
});

describe('410', () => {
  it('ends the destination and whatever waits for it', async () => {
    const { destinationId, received } = await destination(status(500, 410));
    await causeEvent(app);
    await eventually(
      () => deliveries(destinationId),
      ([row]) => row?.status === 'failed',
    );
    await causeEvent(app);
    await eventually(
      () => deliveries(destinationId),
      (rows) => rows.every((row) => row.status === 'dead'),
    );
    const count = received().length;
    await causeEvent(app);
    expect(await deliveries(destinationId)).toHaveLength(2);
    expect(received()).toHaveLength(count);
    expect(
      await app.rows(`select status from webhook_destinations where destination_id = $1`, [destinationId]),
    ).toEqual([{ status: 'gone' }]);
    expect(await app.rows(`select action from receipts where entity_id = $1`, [destinationId])).toEqual([
      { action: 'webhook.gone' },
    ]);
  });
});

describe('the end of a destination', () => {
  it('does not lock out an act whose event is just being written for it', async () => {
    const { destinationId } = await destination(status(410));
    const act = new pg.Client({ connectionString: app.database.url });
    await act.connect();
    // An act in its last step: it holds the head of the chain, and refers to the destination.
    await act.query('begin');
    await act.query('select 1 from receipt_heads where workspace_id = $1 for update', [app.workspaceId]);
    await app.rows(
      `insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
       values ('evt_late', $1, 'revenue.recorded', 'req', '{}', now())`,
      [app.workspaceId],
    );
    await app.rows(
      `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
       values ('dlv_first', $1, $2, 'evt_late', 'revenue.recorded', 'pending', now())`,
      [app.workspaceId, destinationId],
    );
    await app.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       values ('webhook.deliver', 'dlv_first', $1, $2, now())`,
      [app.workspaceId, destinationId],
    );
    await eventually(
      () =>
        app.rows(`select from pg_locks join pg_stat_activity using (pid)
          where not granted and locktype in ('tuple', 'transactionid') and datname = current_database()`),
      (waiting) => waiting.length > 0,
    );
    await act.query(
      `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
       values ('dlv_late', $1, $2, 'evt_late', 'revenue.recorded', 'pending', now())`,
      [app.workspaceId, destinationId],
    );
    await act.query(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       values ('webhook.deliver', 'dlv_late', $1, $2, now())`,
      [app.workspaceId, destinationId],
    );
    await act.query('commit');
    await act.end();
    // What came in the moment of the end is not left lying.
    await eventually(
      () => deliveries(destinationId),
      (rows) => rows.length === 2 && rows.every((row) => row.status === 'dead'),
    );
    expect(JSON.stringify(app.logs)).not.toContain('deadlock');
  });
});

describe('twenty deliveries given up in a row', () => {
  it('pause the destination, keep what comes after, and a probe that arrives sends it all', async () => {
    let healthy = false;
    const { destinationId, received } = await destination((_, response) =>
      response.writeHead(healthy ? 200 : 500).end(),
    );
    for (let count = 0; count < 25; count++) await causeEvent(app);
    await eventually(
      async () => {
        await makeDue(destinationId);
        return app.rows<{ status: string }>(
          `select status from webhook_destinations where destination_id = $1`,
          [destinationId],
        );
      },
      ([row]) => row!.status === 'paused',
    );
    expect(
      await app.rows(`select type, severity from signals where entity->>'id' = $1`, [destinationId]),
    ).toEqual([{ type: 'connector', severity: 'warning' }]);

    await eventually(
      () => app.rows(`select 1 from work_items where queue = $1 and claimed`, [destinationId]),
      (rows) => rows.length === 0,
    );
    const before = received().length;
    const witness = await destination();
    await causeEvent(app);
    await makeDue(destinationId);
    await untilSwept(witness);
    expect(received()).toHaveLength(before);

    // A probe that fails is one request, and the next is an hour away.
    await app.rows(`update work_breakers set opens_at = now() where queue = $1`, [destinationId]);
    await eventually(
      async () => received().length,
      (count) => count > before,
    );
    await untilSwept(witness);
    expect(received()).toHaveLength(before + 1);
    const [{ wait }] = (await app.rows<{ wait: number }>(
      `select extract(epoch from opens_at - now())::float8 as wait from work_breakers where queue = $1`,
      [destinationId],
    )) as [{ wait: number }];
    expect(wait).toBeGreaterThan(3500);
    expect(wait).toBeLessThanOrEqual(3600);

    const dead = (await deliveries(destinationId)).filter((row) => row.status === 'dead').length;
    expect(dead).toBeGreaterThanOrEqual(20);
    healthy = true;
    await makeDue(destinationId);
    await app.rows(`update work_breakers set opens_at = now() where queue = $1`, [destinationId]);
    await eventually(
      () => deliveries(destinationId),
      (rows) => rows.every((row) => row.due_at === null),
    );
    const rows = await deliveries(destinationId);
    expect(rows).toHaveLength(26);
    expect(rows.filter((row) => row.status === 'delivered')).toHaveLength(26 - dead);
    expect(
      await app.rows(`select action from receipts where entity_id = $1 order by seq`, [destinationId]),
    ).toEqual([{ action: 'webhook.paused' }, { action: 'webhook.recovered' }]);
  });
});

describe('a slow receiver', () => {
  it('gets ten requests at a time at most, and delays no other', async () => {
    const open: ServerResponse[] = [];
    let isSlow = true;
    const slow = await destination((_, response) => (isSlow ? void open.push(response) : response.end()));
    const fast = await destination();
    for (let count = 0; count < 15; count++) await causeEvent(app);
    await eventually(
      async () => fast.received().length,
      (count) => count === 15,
    );
    await eventually(
      async () => open.length,
      (count) => count === 10,
    );
    expect((await deliveries(slow.destinationId)).map(({ status: each }) => each).toSorted()).toEqual([
      ...Array<string>(5).fill('pending'),
      ...Array<string>(10).fill('sending'),
    ]);
    isSlow = false;
    for (const response of open) response.end();
    await eventually(
      () => deliveries(slow.destinationId),
      (rows) => rows.every((row) => row.status === 'delivered'),
    );
    expect(slow.received()).toHaveLength(15);
  });
});

describe('a destination whose address changes while an attempt is under way', () => {
  it.each([
    ['a 410 does not end it', 410, 0],
    ['the last failure is not counted', 500, 4],
    ['a success does not recover it', 200, 0],
  ])('%s: the attempt is made again at the new address', async (_, answered, made) => {
    const open: ServerResponse[] = [];
    const former = await destination((_request, response) => void open.push(response));
    const next = await destination(status(500));
    // Registered for itself alone: only its address is of use here.
    await app.rows(`update webhook_destinations set deleted_at = now() where destination_id = $1`, [
      next.destinationId,
    ]);
    await openBreaker(former.destinationId);
    await causeEvent(app);
    await app.rows(
      `update webhook_deliveries set attempts = (select coalesce(jsonb_agg(jsonb_build_object('n', n, 'at', 1, 'status', 500,
         'durationMs', 1, 'error', null)), '[]') from generate_series(1, $2::int) n) where destination_id = $1`,
      [former.destinationId, made],
    );
    await app.rows('delete from work_breakers');
    notifyWorkers(app, former.destinationId);
    await eventually(async () => open.length === 1);
    const patched = await app.owner.send('PATCH', `/webhooks/${former.destinationId}`, { url: next.url });
    expect(patched.status, patched.text).toBe(200);
    await eventually(async () => next.received().length === 1);
    open[0]!.writeHead(answered).end();
    const [row] = await eventually(
      () => deliveries(former.destinationId),
      ([first]) => first!.attempts.length === made + 1 && first!.status !== 'sending',
    );
    // What counts is the answer of the new address alone.
    expect(row!.attempts.at(-1)).toMatchObject({ n: made + 1, status: 500 });
    expect(row!.status).toBe(made === 4 ? 'dead' : 'failed');
    const [stored] = await app.rows(
      `select status, consecutive_failures, last_delivery_at, deleted_at from webhook_destinations where destination_id = $1`,
      [former.destinationId],
    );
    expect(stored).toEqual({
      status: 'active',
      consecutive_failures: made === 4 ? 1 : 0,
      last_delivery_at: null,
      deleted_at: null,
    });
    expect(former.received()).toHaveLength(1);
    await app.rows(`update webhook_destinations set deleted_at = now() where destination_id = $1`, [
      former.destinationId,
    ]);
  });
});

describe('a delivery whose process died', () => {
  it('is claimed again when its lease is over, and a late result of the first claim is discarded', async () => {
    const { destinationId, url, received } = await destination();
    await openBreaker(destinationId);
    await causeEvent(app);
    // As a process leaves it that claimed it and was killed.
    await app.rows(
      `update work_items set claimed = true, attempt = 1, due_at = now() + interval '1 second' where queue = $1`,
      [destinationId],
    );
    await app.rows('delete from work_breakers');
    const delivery = await ended(destinationId, 'delivered');
    expect(delivery).toMatchObject({ attempts: [{ n: 1, status: 200 }] });
    expect(received()).toHaveLength(1);

    const claimed: ClaimedDelivery = {
      kind: 'webhook.deliver',
      id: delivery.delivery_id,
      workspaceId: app.workspaceId,
      queue: destinationId,
      attempt: 1,
      failures: 0,
      crashes: 0,
      lastError: null,
      probe: false,
      traceparent: null,
      receives: true,
      eventId: delivery.event_id,
      event: delivery.event,
      requestId: 'req',
      body: '',
      sends: 0,
      url,
      sealedSecret: '',
      formerSealedSecrets: [],
    };
    const late = { n: 1, at: Date.now(), status: 500, durationMs: 30_000, error: null };
    for (const kind of ['gone', 'given_up', 'delivered'] as const) {
      await expect(app.app.get(DeliveryService).complete(claimed, late, { kind })).rejects.toMatchObject({
        code: 'CW001',
      });
    }
    expect(await ended(destinationId, 'delivered')).toEqual(delivery);
    expect(
      await app.rows(
        `select status, consecutive_failures from webhook_destinations where destination_id = $1`,
        [destinationId],
      ),
    ).toEqual([{ status: 'active', consecutive_failures: 0 }]);
  });

  it('ends after three such processes, with a receipt and one signal for the destination', async () => {
    const { destinationId, received } = await destination();
    await openBreaker(destinationId);
    await causeEvent(app);
    await causeEvent(app);
    await app.rows(`update work_items set claimed = true, crashes = 2, due_at = now() where queue = $1`, [
      destinationId,
    ]);
    await app.rows('delete from work_breakers');
    notifyWorkers(app, destinationId);
    await eventually(
      () => deliveries(destinationId),
      (rows) => rows.every((row) => row.status === 'dead'),
    );
    expect(received()).toEqual([]);
    for (const row of await deliveries(destinationId)) {
      expect(row).toMatchObject({ due_at: null, attempts: [{ n: 1, status: null, error: 'PROCESS_ENDED' }] });
      expect(
        await app.rows(
          `select action, body::jsonb->>'outcome' as outcome from receipts where entity_id = $1`,
          [row.delivery_id],
        ),
      ).toEqual([{ action: 'delivery.failed', outcome: 'failure' }]);
    }
    expect(await signalsAbout(destinationId)).toHaveLength(1);
  });
});

describe('a secret that cannot be opened', () => {
  it('ends each delivery at once with a clear error, and is told of once', async () => {
    const { destinationId, received } = await destination();
    await app.rows(
      `update webhook_destinations set sealed_secret = 'v1.AAAA.AAAA' where destination_id = $1`,
      [destinationId],
    );
    for (let count = 0; count < 3; count++) await causeEvent(app);
    await eventually(
      () => deliveries(destinationId),
      (rows) => rows.every((row) => row.status === 'dead'),
    );
    for (const row of await deliveries(destinationId)) {
      expect(row).toMatchObject({
        due_at: null,
        attempts: [{ n: 1, status: null, error: 'SECRET_UNREADABLE' }],
      });
    }
    expect(received()).toEqual([]);
    const [signal, ...others] = await signalsAbout(destinationId);
    expect(others).toEqual([]);
    expect(signal!.title).toBe('Events for the webhook destination "test" cannot be sent.');
    expect(signal!.body).toContain('SECRETS_KEY');
    expect(signal!.body).toContain('Rotate the secret');
  });

  it('among the former ones keeps nobody from verifying with another', async () => {
    const { destinationId, received } = await destination(undefined, {
      secret: 'the new secret of sixteen',
      formerSecrets: [{ secret: SECRET, until: Date.now() + 3_600_000 }],
    });
    await app.rows(
      `update webhook_destinations set former_secrets = former_secrets || jsonb_build_array(
         jsonb_build_object('sealed', 'v1.AAAA.AAAA', 'until', 9999999999999)) where destination_id = $1`,
      [destinationId],
    );
    await causeEvent(app);
    await ended(destinationId, 'delivered');
    const [{ body, headers }] = received() as [ReturnType<typeof received>[number]];
    const signature = headers['x-service-signature'] as string;
    expect(signature.match(/v1=/g)).toHaveLength(2);
    expect(Stripe.webhooks.constructEvent(body, signature, SECRET)).toBeTruthy();
  });
});
