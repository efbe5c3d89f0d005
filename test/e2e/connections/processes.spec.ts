import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';
import { startMailServer, type MailServer } from '../mail/mail-server.js';

/** Three processes of one service over one database. */
let service: Service;
let mail: MailServer;
beforeAll(async () => {
  mail = await startMailServer();
  service = await startService(3, { SMTP_URL: mail.url });
}, 120_000);
afterAll(async () => {
  await service.close();
  await mail.close();
});

const checks = async (connectorId: string) =>
  (
    await service.rows<{ n: number }>('select count(*)::int as n from connector_checks where connector_id = $1', [
      connectorId,
    ])
  )[0]!.n;

describe('three processes', () => {
  it('have one connector of each kind, for all workspaces', async () => {
    for (let n = 0; n < 20; n++) await service.createWorkspace('pro');
    const rows = await service.rows<{ kind: string; n: number }>(
      `select kind, count(*)::int as n from connectors where kind <> 'partner' group by kind order by kind`,
    );
    expect(rows).toEqual(['database', 'mail', 'model', 'queue'].map((kind) => ({ kind, n: 1 })));
  });

  it('make one check of what is due, and one connection to the mail server', async () => {
    const [row] = await service.rows<{ connector_id: string }>(
      `update connectors set next_check_at = 'infinity' where kind = 'mail' returning connector_id`,
    );
    const { connector_id } = row!;
    await eventually(
      () => service.rows('select 1 from work_items where id = $1', [connector_id]),
      (rows) => rows.length === 0,
    );
    for (let round = 1; round <= 5; round++) {
      const before = await checks(connector_id);
      const connections = mail.connections;
      await service.rows('update connectors set next_check_at = now() where connector_id = $1', [connector_id]);
      // Every process looks each second; each round waits until the check is stored and nothing is left of it.
      await eventually(() => checks(connector_id), (count) => count > before, 15);
      await eventually(
        () => service.rows('select 1 from work_items where id = $1', [connector_id]),
        (rows) => rows.length === 0,
      );
      expect([await checks(connector_id), mail.connections]).toEqual([before + 1, connections + 1]);
    }
  });
});
