import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { SMTPServerOptions } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ConnectorProbes, ProbeMail } from '../../../src/features/connector-health/connector-probes.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Work } from '../../../src/platform/work/work.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { LoopbackModel } from '../../support/loopback-model.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { SECRET as CRM_SECRET } from '../connectors/connector-desk.js';
import { startMailServer, type MailServer } from '../mail/mail-server.js';
import { causeEvent, deliveriesOf } from '../webhooks/delivery-desk.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { ConnectorHealthDesk } from './connector-health-desk.js';

const MODEL_KEY = 'sk-model-key-of-the-test';
const MAIL_PASSWORD = 'pa55word-of-the-mail';

let test: TestApp;
let desk: ConnectorHealthDesk;
let mail: MailServer;
let model: LoopbackModel;
let service: EventReceiver;
let receiver: EventReceiver;
let folder: string;
/** How the mail server takes a sign-in. */
let signIn: () => Promise<'taken' | 'refused'>;
/** The statuses that the service of the file, and the receiver of events, answer. */
let serviceStatus = 200;
let receiverStatus = 200;

beforeAll(async () => {
  signIn = async () => 'taken';
  mail = await startMailServer({
    options: {
      authOptional: false,
      allowInsecureAuth: true,
      disabledCommands: ['STARTTLS'],
      onAuth: (auth, _session, done) => void answerSignIn(auth.username, done),
    },
  });
  model = await LoopbackModel.start();
  service = await startEventReceiver((_, response) => response.writeHead(serviceStatus).end('{}'));
  receiver = await startEventReceiver((_, response) => response.writeHead(receiverStatus).end());
  folder = await mkdtemp(join(tmpdir(), 'consigliere-connections-'));
  const file = join(folder, 'connectors.json');
  const operations = [
    { name: 'status', description: 'How it is', method: 'GET', path: '/status', readOnly: true },
  ];
  const baseUrl = `http://${service.hostPort}/v1`;
  await writeFile(
    file,
    JSON.stringify({
      connectors: [
        {
          name: 'crm',
          baseUrl,
          headers: { Authorization: { env: 'CRM_TOKEN', prefix: 'Bearer ' } },
          workspaces: 'all',
          check: 'status',
          operations,
        },
        { name: 'erp', baseUrl, operations },
      ],
    }),
  );
  test = await startTestApp({
    SMTP_URL: `smtp://mailer:${MAIL_PASSWORD}@127.0.0.1:${mail.port}`,
    MODEL_PROVIDER: 'openai-compatible',
    MODEL_BASE_URL: model.url,
    MODEL_NAME: 'small',
    MODEL_API_KEY: MODEL_KEY,
    CONNECTORS_FILE: file,
    CRM_TOKEN: CRM_SECRET,
    OUTBOUND_ALLOW: `${service.hostPort},${receiver.hostPort}`,
  });
  desk = new ConnectorHealthDesk(test);
}, 60_000);
afterAll(async () => {
  await test.close();
  await mail.close();
  await model.stop();
  await service.close();
  await receiver.close();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  signIn = async () => 'taken';
  serviceStatus = 200;
  receiverStatus = 200;
});

type SignedIn = Parameters<NonNullable<SMTPServerOptions['onAuth']>>[2];

/** A refusal of a careless server, which repeats the name and the password. */
async function answerSignIn(username: string | undefined, done: SignedIn): Promise<void> {
  if ((await signIn()) === 'taken') return done(null, { user: username });
  const error = new Error(`5.7.8 ${username} with ${MAIL_PASSWORD} is nobody`);
  return done(Object.assign(error, { responseCode: 535 }));
}

/** Nothing that people read repeats a secret, or what the other side said. */
async function assertNoSecrets(): Promise<void> {
  const said = await test.rows<{ text: string }>(
    `select reason as text from connectors union all select reason from connector_checks
     union all select title || body from signals union all select reason from escalations union all select body from receipts`,
  );
  const all = said.map(({ text }) => text).join('\n');
  for (const secret of [MODEL_KEY, MAIL_PASSWORD, CRM_SECRET, 'is nobody']) expect(all).not.toContain(secret);
}

