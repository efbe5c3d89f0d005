import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attackEveryRoute } from '../e2e/platform/hostile-requests.js';
import { type Service, startService } from '../support/processes.js';

const RUNS = 10_000;
/** In parts, each with a service of its own, so that one can be run by itself: all together take two hours. */
const PARTS = [1, 2, 3, 4, 5, 6];

describe('10,000 hostile requests to every route', () => {
  let service: Service;
  beforeEach(async () => {
    service = await startService(1, { PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'memory', LOG_LEVEL: 'error' });
  }, 60_000);
  afterEach(() => service.close());

  it.each(PARTS)(
    'never get a 5xx, never a stack, always one of the two shapes: part %i of 6',
    { timeout: 3_600_000 },
    async (part) => {
      const { directiveId, approvalId } = (await service.client().post('/directive', { text: 'x' })).body;
      const [process] = service.processes;
      const { routes, statuses } = await attackEveryRoute(process!.url, service, {
        ids: [directiveId, approvalId],
        runs: RUNS,
        which: (routeNumber) => routeNumber % PARTS.length === part - 1,
      });
      console.log(`${routes} routes, ${routes * RUNS} requests`, statuses);
      expect(Object.keys(statuses).filter((status) => Number(status) >= 500)).toEqual([]);
      expect(process!.exited).toBe(false);
      expect(process!.errors).toBe('');
    },
  );
});
