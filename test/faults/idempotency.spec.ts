import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { killWhileServing } from '../e2e/platform/kills.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { type Service, startService } from '../support/processes.js';
import { startTestApp } from '../support/test-app.js';

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

describe('a first request that runs for more than ten seconds', () => {
  it('lets the second one go with 409 and Retry-After', async () => {
    const test = await startTestApp({ PROCESS_ROLE: 'api' });
    try {
      const key = newId('req');
      const post = () => test.owner.post('/directive', { text: key }, { 'Idempotency-Key': key });
      const [owner] = await test.rows<{ member_id: string }>(
        `select member_id from members where workspace_id = $1 order by joined_at limit 1`,
        [test.workspaceId],
      );
      const first = await test.database.owner.connect();
      await first.query('select pg_advisory_lock(hashtextextended($1, 1))', [
        `${test.workspaceId} ${owner!.member_id} ${key}`,
      ]);
      const began = Date.now();
      const second = await post();
      await first.query('select pg_advisory_unlock_all()');
      first.release();
      expect(second.status).toBe(409);
      expect(second.body.error.code).toBe('IDEMPOTENCY_IN_PROGRESS');
      expect(second.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      expect(Date.now() - began).toBeGreaterThan(9_500);
      expect((await post()).status).toBe(201);
    } finally {
      await test.close();
    }
  });
});
