import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Client } from '../support/client.js';
import { startEventReceiver, type EventReceiver } from '../support/event-receiver.js';
import { type MachineServer, machinePostgres, startMachineServer } from '../support/machine-postgres.js';
import { ServiceProcess } from '../support/processes.js';
import { eventually } from '../support/test-app.js';
import { startMailServer, type MailServer } from '../e2e/mail/mail-server.js';

const GUIDE = join(import.meta.dirname, '../../docs/guides/backup.md');
const guide = await readFile(GUIDE, 'utf8');

const programs = machinePostgres();
if (programs === undefined)
  console.warn(
    'skipped: the guide to backups is not tried, since no PostgreSQL with pg_dump is installed on this machine',
  );

/** The named code block of the guide. */
function block(name: string): string {
  const found = [...guide.matchAll(/^```sh (\S+)\n([^]*?)^```$/gm)].find(([, named]) => named === name);
  if (!found) throw new Error(`the guide has no block ${name}`);
  return found[2]!;
}

const IN_FILE = 'filed@acme.example';
const SENT = 'sent@acme.example';
const LATER = 'later@acme.example';
const UNDECIDED = 'undecided@acme.example';

describe('the guide to backups, over the embedded database', () => {
  it('copies the folder and starts from the copy', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consigliere-backup-'));
    // Run by root, the server works as another user, who must be able to enter.
    await chmod(folder, 0o755);
    const project = join(folder, 'project');
    await mkdir(project);
    const token = newOperatorToken();
    const start = (dataDir: string) =>
      ServiceProcess.start({ NODE_ENV: 'test', DATA_DIR: dataDir, PORT: '0', BOOTSTRAP_TOKEN: token });
    const tried = (name: string) =>
      promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block(name)], { cwd: project });
    let service = await start(join(project, '.data'));
    try {
      const handedIn = await new Client(service.url, token).post('/directive', {
        text: 'File a note: backup.',
      });
      expect(handedIn.status).toBe(201);
      const head = (await new Client(service.url, token).get('/audit-feed/head')).body;
      expect(await service.stop()).toBe(0);
      await tried('copy-the-folder.sh');
      expect(await readdir(project)).toEqual(['.data']);
      await tried('unpack-the-folder.sh');
      service = await start(join(folder, 'restored/.data'));
      const held = `heldSeq=${head.seq}&heldHash=${head.hash}`;
      const verified = (await new Client(service.url, token).get(`/audit-feed/verify?${held}`)).body;
      expect(verified).toMatchObject({ ok: true, keptElsewhere: { head: 'matches' } });
      expect(await service.stop()).toBe(0);
    } finally {
      await service.kill();
      await rm(folder, { recursive: true, force: true });
    }
  }, 180_000);
});

