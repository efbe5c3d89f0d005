import { expect, it } from 'vitest';
import { prepareDatabase } from '../../src/platform/database/prepare-database.js';
import { createEarlierDatabase } from '../support/earlier-database.js';

/** As a version left it that named the connectors of destinations by their hosts. */
const ROWS = `
  select set_config('app.workspace_id', 'wks_1', false);
  insert into workspaces (workspace_id, name, tier) values ('wks_1', 'One', 'pro');
  insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
    sealed_secret, created_by, created_at)
  values ('whk_1', 'wks_1', 'ERP of Acme', 'https://eo1x2.example/', '{report.daily}', 'active', '2026-04', 's', '{}', now()),
    ('whk_2', 'wks_1', '', 'https://eo1x3.example/', '{report.daily}', 'active', '2026-04', 's', '{}', now());
  insert into connectors (workspace_id, connector_id, kind, subject, name, reason, next_check_at)
  values ('wks_1', 'con_1', 'webhook', 'whk_1', 'eo1x2.example', 'It has not been checked yet.', now()),
    ('wks_1', 'con_2', 'webhook', 'whk_2', 'eo1x3.example', 'It has not been checked yet.', now()),
    ('wks_1', 'con_3', 'http', 'crm', 'crm', 'It has not been checked yet.', now())`;

it('connectors of destinations have no host in their names afterwards, whoever owns the database', async () => {
  const database = await createEarlierDatabase(1765_000_000_110);
  const { url, administrator } = database;
  try {
    await administrator.query(ROWS);

    await prepareDatabase(url);

    const { rows } = await administrator.query('select name from connectors order by connector_id');
    expect(rows).toEqual([{ name: 'ERP of Acme' }, { name: 'Webhook destination whk_2' }, { name: 'crm' }]);
  } finally {
    await database.drop();
  }
}, 60_000);
