import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuardedRequest } from '../../../src/platform/outbound/guarded-request.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let service: TestApp;

beforeAll(async () => {
  service = await startTestApp();
});

afterAll(() => service.close());

describe('the service', () => {
  it.each(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0', '2130706433'])(
    'sends nothing to itself, whatever port it was given: %s',
    async (host) => {
      const { port } = new URL(service.url);
      const request = service.app.get(GuardedRequest);
      expect(await request.check(`https://${host}:${port}/api/pro/profile`)).toMatchObject({
        ok: false,
        reason: 'own_address',
      });
      expect(await request.post({ url: `http://${host}:${port}/`, headers: {}, body: '' })).toMatchObject({
        kind: 'failed',
        error: 'destination',
      });
    },
  );
});
