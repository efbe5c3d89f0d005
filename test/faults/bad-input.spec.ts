import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attackEveryRoute } from '../e2e/platform/hostile-requests.js';
import { type Service, startService } from '../support/processes.js';

describe('10,000 hostile requests to every route', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(1, { PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'memory', LOG_LEVEL: 'error' });
  }, 60_000);
  afterAll(() => service.close());

  // Some 170 routes at a thousand requests a second are half an hour, and twice that on a machine that is busy.
  it('never get a 5xx, never a stack, always one of the two shapes', { timeout: 10_800_000 }, async () => {
    const { directiveId, approvalId } = (await service.client().post('/directive', { text: 'x' })).body;
    const [process] = service.processes;
    const { statuses } = await attackEveryRoute(process!.url, service, [directiveId, approvalId], 10_000);
    expect(Object.keys(statuses).filter((status) => Number(status) >= 500)).toEqual([]);
    expect(process!.exited).toBe(false);
    expect(process!.errors).toBe('');
  });
});
