import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Client } from '../support/client.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';
import { eventually } from '../support/test-app.js';

/** Until another process has taken up a request or a signal, which it shows nobody. */
const NOTICED_MS = 200;

describe('SIGTERM', () => {
  let service: Service;
  let process: ServiceProcess;
  beforeEach(async () => {
    service = await startService(1, { PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'memory' });
    process = service.processes[0]!;
  }, 60_000);
  afterEach(() => service.close());

  it(
    'fails none of the requests that arrive with it, while a second process takes over',
    { timeout: 60_000 },
    async () => {
      const successor = await service.start();
      const clients = Array.from({ length: 20 }, () => service.client(process));
      const outcomes: number[] = [];
      let target = process.url;
      const enough = new AbortController();
      const load = clients.map(async ({ token, address }) => {
        while (!enough.signal.aborted) {
          const answer = await new Client(target, token)
            .get('/health/live', { 'X-Forwarded-For': address })
            .catch(() => ({ status: 0 }));
          outcomes.push(answer.status);
        }
      });
      const answered = (count: number) => eventually(async () => outcomes.length >= count);
      await answered(100);
      const stopped = process.stop();
      // As a load balancer does that has been told: no new request to the one that ends.
      target = successor.url;
      expect(await stopped).toBe(0);
      await answered(outcomes.length + 100);
      enough.abort();
      await Promise.all(load);
      expect(new Set(outcomes)).toEqual(new Set([200]));
    },
  );

  it('is told to probes, and each last answer closes its connection', { timeout: 30_000 }, async () => {
    expect((await service.client(process).get('/health/ready')).status).toBe(200);
    const { approvalId } = (await service.client(process).post('/directive', { text: 'Wait for me' })).body;
    const wait = service.client(process).get(`/approvals/${approvalId}?wait=30`);
    await sleep(NOTICED_MS);
    const stopped = process.stop();
    expect((await wait).headers.get('connection')).toBe('close');
    expect(await stopped).toBe(0);
  });
});