describe('the mail connector', () => {
  it('is green where the server accepts our sign-in, and no mail is sent', async () => {
    const { connector_id } = await desk.connector('mail');
    const row = await desk.checked(connector_id);
    expect(row).toMatchObject({ status: 'green', reason: 'The mail server accepts mail.' });
    expect(mail.received).toEqual([]);
    expect(mail.wire().toString()).not.toMatch(/MAIL FROM/i);
  });

  it('is yellow where the server is slow', async () => {
    signIn = () => pause(2_100).then(() => 'taken' as const);
    const { connector_id } = await desk.connector('mail');
    const row = await desk.checked(connector_id);
    expect(row).toMatchObject({ status: 'yellow', consecutive_failures: 0 });
    expect(row.latency_ms).toBeGreaterThan(2_000);
    expect(row.reason).toMatch(/It is slow: it took \d\.\d seconds\./);
  });

  it('is red at once where our credentials are refused: one signal, one escalation, and one signal when it works again', async () => {
    signIn = async () => 'refused';
    const { connector_id } = await desk.connector('mail');
    const before = (await desk.actions('signal')).length;
    const row = await desk.checked(connector_id);
    expect(row).toMatchObject({
      status: 'red',
      reason: 'The mail server refused the user name and password of SMTP_URL (reply 535).',
      alerted: true,
    });
    await desk.checked(connector_id, 2);
    expect(await desk.signals(connector_id)).toEqual([
      {
        type: 'connector',
        severity: 'critical',
        title: 'The mail connector is failing.',
        body: row.reason,
      },
    ]);
    expect(await desk.escalations(connector_id)).toMatchObject([
      {
        status: 'open',
        options: ['check', 'dismiss'],
        reason: `The mail connector is failing. ${row.reason}`,
      },
    ]);
    await assertNoSecrets();

    signIn = async () => 'taken';
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green', alerted: true });
    expect(await desk.signals(connector_id)).toHaveLength(1);
    await desk.healthyFor(connector_id, 2);
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green', alerted: false });
    await desk.checked(connector_id);
    expect((await desk.signals(connector_id)).slice(1)).toMatchObject([
      { severity: 'info', title: 'The mail connector is working again.' },
    ]);
    expect(await desk.escalations(connector_id)).toMatchObject([
      { status: 'resolved', outcome: 'The mail connector is working again.' },
    ]);
    expect((await desk.actions('signal')).slice(before)).toEqual(['signal.raised', 'signal.raised']);
    expect((await desk.actions('escalation')).slice(-2)).toEqual([
      'escalation.opened',
      'escalation.resolved',
    ]);
  });

  it('checks again when a person decides so, and asks again while it fails', async () => {
    signIn = async () => 'refused';
    const { connector_id } = await desk.connector('mail');
    await desk.checked(connector_id);
    const open = (await desk.escalations(connector_id)).find(({ status }) => status === 'open')!;
    const people = new EscalationDesk(test);
    const decided = await people.decided(open.id, 'check');
    expect(decided).toMatchObject({ status: 'resolved', decision: 'check' });
    expect(decided.outcome).toMatch(/asked for another check of the mail connector\.$/);
    const again = await eventually(
      async () => (await desk.escalations(connector_id)).filter(({ status }) => status === 'open'),
      (all) => all.length === 1,
      20,
    );
    expect(again[0]!.id).not.toBe(open.id);
    signIn = async () => 'taken';
    await desk.checked(connector_id);
    await desk.healthyFor(connector_id, 60);
    await desk.checked(connector_id);
  });
});

