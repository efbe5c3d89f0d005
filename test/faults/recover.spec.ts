import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { recover } from '../e2e/workspaces/recover.js';
import { Client } from '../support/client.js';
import { ServiceProcess } from '../support/processes.js';

describe('npm run recover with the embedded database', () => {
  let dataDir: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'consigliere-recover-'));
    await chmod(dataDir, 0o755); // a server started by root runs as another user
  });
  afterAll(() => rm(dataDir, { recursive: true, force: true }));

  it('works before the first start, while the service runs and after it', { timeout: 120_000 }, async () => {
    const environment = { NODE_ENV: 'test', DATA_DIR: dataDir, PORT: '0' };
    const early = await recover(environment);
    expect(early.code).toBe(1);
    expect(early.stderr).toContain(
      'There is no workspace yet: npm start creates the first one and its token.',
    );
    const service = await ServiceProcess.start({ ...environment, BOOTSTRAP_TOKEN: newOperatorToken() });
    const beside = await recover(environment);
    expect((await new Client(service.url, beside.token).get('/bootstrap')).status).toBe(200);
    await service.stop();
    const after = await recover(environment);
    const again = await ServiceProcess.start(environment);
    expect((await new Client(again.url, after.token).get('/bootstrap')).status).toBe(200);
    await again.stop();
  });
});
