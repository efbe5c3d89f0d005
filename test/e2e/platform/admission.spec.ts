import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('every answer', () => {
  it('carries the request id, the version and the three limit headers', async () => {
    for (const answer of [
      await test.owner.get('/guardian'),
      await test.owner.get('/nowhere'),
      await test.owner.send('PATCH', '/guardian'),
      await test.owner.get('/guardian', { 'x-service-token': 'no' }),
      await test.owner.get('/%E0%A4%A'),
    ]) {
      expect(answer.headers.get('x-request-id')).toMatch(/^req_[0-9a-z]{26}$/);
      expect(answer.headers.get('x-service-api-version')).toBe('2026-04');
      expect(Number(answer.headers.get('x-ratelimit-limit'))).toBeGreaterThan(0);
      expect(Number(answer.headers.get('x-ratelimit-remaining'))).toBeGreaterThanOrEqual(0);
      expect(Number(answer.headers.get('x-ratelimit-reset'))).toBeGreaterThan(Date.now() / 1000 - 1);
    }
  });
});
