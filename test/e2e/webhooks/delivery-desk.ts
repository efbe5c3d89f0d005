import { DELIVERY_WORK, EVENT_TYPES } from '../../../src/features/events/events.js';
import { secretPurpose } from '../../../src/features/webhooks/destination-secrets.js';
import { WORK_TOPIC } from '../../../src/platform/work/work.js';
import { Channel } from '../../../src/platform/database/channel.js';
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
  /** When its work is due; null when there is none any more. */
  due_at: Date | null;
}

/** Registers a destination as it stands in the table, so that a test can begin in any state. */
export async function register(
  app: TestApp,
  url: string,
  columns: {
    events?: string[];
    secret?: string;
    formerSecrets?: { secret: string; until: number }[];
    workspaceId?: string;
  } = {},
): Promise<string> {
  const destinationId = newId('whk');
  const seal = (secret: string) => app.app.get(SecretBox).seal(secret, secretPurpose(destinationId));
  await app.rows(
    `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
       sealed_secret, former_secrets, created_by, created_at)
     values ($1, $2, 'test', $3, $4, 'active', '2026-04', $5, $6::jsonb, '{}', now())`,
    [
      destinationId,
      columns.workspaceId ?? app.workspaceId,
      url,
      columns.events ?? EVENT_TYPES,
      seal(columns.secret ?? SECRET),
      JSON.stringify(
        (columns.formerSecrets ?? []).map(({ secret, until }) => ({ sealed: seal(secret), until })),
      ),
    ],
  );
  return destinationId;
}

/** The deliveries of a destination, oldest first. */
export function deliveriesOf(app: TestApp, destinationId: string): Promise<DeliveryRow[]> {
  return app.rows<DeliveryRow>(
    `select d.delivery_id, d.event_id, d.event, case when w.claimed then 'sending' else d.status end as status,
       d.attempts, w.due_at
     from webhook_deliveries d left join work_items w on w.kind = 'webhook.deliver' and w.id = d.delivery_id
     where d.destination_id = $1 order by d.created_at, d.delivery_id`,
    [destinationId],
  );
}

/** Tells the workers of the application that this destination has something due. */
export function notifyWorkers({ app, workspaceId }: TestApp, destinationId: string): void {
  app.get(Channel).publishNow({ topic: WORK_TOPIC, workspaceId, id: `${DELIVERY_WORK} ${destinationId}` });
}

/** Logs revenue, the shortest way to an event; from an address of its own, since an address may do so 30 times a minute. */
export async function causeEvent(app: TestApp, amount = 1): Promise<string> {
  const client = new Client(app.url, app.owner.token);
  const { status, body } = await client.post('/revenue-events', { amount, currency: 'USD', source: 'test' });
  if (status !== 201) throw new Error(`the event was refused: ${status}`);
  return body.eventId as string;
}