describe('the model connector', () => {
  it('asks for the list of models with our key, and no model for anything', async () => {
    const { connector_id } = await desk.connector('model');
    const asked = model.requests.length;
    expect(await desk.checked(connector_id)).toMatchObject({
      status: 'green',
      reason: 'The model provider answers.',
    });
    expect(model.looks.at(-1)).toMatchObject({
      path: '/v1/models',
      headers: { authorization: `Bearer ${MODEL_KEY}` },
    });
    expect(model.requests.length).toBe(asked);
  });

  it.each([
    [401, 'red', 'The model provider refused MODEL_API_KEY (status 401).'],
    [404, 'green', 'The model provider answers; it has no list of models, so no more is known.'],
    [429, 'yellow', 'The model provider answered with status 429.'],
    [500, 'yellow', 'The model provider answered with status 500.'],
  ])('to status %i is %s', async (status, color, reason) => {
    const { connector_id } = await desk.connector('model');
    model.listStatus = 200;
    await desk.checked(connector_id);
    model.listStatus = status;
    expect(await desk.checked(connector_id)).toMatchObject({ status: color, reason });
    model.listStatus = 200;
    await assertNoSecrets();
  });
});

describe('a connector of the file', () => {
  it('has the operation called that the file names for it, and is red after three answers with 500', async () => {
    serviceStatus = 500;
    const { connector_id, audience } = await desk.connector('http', 'crm');
    expect(audience).toEqual(['*']);
    const colors = [];
    for (let n = 0; n < 3; n++) colors.push((await desk.checked(connector_id)).status);
    expect(colors).toEqual(['yellow', 'yellow', 'red']);
    expect(service.received.at(-1)).toMatchObject({
      method: 'GET',
      path: '/v1/status',
      headers: { authorization: `Bearer ${CRM_SECRET}` },
    });
    expect(await desk.checks(connector_id)).toMatchObject([
      { n: 1, status: 'yellow', changed: true },
      { n: 2, status: 'yellow', changed: false },
      { n: 3, status: 'red', changed: true, reason: 'It answered status with status 500.' },
    ]);
    expect(await desk.escalations(connector_id)).toMatchObject([{ status: 'open' }]);
    await assertNoSecrets();
  });

  it('is red at once where it refuses our credentials', async () => {
    serviceStatus = 401;
    const { connector_id } = await desk.connector('http', 'crm');
    await desk.checked(connector_id);
    expect(await desk.connector('http', 'crm')).toMatchObject({
      status: 'red',
      reason: 'It refused our credentials (status 401).',
    });
  });

  it('is only connected to where the file names none: nothing is sent', async () => {
    const before = service.received.length;
    const { connector_id, audience } = await desk.connector('http', 'erp');
    expect(audience).toEqual([]);
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green' });
    expect(service.received.length).toBe(before);
  });

  it('that no running process knows is shown as not checked, after three times', async () => {
    await test.rows(
      `insert into connectors (workspace_id, connector_id, kind, subject, name, status, reason, last_checked_at, next_check_at)
       values ($1, $2, 'http', 'of-another-file', 'of-another-file', 'green', 'It answers.', now(), 'infinity')`,
      [test.workspaceId, newId('con')],
    );
    const { connector_id } = await desk.connector('http', 'of-another-file');
    const shown = async () =>
      (await test.owner.get('/connectors')).body.items.find(
        ({ connectorId }: { connectorId: string }) => connectorId === connector_id,
      );
    for (const time of [1, 2, 3]) {
      expect(await shown()).toMatchObject({ status: 'green', reason: 'It answers.' });
      await desk.begun(connector_id);
      await eventually(
        () =>
          test.rows('select 1 from connectors where connector_id = $1 and postponed = $2', [
            connector_id,
            time,
          ]),
        (rows) => rows.length === 1,
      );
    }
    expect(await shown()).toMatchObject({
      status: 'yellow',
      reason: expect.stringContaining('no running process knows it'),
    });
    await test.rows('delete from connectors where connector_id = $1', [connector_id]);
  });

  it('is shown to the workspaces that may use it, and to no other', async () => {
    const { owner } = await test.createWorkspace();
    const names = async (client: typeof owner) =>
      (await client.get('/connectors')).body.items
        .filter(({ kind }: { kind: string }) => kind === 'http')
        .map(({ name }: { name: string }) => name);
    expect(await names(owner)).toEqual(['crm']);
    expect(await names(test.owner as typeof owner)).toEqual(['crm', 'erp']);
  });
});

