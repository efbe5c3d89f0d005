import { EVENT_TYPES } from '../../../src/features/events/event.js';
import { secretPurpose } from '../../../src/features/webhooks/send-delivery.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { SecretBox } from '../../../src/platform/secrets/secret-box.js';
import { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export interface DeliveryRow {
  delivery_id: string;
  event_id: string;
  event: string;
  status: string;
  attempts: { n: number; at: number; status: number | null; error: string | null; answer?: string }[];
  takes: number;
  due_at: Date | null;
}

/** Registers a destination as it stands in the table, so that a test can begin in any state. */
export async function register(
  app: TestApp,
  url: string,
  columns: { events?: string[]; secret?: string; previousSecret?: string; workspaceId?: string } = {},
): Promise<string> {
  const destinationId = newId('whk');
  const seal = (secret: string) => app.app.get(SecretBox).seal(secret, secretPurpose(destinationId));
  await app.rows(
    `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
       sealed_secret, previous_sealed_secret, previous_until, created_by, created_at)
     values ($1, $2, 'test', $3, $4, 'active', '2026-04', $5, $6, now() + interval '24 hours', '{}', now())`,
    [
      destinationId,
      columns.workspaceId ?? app.workspaceId,
      url,
      columns.events ?? EVENT_TYPES,
      seal(columns.secret ?? SECRET),
      columns.previousSecret === undefined ? null : seal(columns.previousSecret),
    ],
  );
  return destinationId;
}

/** The deliveries of a destination, oldest first. */
export function deliveriesOf(app: TestApp, destinationId: string): Promise<DeliveryRow[]> {
  return app.rows<DeliveryRow>(
    `select delivery_id, event_id, event, status, attempts, takes, due_at from webhook_deliveries
     where destination_id = $1 order by created_at, delivery_id`,
    [destinationId],
  );
}

/** Logs revenue, the shortest way to an event; from an address of its own, since an address may do so 30 times a minute. */
export async function causeEvent(app: TestApp, amount = 1): Promise<string> {
  const client = new Client(app.url, app.owner.token);
  const { status, body } = await client.post('/revenue-events', { amount, currency: 'USD', source: 'test' });
  if (status !== 201) throw new Error(`the event was refused: ${status}`);
  return body.eventId as string;
}