describe.skipIf(programs === undefined)('the guide to backups, on a service at work', () => {
  const token = newOperatorToken();
  const ownerPassword = 'the-owner-of-the-tables';
  let folder: string;
  let original: MachineServer;
  let restored: MachineServer;
  let mail: MailServer;
  let receiver: EventReceiver;
  /** Mail to LATER is put off, and events are refused. */
  let isDown = true;
  let service: ServiceProcess;

  const dataDir = () => join(folder, 'data');
  const restoredDataDir = () => join(folder, 'restored');

  const start = (server: MachineServer, environment: Record<string, string>) => {
    const url = new URL(`${server.url}/consigliere`);
    Object.assign(url, { username: 'consigliere', password: ownerPassword });
    return ServiceProcess.start({
      NODE_ENV: 'test',
      DATABASE_URL: url.href,
      PORT: '0',
      BOOTSTRAP_TOKEN: token,
      BOOTSTRAP_TIER: 'enterprise',
      TRUST_PROXY: '1',
      OUTBOUND_ALLOW: receiver.hostPort,
      ...environment,
    });
  };
  const owner = () => new Client(service.url, token);

  /** Runs this block as it is printed; answers what it wrote. */
  async function run(name: string): Promise<string> {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', block(name)], {
      cwd: folder,
      env: {
        PATH: [programs, process.env.PATH].join(delimiter),
        OLD: original.url,
        NEW: restored?.url ?? '',
        BACKUP: original.url.replace(/\/\/.*@/, '//consigliere_backup:of-backups@'),
        BACKUP_PASSWORD: 'of-backups',
        OWNER_PASSWORD: ownerPassword,
        DATA_DIR: name === 'restore.sh' ? restoredDataDir() : dataDir(),
        API: service.exited ? '' : `${service.url}/api/pro`,
        TOKEN: token,
      },
    });
    return stdout;
  }

  /** Hands in a mail to this address; answers its approval once it is ready. */
  async function mailTo(address: string): Promise<string> {
    const handedIn = await owner().post('/directive', {
      text: `Email ${address}, subject "Your order": "Your order ships on Friday."`,
      capo: 'capo_ops',
    });
    expect(handedIn.status, handedIn.text).toBe(201);
    const { approvalId } = handedIn.body;
    const { body } = await owner().get(`/approvals/${approvalId}?wait=30`);
    expect(body).toMatchObject({ ready: true, status: 'pending' });
    return approvalId;
  }

  async function approve(approvalId: string): Promise<void> {
    const approved = await owner().post(`/approvals/${approvalId}/approve`);
    expect(approved.status, approved.text).toBe(200);
  }

  const receivedBy = (address: string) => mail.received.filter(({ to }) => to.includes(address)).length;
  const filed = async (where: string) =>
    (await readdir(join(where, 'outbox'))).filter((name) => name.endsWith('.eml'));
  const packets = async (server: MachineServer) =>
    (
      await server.run(
        'select status, count(*)::int as n from work_packets group by 1 order by 1',
        'consigliere',
      )
    ).rows;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-backup-'));
    await mkdir(dataDir());
    receiver = await startEventReceiver((_received, response) => {
      response.statusCode = isDown ? 503 : 204;
      response.end();
    });
    mail = await startMailServer({
      recipient: (address) =>
        isDown && address === LATER ? { code: 451, text: 'Try again later.' } : undefined,
    });
    original = await startMachineServer(programs!);
    await original.run(`create role consigliere login createrole password '${ownerPassword}'`);
    await original.run('create database consigliere owner consigliere');
  }, 120_000);
  afterAll(async () => {
    await service?.kill();
    await Promise.all([original?.stop(), restored?.stop(), mail?.close(), receiver?.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  it('backs it up while it runs', async () => {
    service = await start(original, { DATA_DIR: dataDir(), MAIL_TRANSPORT: 'file' });
    await approve(await mailTo(IN_FILE));
    await eventually(async () => (await filed(dataDir()).catch(() => [])).length === 1);
    await service.stop();

    service = await start(original, { DATA_DIR: dataDir(), SMTP_URL: mail.url });
    await approve(await mailTo(SENT));
    await eventually(async () => receivedBy(SENT) === 1);
    const registered = await owner().post('/webhooks', {
      event: 'revenue.recorded',
      url: receiver.url,
      secret: 'a secret of sixteen',
    });
    expect(registered.status, registered.text).toBe(201);
    await mailTo(UNDECIDED);
    await approve(await mailTo(LATER));
    await owner().post('/revenue-events', { amount: 12, currency: 'EUR', source: 'Acme' });
    await eventually(async () => receiver.received.length > 0);
    const waiting = `select 1 from work_packets where status = 'queued' and attempts > 0`;
    await eventually(
      () => original.run(waiting, 'consigliere'),
      ({ rowCount }) => rowCount === 1,
    );

    await run('note-the-head.sh');
    await run('make-the-role.sh');
    expect(await run('back-up.sh')).toMatch(/complete\n$/);
    // One that could not be made would look like a backup: the guide says why it needs a role of its own.
    const asOwner = block('back-up.sh')
      .split('\n')[0]!
      .replace('"$BACKUP/consigliere"', '"$OWNER/consigliere"');
    await expect(
      promisify(execFile)('bash', ['-c', asOwner], {
        cwd: folder,
        env: {
          PATH: [programs, process.env.PATH].join(delimiter),
          OWNER: original.url.replace(/\/\/.*@/, `//consigliere:${ownerPassword}@`),
        },
      }),
    ).rejects.toThrow('query would be affected by row-level security policy');
    // The failed one has written over nothing of the real one: it is made again.
    expect(await run('back-up.sh')).toMatch(/complete\n$/);
    await service.kill();
  }, 180_000);

  it('restores it elsewhere, where no process works on it before somebody has looked', async () => {
    restored = await startMachineServer(programs!);
    expect(await run('restore.sh')).toMatch(/complete\n$/);
    isDown = false;
    const events = receiver.received.length;

    const refused = await start(restored, {
      DATA_DIR: restoredDataDir(),
      SMTP_URL: mail.url,
      // What was said of an earlier restore says nothing of this one.
      RESTORED_DATABASE: '7431960251904123456-16390',
    }).then(
      () => 'it started',
      (error: Error) => error.message,
    );
    const shown = /^```text\n([^]*?)^```$/m.exec(guide)![1]!.trim();
    const identity = /RESTORED_DATABASE=(\d+-\d+),/.exec(refused)?.[1];
    expect(identity, refused).toBeDefined();
    expect(refused).toContain(shown.replace(/\d{10,}-\d+/, identity!));

    service = await start(restored, {
      DATA_DIR: restoredDataDir(),
      SMTP_URL: mail.url,
      PROCESS_ROLE: 'api',
    });
    await run('look.sh');
    const verified = JSON.parse(await readFile(join(folder, 'verify.json'), 'utf8'));
    expect(verified).toMatchObject({ ok: true, faults: [], keptElsewhere: { head: 'matches' } });
    const queued = JSON.parse(await readFile(join(folder, 'queued.json'), 'utf8'));
    expect(JSON.stringify(queued.items)).toContain(LATER);
    expect([receivedBy(LATER), receivedBy(SENT), receiver.received.length]).toEqual([0, 1, events]);
    expect(await service.stop()).toBe(0);

    service = await start(restored, {
      DATA_DIR: restoredDataDir(),
      SMTP_URL: mail.url,
      RESTORED_DATABASE: identity!,
    });
  }, 180_000);

  it('goes on with what waited, exactly once, and sends nothing again', async () => {
    const events = receiver.received.length;
    await eventually(async () => receivedBy(LATER) > 0, Boolean, 90);
    await eventually(
      () => restored.run(`select 1 from webhook_deliveries where status = 'delivered'`, 'consigliere'),
      ({ rowCount }) => rowCount === 1,
      90,
    );
    const { body } = await owner().get('/approvals');
    expect(body.items).toHaveLength(1);
    await approve(body.items[0].approvalId);
    await eventually(
      () => packets(restored),
      (rows) => rows.length === 1 && rows[0].status === 'executed' && rows[0].n === 4,
      60,
    );

    expect([IN_FILE, SENT, LATER, UNDECIDED].map(receivedBy)).toEqual([0, 1, 1, 1]);
    expect(await filed(restoredDataDir())).toEqual(await filed(dataDir()));
    expect(await filed(restoredDataDir())).toHaveLength(1);
    const [event, ...others] = new Set(receiver.received.map(({ eventId }) => eventId));
    expect([others, receiver.received.length - events <= 1]).toEqual([[], true]);
    expect(event).toMatch(/^evt_/);
    expect((await owner().get('/audit-feed/verify')).body).toMatchObject({ ok: true, faults: [] });
  }, 240_000);

  it('starts as always from then on', async () => {
    expect(await service.stop()).toBe(0);
    service = await start(restored, { DATA_DIR: restoredDataDir(), SMTP_URL: mail.url });
    expect((await owner().get('/audit-feed/verify')).body).toMatchObject({ ok: true });
    expect([IN_FILE, SENT, LATER, UNDECIDED].map(receivedBy)).toEqual([0, 1, 1, 1]);
  }, 120_000);
});
