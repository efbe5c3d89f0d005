import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killWhileServing } from '../e2e/platform/kills.js';
import { type Service, startService } from '../support/processes.js';

describe('300 killed processes', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(2, { PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'memory' });
  }, 90_000);
  afterAll(() => service.close());

  it('leave exactly one, whole effect for every key', { timeout: 1_800_000 }, async () => {
    const tally = await killWhileServing(service, 300);
    expect(tally).toMatchObject({ kills: 300, requests: 2400 });
    expect(tally.lostAnswers).toBeGreaterThan(0);
    expect(tally.undone).toBeGreaterThan(0);
  });
});
