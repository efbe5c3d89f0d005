import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EventReceiver, startEventReceiver } from '../support/event-receiver.js';
import { type Service, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';
import { created, crm, SECRET } from '../e2e/connectors/connector-desk.js';

/** Real processes with the built-in runner, ended by SIGKILL while they wait for an answer. */
let service: Service;
let outside: EventReceiver;
let answer: NonNullable<Parameters<typeof startEventReceiver>[0]>;
let folder: string;
let file: string;

beforeAll(async () => {
  outside = await startEventReceiver((...args) => answer(...args));
  folder = await mkdtemp(join(tmpdir(), 'consigliere-connectors-'));
  file = join(folder, 'connectors.json');
  await writeFile(file, JSON.stringify(crm({ baseUrl: `http://${outside.hostPort}` })));
  service = await startService(1, {
    CONNECTORS_FILE: file,
    CRM_TOKEN: SECRET,
    OUTBOUND_ALLOW: outside.hostPort,
  });
});
afterAll(async () => {
  await service.close();
  await outside.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  answer = created;
  outside.received.length = 0;
});

/** Hands in a plain sentence and answers its ready approval. */
async function ready(sentence: string) {
  const handedIn = await service.client().post('/directive', { text: sentence, capo: 'capo_ops' });
  expect(handedIn.status, handedIn.text).toBe(201);
  const { body } = await service.client().get(`/approvals/${handedIn.body.approvalId}?wait=10`);
  expect(body).toMatchObject({ ready: true, status: 'pending' });
  return body;
}

async function approve(approval: {
  approvalId: string;
  packets: { workPacketId: string }[];
}): Promise<string> {
  const approved = await service.client().post(`/approvals/${approval.approvalId}/approve`);
  expect(approved.status, approved.text).toBe(200);
  return approval.packets[0]!.workPacketId;
}

const until = (workPacketId: string, status: string) =>
  eventually(
    () =>
      service.rows<{ status: string; attempts: number; code: string | null }>(
        `select status, attempts, result->'error'->>'code' as code from work_packets where work_packet_id = $1`,
        [workPacketId],
      ),
    ([row]) => row!.status === status,
    30,
  );

/** Ends the only process while the receiver holds its request, and starts another one. */
async function killWhileSending(): Promise<void> {
  await eventually(async () => outside.received.length === 1, Boolean, 20);
  await service.processes.at(-1)!.kill();
  answer = created;
  await service.start();
}

const CREATE = 'Call create_contact of crm with email = jane@acme.example, name = “Jane Doe”.';
const TAG = 'Call tag_contact of crm with id = c_42, tag = vip.';

describe('a process that ends while it waits for an answer', () => {
  it(
    'leaves a call that may have taken effect unconfirmed: it is not made again',
    { timeout: 90_000 },
    async () => {
      answer = () => undefined;
      const workPacketId = await approve(await ready(CREATE));
      await killWhileSending();
      expect(await until(workPacketId, 'failed')).toMatchObject([{ attempts: 1, code: 'UNCONFIRMED' }]);
      expect(outside.received).toHaveLength(1);
      expect(JSON.parse(outside.received[0]!.body.toString())).toEqual({
        email: 'jane@acme.example',
        name: 'Jane Doe',
      });
    },
  );

  it('has a call that heeds a key made again, with the same key', { timeout: 90_000 }, async () => {
    answer = () => undefined;
    const workPacketId = await approve(await ready(TAG));
    await killWhileSending();
    expect(await until(workPacketId, 'executed')).toMatchObject([{ attempts: 2 }]);
    expect(outside.received.map(({ headers }) => headers['idempotency-key'])).toEqual([
      workPacketId,
      workPacketId,
    ]);
  });

  it('leaves a posted event unconfirmed', { timeout: 90_000 }, async () => {
    const registered = await service
      .client()
      .post('/partner/webhooks', { description: 'ERP', url: outside.url });
    expect(registered.status, registered.text).toBe(201);
    answer = () => undefined;
    const workPacketId = await approve(await ready('Post “The delivery is late.” to the webhook ERP.'));
    const posted = () =>
      outside.received.filter(({ headers }) => headers['x-service-event'] === 'work_packet.posted');
    await eventually(async () => posted().length === 1, Boolean, 20);
    await service.processes.at(-1)!.kill();
    answer = created;
    await service.start();
    expect(await until(workPacketId, 'failed')).toMatchObject([{ attempts: 1, code: 'UNCONFIRMED' }]);
    expect(posted()).toHaveLength(1);
    expect(JSON.parse(posted()[0]!.body.toString()).payload.data).toEqual({ text: 'The delivery is late.' });
    expect((await service.client().delete(`/partner/webhooks/${registered.body.destinationId}`)).status).toBe(
      200,
    );
  });
});

describe('a file that says something else after a restart', () => {
  it('makes nothing of what was approved before', { timeout: 90_000 }, async () => {
    const approval = await ready(CREATE);
    const before = await readFile(file, 'utf8');
    await service.processes.at(-1)!.kill();
    await writeFile(file, before.replace('"path":"/contacts",', '"path":"/people",'));
    await service.start();
    const workPacketId = await approve(approval);
    expect(await until(workPacketId, 'failed')).toMatchObject([{ code: 'CONTENT_CHANGED' }]);
    expect(outside.received).toEqual([]);
    await service.processes.at(-1)!.kill();
    await writeFile(file, before);
    await service.start();
  });
});

describe('a file that cannot be used', () => {
  it.each<[string, string, string]>([
    [
      'no JSON',
      '{ "connectors": [ }',
      'Consigliere cannot start with these settings:\n  CONNECTORS_FILE names a file that is not JSON: ValueExpected at line 1, column 19\n',
    ],
    [
      'a fault',
      JSON.stringify(crm({ baseUrl: 'https://10.0.0.1' })),
      'The connectors file <path> cannot be used:\n  connectors.0.baseUrl: The host does not resolve, or not only to public addresses.\n',
    ],
  ])('keeps the service from starting, and says why: %s', async (_what, written, message) => {
    const broken = join(folder, 'broken.json');
    await writeFile(broken, written);
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../dist/src/main.js')], {
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        CONNECTORS_FILE: broken,
        CRM_TOKEN: SECRET,
        DATA_DIR: join(folder, 'data'),
      },
    });
    const [said, complained, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    expect({ said, complained, code }).toEqual({
      said: '',
      complained: message.replace('<path>', broken),
      code: 1,
    });
  });
});

describe('the secret', () => {
  it('stands in no log line of any process', () => {
    const logs = service.processes.flatMap(({ logs: lines }) => lines);
    expect(logs.length).toBeGreaterThan(10);
    expect(JSON.stringify(logs)).not.toContain(SECRET);
  });
});
