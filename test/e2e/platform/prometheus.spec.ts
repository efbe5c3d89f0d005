import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MetricsServer } from '../../../src/platform/observability/metrics.controller.js';
import { Checkpoints } from '../../../src/platform/receipts/checkpoints.js';
import { newOperatorToken } from '../../../src/platform/kernel/operator-token.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { ServiceProcess } from '../../support/processes.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { createTestDatabase } from '../../support/test-database.js';

/** Every sample of a scrape by its name with its labels, as Prometheus reads the text. */
function samplesOf(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const parsed = /^([a-z_:][a-z0-9_:]*(?:\{[^\n]*\})?) (\S+)$/i.exec(line);
    expect(parsed, line).not.toBeNull();
    expect(samples.has(parsed![1]!), line).toBe(false);
    samples.set(parsed![1]!, Number(parsed![2]));
  }
  return samples;
}

describe('METRICS_PORT', () => {
  let test: TestApp;
  let receiver: EventReceiver;
  let url: string;
  beforeAll(async () => {
    receiver = await startEventReceiver();
    test = await startTestApp({ METRICS_PORT: '0', OUTBOUND_ALLOW: receiver.hostPort });
    url = `http://127.0.0.1:${test.app.get(MetricsServer).port}`;
  });
  afterAll(async () => {
    await test.close();
    await receiver.close();
  });

  async function scrape(): Promise<Map<string, number>> {
    const response = await fetch(`${url}/metrics`);
    expect(response.status).toBe(200);
    return samplesOf(await response.text());
  }

  /** Figures of the database are a second old at the most. */
  const until = (name: string, value: number) => eventually(scrape, (samples) => samples.get(name) === value);

  it('answers in the text format of Prometheus, and is not kept by anybody', async () => {
    const response = await fetch(`${url}/metrics?name=x`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = await response.text();
    for (const name of samplesOf(text).keys()) {
      const base = name.replace(/\{.*/, '').replace(/_(bucket|sum|count)$/, '');
      expect(text).toMatch(new RegExp(`^# TYPE ${base}(_total)? `, 'm'));
    }
  });

  it.each([
    ['GET', '/', 404],
    ['GET', '/metricsx', 404],
    ['GET', '/api/pro/context', 404],
    ['POST', '/metrics', 405],
    ['HEAD', '/metrics', 200],
  ])('answers nothing else: %s %s is %d', async (method, path, status) => {
    expect((await fetch(url + path, { method })).status).toBe(status);
  });

  it('takes it from the port of the service', async () => {
    const direct = await fetch(`${test.url}/metrics`);
    expect(direct.status).toBe(404);
    expect(await direct.text()).not.toContain('process_cpu');
  });

  it('shows each outcome from 0 on', async () => {
    const samples = await scrape();
    for (const outcome of ['delivered', 'again', 'given_up', 'gone', 'impossible']) {
      expect(samples.get(`consigliere_deliveries_total{outcome="${outcome}"}`), outcome).toBe(0);
    }
    for (const outcome of ['answered', 'refused', 'failed']) {
      expect(samples.get(`consigliere_connector_calls_total{outcome="${outcome}"}`), outcome).toBe(0);
    }
    for (const outcome of ['accepted', 'refused', 'failed', 'impossible']) {
      expect(samples.get(`consigliere_posted_events_total{outcome="${outcome}"}`), outcome).toBe(0);
    }
    for (const outcome of ['sent', 'filed', 'refused', 'unreachable', 'unconfirmed', 'error']) {
      expect(samples.get(`consigliere_mail_total{outcome="${outcome}"}`), outcome).toBe(0);
    }
    expect(samples.get('consigliere_model_calls_total{outcome="answered"}')).toBe(0);
    expect(samples.get('consigliere_database_up')).toBe(1);
    expect(samples.get('consigliere_workspaces_killed')).toBe(0);
    expect(samples.get('consigliere_approvals_pending{state="ready"}')).toBe(0);
    expect(samples.get('consigliere_approvals_pending{state="drafting"}')).toBe(0);
  });

  it('counts approvals that wait, and the mail that leaves once one is decided', async () => {
    const { approvalId } = (
      await test.owner.post('/directive', {
        text: 'Email jane@acme.example, subject "Your order": "Your order ships on Friday."',
        capo: 'capo_ops',
      })
    ).body;
    await until('consigliere_approvals_pending{state="ready"}', 1);
    const { body } = await test.owner.get(`/approvals/${approvalId}`);
    expect(body.packets[0].action, JSON.stringify(body.packets)).toMatchObject({ type: 'email.send' });
    expect((await test.owner.post(`/approvals/${approvalId}/approve`)).status).toBe(200);
    await until('consigliere_mail_total{outcome="filed"}', 1);
    await until('consigliere_approvals_pending{state="ready"}', 0);
  });

  it('counts what came of deliveries', async () => {
    const registered = await test.owner.post('/webhooks', {
      event: 'revenue.recorded',
      url: receiver.url,
      secret: 'a secret of sixteen',
    });
    expect(registered.status, registered.text).toBe(201);
    await test.owner.post('/revenue-events', { amount: 1, currency: 'EUR', source: 'Acme' });
    await until('consigliere_deliveries_total{outcome="delivered"}', 1);
  });

  it('counts the workspaces that are killed', async () => {
    expect((await scrape()).get('consigliere_workspaces_killed')).toBe(0);
    await test.owner.post('/guardian/kill-switch');
    await until('consigliere_workspaces_killed', 1);
    await test.owner.post('/guardian/revert', { reason: 'Over.', mode: 'resume' });
    await until('consigliere_workspaces_killed', 0);
  });

  it('counts connectors that are red, destinations that are paused, and chains that are signed', async () => {
    for (const kind of ['database', 'queue', 'mail', 'model', 'partner', 'webhook', 'http']) {
      expect((await scrape()).get(`consigliere_connectors_red{kind="${kind}"}`), kind).toBe(0);
    }
    await test.rows(`update connectors set status = 'red' where kind in ('mail', 'model')`);
    await until('consigliere_connectors_red{kind="mail"}', 1);
    expect((await scrape()).get('consigliere_connectors_red{kind="queue"}')).toBe(0);
    await test.rows(`update connectors set status = 'green'`);
    await until('consigliere_connectors_red{kind="mail"}', 0);

    expect((await scrape()).get('consigliere_destinations_paused')).toBe(0);
    await test.rows(`update webhook_destinations set status = 'paused'`);
    await until('consigliere_destinations_paused', 1);
    await test.rows(`update webhook_destinations set status = 'active'`);
    await until('consigliere_destinations_paused', 0);

    await test.app.get(Checkpoints).signDue();
    const samples = await scrape();
    expect(samples.get('consigliere_checkpoints_total{outcome="signed"}')).toBeGreaterThan(0);
    expect(samples.get('consigliere_checkpoints_total{outcome="failed"}')).toBe(0);
  });

  it('counts its connections to the database', async () => {
    const samples = await scrape();
    const [busy, free, waiting] = ['busy', 'free', 'waiting'].map((state) =>
      samples.get(`consigliere_database_connections{state="${state}"}`),
    );
    expect([busy! + free!, waiting]).toEqual([8, 0]);
  });

  it('tells how much work waits by kind, and for how long the oldest has been due', async () => {
    const kind = 'webhook.deliver';
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       select $1, 'later' || n, $2, 'later', now() + interval '1 hour' from generate_series(1, 3) n`,
      [kind, test.workspaceId],
    );
    const before = await until(`consigliere_work_waiting{kind="${kind}"}`, 3);
    expect(before.get(`consigliere_work_oldest_due_seconds{kind="${kind}"}`)).toBe(0);
    await test.rows(`delete from work_items where queue = 'later'`);
    await until(`consigliere_work_waiting{kind="${kind}"}`, 0);
    expect((await scrape()).size).toBe(before.size);
  });

  it('names no workspace, member or address in a label', async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    expect(text).not.toMatch(/(wks|mem|usr|dir|apr|pkt|whk|dlv|tok)_[0-9a-z]{26}/);
    expect(text).not.toContain('acme');
  });

  it('grows by no series when there are more workspaces', async () => {
    const before = (await scrape()).size;
    for (let n = 0; n < 5; n++) await test.createWorkspace();
    expect((await scrape()).size).toBe(before);
  });

  it('asks for nothing that reads a table from end to end', async () => {
    const session = await test.database.owner.connect();
    try {
      await session.query('begin; set local enable_seqscan = off');
      // Among few rows any index costs the same.
      await session.query(
        `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
           sealed_secret, created_by, created_at)
         select 'many' || n, $1, '', '', '{}', 'active', '', '', '{}', now() from generate_series(1, 1000) n`,
        [test.workspaceId],
      );
      await session.query('analyze webhook_destinations');
      for (const [sql, index] of [
        [`select count(*) from guardians where mode = 'killed'`, 'guardians_killed'],
        [`select count(*) from connectors where kind = 'mail' and status = 'red'`, 'connectors_red'],
        [
          `select count(*) from webhook_destinations where status = 'paused' and deleted_at is null`,
          'webhook_destinations_paused',
        ],
        [
          `select key, n from tallies where kind = 'approvals' and team_id = '*' and bucket = '-infinity'`,
          'tallies_of_all',
        ],
      ]) {
        const { rows } = await session.query(`explain ${sql}`);
        expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain(index);
      }
    } finally {
      await session.query('rollback');
      session.release();
    }
  });
});

describe('a process that does no work', () => {
  it('tells for how long the oldest has been due', async () => {
    const test = await startTestApp({ PROCESS_ROLE: 'api', METRICS_PORT: '0' });
    try {
      for (const [id, ago] of [
        ['old', '90 seconds'],
        ['new', '1 second'],
      ]) {
        await test.rows(
          `insert into work_items (kind, id, workspace_id, queue, due_at)
           values ('webhook.deliver', $1, $2, $1, now() - $3::interval)`,
          [id, test.workspaceId, ago],
        );
      }
      const response = await fetch(`http://127.0.0.1:${test.app.get(MetricsServer).port}/metrics`);
      const samples = samplesOf(await response.text());
      const seconds = samples.get('consigliere_work_oldest_due_seconds{kind="webhook.deliver"}');
      expect(seconds).toBeGreaterThanOrEqual(90);
      expect(seconds).toBeLessThan(120);
      expect(samples.get('consigliere_work_waiting{kind="webhook.deliver"}')).toBe(2);
      expect(samples.get('consigliere_work_oldest_due_seconds{kind="directive.draft"}')).toBe(0);
    } finally {
      await test.close();
    }
  });
});

