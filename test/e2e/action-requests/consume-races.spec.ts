import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { consumeAtOnce, consumeWhileKilled, type Racing, setUpAgent } from './consume-races.js';

// Small here, and over three processes in test/faults/action-requests.spec.ts.
let test: TestApp;
let racing: Racing;
let token: string;
beforeAll(async () => {
  test = await startTestApp();
  racing = {
    owner: () => new Client(test.url, test.owner.token),
    clientOf: (one) => new Client(test.url, one),
    rows: test.rows,
  };
  token = await setUpAgent(racing);
});
afterAll(() => test.close());

it('consumes that race a kill are before it, or refused for good', async () => {
  const figures = await consumeWhileKilled(racing, token, 60);
  expect(Object.values(figures).every((count: number) => count > 0)).toBe(true);
});

it('one request that many consume at once is consumed once', async () => {
  expect(await consumeAtOnce(racing, token, 20)).toEqual({ toMany: 1, toOne: 20 });
});
