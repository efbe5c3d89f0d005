import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findServer } from '../../src/platform/embedded-postgres/process.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Client } from '../support/client.js';
import { ServiceProcess } from '../support/processes.js';
import { eventually } from '../support/test-app.js';

const TIMEOUT = { timeout: 120_000 };

describe('two processes over one DATA_DIR with the embedded database', () => {
  let dataDir: string;
  let token: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'consigliere-shared-'));
    await chmod(dataDir, 0o755); // a server started by root runs as another user
    token = newOperatorToken();
  });
  afterEach(async () => {
    const pid = await server();
    if (pid !== undefined) process.kill(pid, 'SIGQUIT');
    await eventually(async () => (await server()) === undefined);
    await rm(dataDir, { recursive: true, force: true });
  });

  const server = () => findServer(join(dataDir, 'postgres'));
  const start = (processRole = 'all') =>
    ServiceProcess.start({
      NODE_ENV: 'test',
      PROCESS_ROLE: processRole,
      DATA_DIR: dataDir,
      PORT: '0',
      BOOTSTRAP_TOKEN: token,
    });
  const handIn = (service: ServiceProcess) =>
    new Client(service.url, token).post('/directive', { text: 'Write it down.' });

  it('go on with it when the first one ends; the last one ends it', TIMEOUT, async () => {
    const first = await start();
    const second = await start();
    const pid = await server();
    expect((await handIn(first)).status).toBe(201);
    expect(await first.stop()).toBe(0);
    expect((await handIn(second)).status).toBe(201);
    expect(await server()).toBe(pid);
    const third = await start();
    expect(await second.stop()).toBe(0);
    expect((await handIn(third)).status).toBe(201);
    expect(await third.stop()).toBe(0);
    expect(await server()).toBeUndefined();
  });

  it('go on with it when the first one is killed; the last one ends it', TIMEOUT, async () => {
    const first = await start();
    const second = await start();
    await first.kill();
    expect((await handIn(second)).status).toBe(201);
    expect(await second.stop()).toBe(0);
    expect(await server()).toBeUndefined();
  });

  it('start it again when it is killed with the first one, and find every row', TIMEOUT, async () => {
    const first = await start('api');
    const [second, third] = await Promise.all([start('api'), start('api')]);
    const { body } = await handIn(first);
    const pid = (await server())!;
    first.signal('SIGKILL');
    process.kill(pid, 'SIGKILL');
    for (const service of [second, third]) {
      const ready = async () => (await fetch(`${service.url}/health/ready`)).status;
      await eventually(ready, (status) => status === 200, 60);
      const client = new Client(service.url, token);
      expect((await client.get(`/directives/${body.directiveId}`)).status).toBe(200);
    }
    expect(await server()).not.toBe(pid);
    expect((await handIn(second)).status).toBe(201);
    expect((await handIn(third)).status).toBe(201);
    expect([await second.stop(), await third.stop()]).toEqual([0, 0]);
    expect(await server()).toBeUndefined();
  });
});