describe('a process whose database is gone', () => {
  it('answers with its own figures and says so', async () => {
    const test = await startTestApp({ METRICS_PORT: '0' });
    const scrape = async () =>
      samplesOf(await (await fetch(`http://127.0.0.1:${test.app.get(MetricsServer).port}/metrics`)).text());
    try {
      expect((await scrape()).get('consigliere_workspaces_killed')).toBe(0);
      await test.rows('alter function app.killed_workspaces rename to gone');
      const samples = await eventually(scrape, (some) => some.get('consigliere_database_up') === 0);
      expect(samples.has('consigliere_workspaces_killed')).toBe(false);
      expect([...samples.keys()].filter((name) => name.startsWith('consigliere_work_'))).toEqual([]);
      expect(samples.get('process_start_time_seconds')).toBeGreaterThan(0);
      await test.rows('alter function app.gone rename to killed_workspaces');
      await eventually(scrape, (some) => some.get('consigliere_workspaces_killed') === 0);
    } finally {
      await test.close();
    }
  });
});

describe('a METRICS_PORT that is taken', () => {
  it('ends the start with one sentence that says what to do', async () => {
    const database = await createTestDatabase();
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const refused = await ServiceProcess.start({
        DATABASE_URL: database.url,
        PORT: '0',
        METRICS_PORT: String(port),
        BOOTSTRAP_TOKEN: newOperatorToken(),
        SECRETS_KEY: randomBytes(32).toString('base64'),
      }).catch(String);
      expect(refused).toContain(
        `Port ${port} at 127.0.0.1 is in use by another program, or by a Consigliere that runs already. End that one, or set METRICS_PORT to another port.`,
      );
      expect(refused).not.toMatch(/\bat .*\.js:/);
    } finally {
      taken.close();
      await database.drop();
    }
  }, 60_000);
});

describe('without METRICS_PORT', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test.close());

  it('the service answers /metrics itself, with the same figures', async () => {
    const response = await fetch(`${test.url}/metrics`);
    expect(response.status).toBe(200);
    const samples = samplesOf(await response.text());
    expect(samples.get('consigliere_database_up')).toBe(1);
    expect(samples.get('consigliere_workspaces_killed')).toBe(0);
    expect(test.app.get(MetricsServer).port).toBeUndefined();
  });
});
