import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReconcileConnectors } from '../../../src/features/connector-health/reconcile-connectors.js';
import { VisibleConnectors } from '../../../src/features/connector-health/visible-connectors.reader.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { rotateSecret } from '../partner/partner-desk.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { ConnectorHealthDesk } from './connector-health-desk.js';
import { leaveChecked } from './connector-rows.js';

const SECRET = 'a secret of Acme 2026';

let test: TestApp;
let desk: ConnectorHealthDesk;
let receiver: EventReceiver;
let other: TestWorkspace;
beforeAll(async () => {
  receiver = await startEventReceiver();
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  desk = new ConnectorHealthDesk(test);
  other = await test.createWorkspace();
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});

const kindsOf = ({ body }: { body: any }) => body.items.map(({ kind }: { kind: string }) => kind);

describe('GET /api/pro/connectors: 200', () => {
  it('lists what the whole service has, to every workspace under the same id', async () => {
    const { body } = await test.owner.get('/connectors');
    const theirs = await other.owner.get('/connectors');
    expect(kindsOf(theirs)).toEqual(['database', 'queue', 'mail', 'model']);
    expect(theirs.body.items).toEqual(body.items.slice(0, 4));
    expect(body.items[0]).toEqual({
      connectorId: expect.stringMatching(/^con_[0-9a-z]{26}$/),
      name: 'Database',
      kind: 'database',
      status: 'yellow',
      reason: 'It has not been checked yet.',
      latencyMs: null,
      lastCheckedAt: null,
      lastOkAt: null,
      consecutiveFailures: 0,
    });
  });

  it('answers any member, and shows nothing that tells the first workspace', async () => {
    const viewer = await test.createMember(other.workspaceId, 'viewer');
    const { status, text } = await viewer.get('/connectors');
    expect(status).toBe(200);
    expect(text).not.toContain(test.workspaceId);
  });

  it('shows a destination from the moment it is registered until it is deleted, without its address', async () => {
    const url = `http://${receiver.hostPort}/t0ken-in-the-path?key=s3cret`;
    const registered = await other.owner.post('/webhooks', { event: 'report.daily', url, secret: SECRET });
    expect(registered.status, registered.text).toBe(201);
    const { body, text } = await other.owner.get('/connectors');
    const { destinationId } = registered.body;
    expect(body.items.at(-1)).toMatchObject({
      kind: 'webhook',
      name: `Webhook destination ${destinationId}`,
    });
    expect(text).not.toMatch(/t0ken|s3cret/);
    expect(text).not.toContain(receiver.hostPort);
    expect(kindsOf(await test.owner.get('/connectors'))).not.toContain('webhook');

    await other.owner.delete(`/webhooks/${destinationId}`);
    expect(kindsOf(await other.owner.get('/connectors'))).not.toContain('webhook');
    expect(await desk.all('webhook', other.workspaceId)).toEqual([]);
  });

  it('names destinations at one host by their descriptions or ids, for every role and in the cursors too', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const register = async (path: string, description?: string) => {
      const url = `http://${receiver.hostPort}/${path}`;
      const { status, body, text } =
        description === undefined
          ? await owner.post('/webhooks', { event: 'report.daily', url, secret: SECRET })
          : await owner.post('/partner/webhooks', { description, url });
      expect(status, text).toBe(201);
      return body.destinationId as string;
    };
    await register('erp', 'ERP of Acme');
    const unnamed = await register('two');
    await register('long', '🎩'.repeat(200));
    const itself = await register('four', `http://${receiver.hostPort}/four`);
    const names = [
      'ERP of Acme',
      `Webhook destination ${unnamed}`,
      '🎩'.repeat(200),
      `Webhook destination ${itself}`,
    ];
    const members = await Promise.all(
      (['admin', 'operator', 'viewer'] as const).map((role) => test.createMember(workspaceId, role)),
    );
    for (const client of [owner, ...members]) {
      const { body, text } = await client.get('/connectors');
      expect(body.items.slice(4).map(({ name }: { name: string }) => name)).toEqual(names);
      expect(text).not.toContain(receiver.hostPort);
    }
    const viewer = members[2]!;
    let cursor = (await viewer.get('/connectors?limit=4')).body.nextCursor;
    const read: string[] = [];
    while (cursor !== null) {
      expect(Buffer.from(cursor, 'base64url').toString()).not.toContain(receiver.hostPort);
      const page = await viewer.get(`/connectors?limit=1&cursor=${cursor}`);
      expect(page.status, page.text).toBe(200);
      read.push(...page.body.items.map(({ name }: { name: string }) => name));
      cursor = page.body.nextCursor;
    }
    expect(read).toEqual(names);
  });

  it('adds at the next start what is there from before connectors were known', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const url = `http://${receiver.hostPort}/t0ken-in-the-path`;
    const registered = await owner.post('/webhooks', { event: 'report.daily', url, secret: SECRET });
    expect(registered.status, registered.text).toBe(201);
    const described = await owner.post('/partner/webhooks', { description: 'ERP of Acme', url });
    await rotateSecret(test, workspaceId);
    await test.rows('delete from connectors where workspace_id = $1', [workspaceId]);

    await test.app.get(ReconcileConnectors).execute();
    expect(await desk.all('webhook', workspaceId)).toMatchObject([
      {
        subject: registered.body.destinationId,
        name: `Webhook destination ${registered.body.destinationId}`,
      },
      { subject: described.body.destinationId, name: 'ERP of Acme' },
    ]);
    expect(await desk.all('partner', workspaceId)).toHaveLength(1);
  });

  it('shows the partner of a workspace that has a secret for it', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    expect(kindsOf(await owner.get('/connectors'))).not.toContain('partner');
    await rotateSecret(test, workspaceId);
    expect(kindsOf(await owner.get('/connectors'))).toContain('partner');
  });

  it('pages', async () => {
    const first = (await other.owner.get('/connectors?limit=3')).body;
    expect(first).toMatchObject({ total: 4, limit: 3, offset: 0 });
    const rest = (await other.owner.get(`/connectors?limit=3&cursor=${first.nextCursor}`)).body;
    expect(kindsOf({ body: rest })).toEqual(['model']);
    expect(rest.nextCursor).toBeNull();
  });

  it('does not call healthy what was not checked for long', async () => {
    const { connector_id } = await desk.connector('queue');
    await desk.checked(connector_id);
    await test.rows(
      `update connectors set next_check_at = 'infinity', status = 'green' where connector_id = $1`,
      [connector_id],
    );
    const shown = async () =>
      (await test.owner.get('/connectors')).body.items.find(({ kind }: { kind: string }) => kind === 'queue');
    expect(await shown()).toMatchObject({ status: 'green' });
    // No worker can claim it: its work is another's, as far as anyone can tell.
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at) values ('service.check', $1, $2, $1, 'infinity')`,
      [connector_id, test.workspaceId],
    );
    await test.rows(
      `update connectors set next_check_at = now() - interval '11 minutes' where connector_id = $1`,
      [connector_id],
    );
    expect(await shown()).toMatchObject({ status: 'red', reason: expect.stringContaining('too long ago') });
    await test.rows(`update connectors set next_check_at = 'infinity' where connector_id = $1`, [
      connector_id,
    ]);
    await test.rows(`delete from work_items where id = $1`, [connector_id]);
  });
});

describe('GET /api/pro/connectors: 401 and 422', () => {
  it('refuses whoever has no token', async () => {
    expect((await new Client(test.url, 'cons_nobody').get('/connectors')).status).toBe(401);
  });

  it('refuses a cursor of another list, a limit that is none, and a parameter that it does not know', async () => {
    for (const query of ['cursor=bm9uZQ', 'limit=0', 'status=red']) {
      expect((await other.owner.get(`/connectors?${query}`)).status, query).toBe(422);
    }
  });
});

describe('GET /api/pro/connectors/{connectorId}/checks: 200', () => {
  it('lists the checks, newest first, page by page', async () => {
    const { connector_id } = await desk.connector('model');
    await desk.checked(connector_id, 3);
    const path = `/connectors/${connector_id}/checks`;
    const { body } = await test.owner.get(`${path}?limit=2`);
    expect(body.items.map(({ n }: { n: number }) => n)).toEqual([3, 2]);
    expect(body.items[0]).toEqual({
      n: 3,
      checkedAt: expect.any(Number),
      status: 'green',
      reason: 'Drafts are made by the built-in runner, which needs no service outside.',
      latencyMs: null,
      changed: false,
    });
    const rest = (await test.owner.get(`${path}?limit=2&cursor=${body.nextCursor}`)).body;
    expect(rest.items).toMatchObject([{ n: 1, changed: true }]);
  });

  it('shows other workspaces the checks of what the whole service has', async () => {
    const { connector_id } = await desk.connector('model');
    const path = `/connectors/${connector_id}/checks`;
    const { status, body } = await other.owner.get(path);
    expect(status).toBe(200);
    expect(body).toEqual((await test.owner.get(path)).body);
  });
});

describe('GET /api/pro/connectors/{connectorId}/checks: 404', () => {
  it('does not tell one of another workspace from one that does not exist', async () => {
    const foreign = await leaveChecked(test, test.workspaceId);
    for (const id of [foreign, newId('con'), 'con', newId('sig')]) {
      const { status, body } = await other.owner.get(`/connectors/${id}/checks`);
      expect([status, body.error.code], id).toEqual([404, 'NOT_FOUND']);
    }
    await test.rows('delete from connectors where connector_id = $1', [foreign]);
  });
});

describe('the tile connectorHealth', () => {
  const DAY = 86_400_000;

  it('is the share of the connectors that are green, and for each day the share of the time', async () => {
    const { workspaceId } = await test.createWorkspace();
    await test.rows(`update connectors set audience = '{}' where workspace_id = $1`, [test.workspaceId]);
    const now = Date.now();
    const ids = [await leaveChecked(test, workspaceId), await leaveChecked(test, workspaceId)];
    const at = (n: number) => new Date(now - n * DAY);
    // One is green for three days; the other is red for the second half of the last day.
    await test.rows(`update connector_checks set checked_at = $2 where connector_id = any($1)`, [ids, at(3)]);
    await test.rows(`insert into connector_checks values ($1, $2, 2, $3, 'red', 'It failed.', null, true)`, [
      workspaceId,
      ids[1],
      at(0.5),
    ]);
    await test.rows(`update connectors set status = 'red' where connector_id = $1`, [ids[1]]);
    const tile = test.app.get(VisibleConnectors, { strict: false });
    const scope = { workspaceId, teamIds: 'all' as const };
    expect(await tile.now(scope)).toBe(50);
    const days = [5, 3, 2, 1].map((n) => ({ from: now - n * DAY, to: now - (n - 1) * DAY }));
    const daily = await tile.daily(scope, days);
    expect(daily[0]).toBeNull();
    expect(daily.slice(1, 3)).toEqual([100, 100]);
    expect(daily[3]).toBeCloseTo(75, 0);
    expect(await tile.figures({ scope, days })).toMatchObject({ value: 50, before: null });
    // Nobody knows how it was before the first check, which is not the same as an outage.
    const { sparkline } = await tile.figures({ scope, days });
    expect(sparkline.slice(0, 3)).toEqual([null, 100, 100]);
    expect(sparkline[3]).toBeCloseTo(75, 0);
    await test.rows(
      `update connectors set audience = '{*}' where workspace_id = $1 and kind in ('database', 'queue', 'mail', 'model')`,
      [test.workspaceId],
    );
  });

  it('is nothing where nothing was checked', async () => {
    const { workspaceId } = await test.createWorkspace();
    await test.rows(`update connectors set last_checked_at = null where workspace_id = $1`, [
      test.workspaceId,
    ]);
    const tile = test.app.get(VisibleConnectors, { strict: false });
    expect(await tile.now({ workspaceId, teamIds: 'all' })).toBeNull();
  });
});
