import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/platform/kernel/ids.js';
import { Client } from '../support/client.js';
import { type Service, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';
import { startMailServer, type MailServer } from '../e2e/mail/mail-server.js';

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
    await service.rows<{ n: number }>(
      'select count(*)::int as n from connector_checks where connector_id = $1',
      [connectorId],
    )
  )[0]!.n;

describe('three processes', () => {
  it('have one connector of each kind, for five thousand workspaces', { timeout: 90_000 }, async () => {
    await service.rows(
      `insert into workspaces (workspace_id, name, tier)
       select 'wks_' || lpad(n::text, 26, '0'), 'Workspace ' || n, 'pro' from generate_series(1, 5000) n`,
    );
    // Connectors are made when a process starts.
    await service.start();
    const rows = await service.rows<{ kind: string; n: number }>(
      `select kind, count(*)::int as n from connectors where kind <> 'partner' group by kind order by kind`,
    );
    expect(rows).toEqual(['database', 'mail', 'model', 'queue'].map((kind) => ({ kind, n: 1 })));
  });

  it(
    'check all that the service has within seconds of a start, whatever was due later',
    { timeout: 60_000 },
    async () => {
      const connectors = await service.rows<{ id: string }>(
        `update connectors set next_check_at = now() + interval '1 hour'
       where kind not in ('webhook', 'partner') returning connector_id as id`,
      );
      const counts = () => Promise.all(connectors.map(({ id }) => checks(id)));
      const before = await counts();
      const started = await service.start();
      const areAllChecked = (now: number[]) => now.every((n, index) => n > before[index]!);
      expect(await eventually(counts, areAllChecked)).toSatisfy(areAllChecked);
      await started.kill();
    },
  );

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
      await service.rows('update connectors set next_check_at = now() where connector_id = $1', [
        connector_id,
      ]);
      // Every process looks each second; each round waits until the check is stored and nothing is left of it.
      await eventually(
        () => checks(connector_id),
        (count) => count > before,
        15,
      );
      await eventually(
        () => service.rows('select 1 from work_items where id = $1', [connector_id]),
        (rows) => rows.length === 0,
      );
      expect([await checks(connector_id), mail.connections]).toEqual([before + 1, connections + 1]);
    }
  });
});

describe('a process that starts with another file of connectors', () => {
  it('has its way: connectors are shown to those that may use them, and go with the file', async () => {
    const [one, two, three] = await Promise.all(
      Array.from({ length: 3 }, () => service.createWorkspace('pro')),
    );
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-connectors-'));
    const file = join(folder, 'connectors.json');
    const operations = [{ name: 'look', description: 'Looks', method: 'GET', path: '/', readOnly: true }];
    const baseUrl = 'http://127.0.0.1:9';
    const workspaces = [newId('wks'), one!.workspaceId, two!.workspaceId];
    await writeFile(
      file,
      JSON.stringify({
        connectors: [
          { name: 'theirs', baseUrl, workspaces, operations },
          { name: 'ours', baseUrl, operations },
        ],
      }),
    );
    const more = await service.start({ CONNECTORS_FILE: file, OUTBOUND_ALLOW: '127.0.0.1:9' });
    const names = async (token: string) =>
      (await new Client(more.url, token).get('/connectors')).body.items
        .filter(({ kind }: { kind: string }) => kind === 'http')
        .map(({ name }: { name: string }) => name);
    expect(await names(one!.token)).toEqual(['theirs']);
    expect(await names(two!.token)).toEqual(['theirs']);
    expect(await names(three!.token)).toEqual([]);
    expect(await names(service.token)).toEqual(['ours']);
    expect(await service.rows(`select workspace_id from connectors where subject = 'theirs'`)).toEqual([
      { workspace_id: one!.workspaceId },
    ]);

    await service.start();
    expect(await service.rows(`select 1 from connectors where kind = 'http'`)).toEqual([]);
    await rm(folder, { recursive: true });
  }, 90_000);
});
