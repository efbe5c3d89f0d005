import { newId } from '../../../src/platform/kernel/ids.js';
import type { TestApp } from '../../support/test-app.js';

/** The ids of rows that were made without a request. */
export interface WebhookRows {
  destinationId: string;
  eventId: string;
  deliveryId: string;
}

/** A destination and one event that was delivered to it: rows at rest, which nothing changes by itself. */
export async function leaveDelivered(
  { rows }: Pick<TestApp, 'rows'>,
  workspaceId: string,
): Promise<WebhookRows> {
  const ids = { destinationId: newId('whk'), eventId: newId('evt'), deliveryId: newId('dlv') };
  await rows(
    `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
       sealed_secret, created_by, created_at)
     values ($1, $2, 'Ledger', 'https://receiver.example/hook', '{report.daily}', 'active', '2026-04', 'x', '{}', now())`,
    [ids.destinationId, workspaceId],
  );
  await rows(
    `insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
     values ($1, $2, 'report.daily', $3, '{}', now())`,
    [ids.eventId, workspaceId, newId('req')],
  );
  await rows(
    `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, created_at)
     values ($1, $2, $3, $4, 'report.daily', 'delivered', now())`,
    [ids.deliveryId, workspaceId, ids.destinationId, ids.eventId],
  );
  return ids;
}
