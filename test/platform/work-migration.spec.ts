import { expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createEarlierDatabase } from '../support/earlier-database.js';

/** As a version before platform/work left it: what was due stood with each row. */
const ROWS = `
  insert into workspaces (workspace_id, name, tier) values ('wks_1', 'One', 'pro');
  insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
    sealed_secret, previous_sealed_secret, previous_until, probe_at, created_by, created_at)
  values ('whk_1', 'wks_1', '', 'https://receiver.example/', '{report.daily}', 'paused', '2026-04', 'new', 'old',
      now() + interval '1 hour', now() + interval '10 minutes', '{}', now()),
    ('whk_2', 'wks_1', '', 'https://receiver.example/', '{report.daily}', 'active', '2026-04', 'new', 'older',
      now() - interval '1 hour', null, '{}', now());
  insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
  values ('evt_1', 'wks_1', 'report.daily', 'req_1', '{}', now());
  insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, attempts, due_at,
    created_at)
  values ('dlv_1', 'wks_1', 'whk_1', 'evt_1', 'report.daily', 'sending', '[]', now() + interval '5 seconds', now()),
    ('dlv_2', 'wks_1', 'whk_1', 'evt_1', 'report.daily', 'sending', '[{"n": 1}]', now(), now()),
    ('dlv_3', 'wks_1', 'whk_1', 'evt_1', 'report.daily', 'delivered', '[]', null, now())`;

it('what was due is work afterwards, whoever owns the database', async () => {
  const database = await createEarlierDatabase(1763_700_000_000);
  const { url, administrator } = database;
  try {
    await administrator.query(ROWS);

    await prepareDatabase(url);

    const rows = async (sql: string) => (await administrator.query(sql)).rows;
    expect(await rows('select kind, id, workspace_id, queue, claimed from work_items order by id')).toEqual([
      { kind: 'webhook.deliver', id: 'dlv_1', workspace_id: 'wks_1', queue: 'whk_1', claimed: false },
      { kind: 'webhook.deliver', id: 'dlv_2', workspace_id: 'wks_1', queue: 'whk_1', claimed: false },
    ]);
    expect(await rows('select kind, queue, opens_at > now() as later from work_breakers')).toEqual([
      { kind: 'webhook.deliver', queue: 'whk_1', later: true },
    ]);
    expect(await rows('select delivery_id, status from webhook_deliveries order by delivery_id')).toEqual([
      { delivery_id: 'dlv_1', status: 'pending' },
      { delivery_id: 'dlv_2', status: 'failed' },
      { delivery_id: 'dlv_3', status: 'delivered' },
    ]);
    expect(await rows('select former_secrets from webhook_destinations order by destination_id')).toEqual([
      { former_secrets: [{ sealed: 'old', until: expect.any(Number) }] },
      { former_secrets: [] },
    ]);
    const unforced = await rows(
      `select relname from pg_class where relname = any ('{directives,work_packets,webhook_deliveries,
         webhook_destinations,work_items,work_breakers}') and not relforcerowsecurity`,
    );
    expect(unforced).toEqual([]);
  } finally {
    await database.drop();
  }
});
