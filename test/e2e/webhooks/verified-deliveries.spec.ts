import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { notifyWorkers, register, SECRET } from './delivery-desk.js';

const COUNT = 1_000;
const SEED = 20261121;

/** What JSON can hold and a careless receiver trips over: any script, line separators, controls, quotes, emoji. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom('\u2028', '\u2029', '\u0007', '"', '\\', 'é', '漢', '🎩', '\u200f'),
    maxLength: 60,
  }),
);
const payload = fc.dictionary(
  text,
  fc.oneof(text, fc.double(), fc.boolean(), fc.array(text, { maxLength: 5 })),
  {
    maxKeys: 6,
  },
);

describe('1,000 deliveries of any payload', () => {
  let app: TestApp;
  let receiver: EventReceiver;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    app = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  });
  afterAll(async () => {
    await app.close();
    await receiver.close();
  });

  it(
    'arrive byte for byte, and are verified by stripe and standardwebhooks',
    { timeout: 60_000 },
    async () => {
      const destinationId = await register(app, receiver.url);
      const bodies = new Map<string, string>(
        fc.sample(payload, { numRuns: COUNT, seed: SEED }).map((content, index) => {
          // Some are as large as an answer may be that is read: 64 KiB.
          const filled = index % 100 === 0 ? { ...content, filler: '漢'.repeat(21_800) } : content;
          return [newId('evt'), JSON.stringify({ event: 'directive.created', payload: filled })];
        }),
      );
      await app.rows(
        `with events as (
         insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
         select key, $1, 'directive.created', $2, value, now() from json_each_text($3::json) returning event_id
       ), deliveries as (
         insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
         select app.new_id('dlv'), $1, $4, event_id, 'directive.created', 'pending', now() from events
         returning delivery_id
       )
       insert into work_items (kind, id, workspace_id, queue, due_at)
       select 'webhook.deliver', delivery_id, $1, $4, now() from deliveries`,
        [app.workspaceId, newId('req'), JSON.stringify(Object.fromEntries(bodies)), destinationId],
      );
      notifyWorkers(app, destinationId);
      await eventually(
        async () => receiver.received.length,
        (count) => count === COUNT,
        50,
      );
      const standard = new Webhook(SECRET);
      for (const { eventId, body, headers } of receiver.received) {
        const sent = bodies.get(eventId)!;
        expect(body.equals(Buffer.from(sent)), eventId).toBe(true);
        const expected = JSON.parse(sent);
        const signature = headers['x-service-signature'] as string;
        expect(Stripe.webhooks.constructEvent(body, signature, SECRET)).toEqual(expected);
        expect(standard.verify(body.toString(), headers as Record<string, string>)).toEqual(expected);
        bodies.delete(eventId);
      }
      expect(bodies.size).toBe(0);
    },
  );
});