describe('a destination', () => {
  async function registered(path: string) {
    const url = `http://${receiver.hostPort}/${path}?key=s3cret`;
    const { body } = await test.owner.post('/webhooks', {
      event: 'revenue.recorded',
      url,
      secret: 'a secret of Acme 2026',
    });
    return { ...body, connector: await desk.connector('webhook', body.destinationId) } as {
      destinationId: string;
      connector: { connector_id: string };
    };
  }

  /** The delivery of the event, once it was attempted; no worker attempts it again. */
  async function keptFromTrying(destinationId: string): Promise<string> {
    const [delivery] = await eventually(
      () => deliveriesOf(test, destinationId),
      ([first]) => (first?.attempts.length ?? 0) > 0,
    );
    await eventually(
      () =>
        test.rows(
          `delete from work_items where kind = 'webhook.deliver' and id = $1 and not claimed returning id`,
          [delivery!.delivery_id],
        ),
      (deleted) => deleted.length === 1,
    );
    return delivery!.delivery_id;
  }

  /** As if it had been attempted once more, in vain. */
  const attempted = (deliveryId: string) =>
    test.rows(
      `update webhook_deliveries set attempts = attempts || jsonb_build_array(jsonb_build_object('n',
         jsonb_array_length(attempts) + 1, 'at', app.ms(clock_timestamp()) + 60000 * jsonb_array_length(attempts),
         'status', 500, 'durationMs', 1, 'error', null)) where delivery_id = $1`,
      [deliveryId],
    );

  it('is green where it accepts connections, and nothing is sent to it', async () => {
    const { connector } = await registered('well');
    const before = receiver.received.length;
    expect(await desk.checked(connector.connector_id)).toMatchObject({ status: 'green' });
    expect(receiver.received.length).toBe(before);
  });

  it('that answers 500 to an event fails once for each attempt, and is green after an event that arrived', async () => {
    receiverStatus = 500;
    const { destinationId, connector } = await registered('ill');
    await causeEvent(test);
    const deliveryId = await keptFromTrying(destinationId);
    // However often it is checked, one attempt is one failure.
    const once = await desk.checked(connector.connector_id, 4);
    expect(once).toMatchObject({
      status: 'yellow',
      reason: 'It answered 500 to the last event that was sent to it.',
      consecutive_failures: 1,
    });
    expect(await desk.signals(connector.connector_id)).toEqual([]);
    await attempted(deliveryId);
    expect(await desk.checked(connector.connector_id, 2)).toMatchObject({ consecutive_failures: 2 });
    await attempted(deliveryId);
    const row = await desk.checked(connector.connector_id, 2);
    expect(row).toMatchObject({ status: 'red', consecutive_failures: 3 });
    const name = `The webhook destination ${destinationId}`;
    expect((await desk.signals(connector.connector_id)).map(({ title }) => title)).toEqual([
      `${name} is failing.`,
    ]);
    const open = await desk.escalations(connector.connector_id);
    expect(open).toMatchObject([{ status: 'open', reason: `${name} is failing. ${row.reason}` }]);
    receiverStatus = 200;
    await test.owner.post(`/webhooks/${destinationId}/test`);
    await eventually(
      () => deliveriesOf(test, destinationId),
      (all) => all.at(-1)!.status === 'delivered',
    );
    expect(await desk.checked(connector.connector_id)).toMatchObject({ status: 'green' });
    await test.owner.delete(`/webhooks/${destinationId}`);
    expect(await desk.escalations(connector.connector_id)).toMatchObject([
      { status: 'resolved', outcome: `${name} was deleted.` },
    ]);
    // Every member reads signals and escalations; the host of a receiver may be its secret.
    const told = JSON.stringify([
      await desk.signals(connector.connector_id),
      await desk.escalations(connector.connector_id),
    ]);
    expect(told).not.toContain(receiver.hostPort);
  });

  it('that is paused is red and its pause not told a second time; resumed and failing still, it is told', async () => {
    const { destinationId, connector } = await registered('paused');
    const becomes = (status: string, url: string) =>
      test.rows('update webhook_destinations set status = $2, url = $3 where destination_id = $1', [
        destinationId,
        status,
        url,
      ]);
    await becomes('paused', 'https://10.0.0.1/');
    expect(await desk.checked(connector.connector_id, 2)).toMatchObject({
      status: 'red',
      reason: 'It is paused, because twenty deliveries in a row failed.',
    });
    expect(await desk.signals(connector.connector_id)).toEqual([]);
    expect(await desk.escalations(connector.connector_id)).toEqual([]);

    await becomes('active', 'https://10.0.0.1/');
    expect(await desk.checked(connector.connector_id, 2)).toMatchObject({ status: 'red' });
    expect(await desk.signals(connector.connector_id)).toMatchObject([{ severity: 'critical' }]);
    expect(await desk.escalations(connector.connector_id)).toMatchObject([{ status: 'open' }]);

    await becomes('active', `http://${receiver.hostPort}/paused`);
    await desk.checked(connector.connector_id);
    await desk.healthyFor(connector.connector_id, 60);
    expect(await desk.checked(connector.connector_id)).toMatchObject({ status: 'green', alerted: false });
    expect(await desk.signals(connector.connector_id)).toMatchObject([
      { severity: 'critical' },
      { severity: 'info' },
    ]);
    expect(await desk.escalations(connector.connector_id)).toMatchObject([{ status: 'resolved' }]);
  });

  it('whose address is not allowed any more is yellow, then red', async () => {
    const { destinationId, connector } = await registered('private');
    await test.rows(
      `update webhook_destinations set url = 'https://10.0.0.1/token-in-the-path' where destination_id = $1`,
      [destinationId],
    );
    const row = await desk.checked(connector.connector_id);
    expect(row.status).toBe('yellow');
    expect(row.reason).toMatch(/^Its (address|name) /);
    expect(row.reason).not.toContain('token');
  });
});

