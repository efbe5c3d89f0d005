import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../e2e/mail/mail-server.js';
import {
  freePort,
  type MachineServer,
  machinePostgres,
  startMachineServer,
} from '../support/machine-postgres.js';
import { ServiceProcess } from '../support/processes.js';

const guide = await readFile(join(import.meta.dirname, '../../docs/guides/running.md'), 'utf8');

const programs = machinePostgres();
if (programs === undefined)
  console.warn(
    'skipped: the guide to running it is not tried, since psql and a server are not installed on this machine',
  );

/** The first code block of the guide that holds this. */
const blockWith = (text: string) =>
  [...guide.matchAll(/^```\w+(?: \S+)?\n([^]*?)^```$/gm)]
    .map(([, code]) => code!)
    .find((code) => code.includes(text))!;

describe.skipIf(programs === undefined)('the guide to running it', () => {
  let server: MachineServer;
  let mail: MailServer;
  let folder: string;
  const processes: ServiceProcess[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-guide-'));
    mail = await startMailServer();
    server = await startMachineServer(programs!);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(processes.map((one) => one.kill()));
    await Promise.all([server?.stop(), mail?.close()]);
    await rm(folder, { recursive: true, force: true });
  });

  const bash = async (script: string, variables: Record<string, string> = {}) => {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      env: { PATH: [programs, process.env.PATH].join(delimiter), ...variables },
    });
    return stdout;
  };

  it('prepares the database, starts an api and a worker in production, and asks them whether they are well', async () => {
    await bash(blockWith('create role'), { SERVER: server.url, OWNER_PASSWORD: 'of-the-owner' });
    const printed = parseEnv(blockWith('NODE_ENV')) as Record<string, string>;
    const environment = {
      ...printed,
      DATABASE_URL: server.url.replace(/\/\/.*@(.*)$/, '//consigliere:of-the-owner@$1/consigliere'),
      SECRETS_KEY: randomBytes(32).toString('base64'),
      SMTP_URL: mail.url,
      METRICS_PORT: '0',
      DATA_DIR: folder,
    };
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(printed)));
    const ports = [await freePort(), await freePort()];
    for (const [index, role] of ['api', 'worker'].entries()) {
      expect(blockWith('npm start')).toContain(`PROCESS_ROLE=${role}`);
      const PORT = String(ports[index]);
      processes.push(await ServiceProcess.start({ ...environment, PORT, PROCESS_ROLE: role }));
    }
    const { token, email } = JSON.parse(await readFile(join(folder, 'credentials.json'), 'utf8'));
    expect([token.startsWith('cons_'), email]).toEqual([true, 'ada@example.org']);
    for (const [index, { url, logs }] of processes.entries()) {
      expect(url).toBe('https://consigliere.example.com');
      const { port } = logs.find(({ msg }) => msg === 'figures for Prometheus have a port of their own')!;
      const answers = await bash(
        blockWith('/health/ready')
          .replace('127.0.0.1:3000', `127.0.0.1:${ports[index]}`)
          .replace('127.0.0.1:9464', `127.0.0.1:${String(port)}`),
      );
      expect(answers).toContain('"status":"ok"');
      expect(answers).toContain('consigliere_database_up 1\n');
      expect(answers).toContain('consigliere_work_oldest_due_seconds{kind="packet.send"}');
    }
    for (const one of processes) expect(await one.stop()).toBe(0);
  }, 180_000);
});