describe('the partner', () => {
  it('is red where its secret cannot be opened', async () => {
    const { connector_id } = await desk.connector('partner');
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green' });
    const [kept] = await test.rows<{ sealed_secret: string }>(
      'update partner_secrets p set sealed_secret = $2 from partner_secrets old where p.workspace_id = $1 and old.workspace_id = $1 returning old.sealed_secret',
      [test.workspaceId, 'v1.x.y'],
    );
    expect(await desk.checked(connector_id)).toMatchObject({
      status: 'red',
      reason: expect.stringContaining('SECRETS_KEY'),
    });
    await test.rows('update partner_secrets set sealed_secret = $2 where workspace_id = $1', [
      test.workspaceId,
      kept!.sealed_secret,
    ]);
  });
});

describe('the database', () => {
  it('is yellow where a write waits for a lock', async () => {
    const { connector_id } = await desk.connector('database');
    const blocker = await test.database.owner.connect();
    try {
      const before = (await desk.checks(connector_id)).length;
      await test.rows(
        `update connectors set next_check_at = now() + interval '1 second' where connector_id = $1`,
        [connector_id],
      );
      await blocker.query('begin');
      await blocker.query('select 1 from connectors where connector_id = $1 for update', [connector_id]);
      await eventually(
        () =>
          test.rows(
            `select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
               and query like '%update connectors%'`,
          ),
        (rows) => rows.length > 0,
      );
      await pause(2_200);
      await blocker.query('commit');
      await eventually(
        async () => (await desk.checks(connector_id)).length,
        (count) => count > before,
        20,
      );
    } finally {
      blocker.release();
    }
    const row = await desk.connector('database');
    expect(row).toMatchObject({ status: 'yellow', consecutive_failures: 0 });
    expect(row.latency_ms).toBeGreaterThan(2_000);
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green' });
  });
});

describe('the work queue', () => {
  it('is yellow while work that is long due is begun by nobody, then red, and green when it is done', async () => {
    const { connector_id } = await desk.connector('queue');
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green' });
    // A kind that is known and that no worker of this process does.
    const never = () => Promise.reject(new Error('no worker does this'));
    test.app
      .get(Work)
      .declare({ name: 'test.stuck', pool: 1, perQueue: 1, tries: 1, run: never, giveUp: never });
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at)
       values ('test.stuck', 'dir_stuck', $1, $1, now() - interval '90 seconds')`,
      [test.workspaceId],
    );
    const row = await desk.checked(connector_id);
    expect(row).toMatchObject({ status: 'yellow', consecutive_failures: 1 });
    expect(row.reason).toMatch(
      /^Work of the kind test\.stuck has been due for \d+ seconds, and no worker has begun it\.$/,
    );
    expect(await desk.checked(connector_id, 2)).toMatchObject({ status: 'red' });
    await test.rows(`delete from work_items where id = 'dir_stuck'`);
    expect(await desk.checked(connector_id)).toMatchObject({ status: 'green' });
  });
});

describe('a check that nobody foresaw', () => {
  afterEach(() => {
    test.app
      .get(ConnectorProbes, { strict: false })
      .register('mail', test.app.get(ProbeMail, { strict: false }));
  });
  const probes = (probe: () => Promise<any>) =>
    test.app.get(ConnectorProbes, { strict: false }).register('mail', { probe });

  it('throws three times, and has a result', async () => {
    let tries = 0;
    probes(() => {
      tries++;
      return Promise.reject(new Error(`${MAIL_PASSWORD} stands in no result`));
    });
    const { connector_id } = await desk.connector('mail');
    const before = (await desk.checks(connector_id)).length;
    await desk.due(connector_id);
    await eventually(
      async () => {
        await test.rows(
          `update work_items set due_at = now() where kind = 'service.check' and id = $1 and not claimed`,
          [connector_id],
        );
        return (await desk.checks(connector_id)).length;
      },
      (count) => count > before,
      20,
    );
    expect(tries).toBe(3);
    const row = await desk.connector('mail');
    expect(row).toMatchObject({ status: 'yellow', consecutive_failures: 1 });
    expect(row.reason).toMatch(/^The check itself failed three times/);
    await assertNoSecrets();
  });

  it('ended its process three times, and has a result without being begun again', async () => {
    let tries = 0;
    probes(() => {
      tries++;
      return Promise.reject(new Error('begun again'));
    });
    const { connector_id } = await desk.connector('mail');
    const before = (await desk.checks(connector_id)).length;
    await test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at, crashes) values ('service.check', $1, $2, $1, now(), 3)`,
      [connector_id, test.workspaceId],
    );
    await test.rows(`update connectors set next_check_at = now() where connector_id = $1`, [connector_id]);
    await eventually(
      async () => (await desk.checks(connector_id)).length,
      (count) => count > before,
      20,
    );
    expect(tries).toBe(0);
  });

  it('never ends, and is given a result after its time limit while others are checked', async () => {
    probes(() => new Promise(() => undefined));
    const { connector_id } = await desk.connector('mail');
    const before = (await desk.checks(connector_id)).length;
    await desk.due(connector_id);
    await test.rows('select app.enqueue_due_checks(10)');
    const database = await desk.connector('database');
    expect(await desk.checked(database.connector_id)).toMatchObject({ status: 'green' });
    expect((await desk.checks(connector_id)).length).toBe(before);
    await eventually(
      async () => (await desk.checks(connector_id)).at(-1)?.reason,
      (reason) => reason === 'The check did not end in time.',
      20,
    );
  });
});
