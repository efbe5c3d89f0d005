import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { type Answer, Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { newAttempt, setUpAgent } from '../action-requests/consume-races.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** What the log says that this request cost. */
async function roundTrips(answer: Answer): Promise<number> {
  const requestId = answer.headers.get('x-request-id');
  const line = await eventually(async () =>
    test.logs.find((log) => log['requestId'] === requestId && log['msg'] === 'request'),
  );
  expect(line!['roundTrips'], JSON.stringify(line)).toBeTypeOf('number');
  return line!['roundTrips'] as number;
}

/** No look-up of a token is remembered any more. */
const forget = () => test.clock.advance(1_000);
/** Looks the token up, so that what follows does not have to. */
const warm = () => test.owner.get('/guardian');

describe('round trips to the database, as the log has them', () => {
  it('are one a second for all who ask whether the process is ready', async () => {
    const began = performance.now();
    const probe = () => fetch(`${test.url}/health/ready`);
    const ready = await Promise.all(Array.from({ length: 100 }, probe));
    expect(new Set(ready.map(({ status }) => status))).toEqual(new Set([200]));
    const lines = await eventually(
      async () => test.logs.filter(({ route }) => route === '/health/ready'),
      (logged) => logged.length === 100,
    );
    const questions = lines.reduce((sum, line) => sum + Number(line['roundTrips']), 0);
    expect(questions).toBeGreaterThan(0);
    expect(questions).toBeLessThanOrEqual(Math.ceil((performance.now() - began) / 1_000));
  });

  it('is 1 for POST /directive, and at most 3 with a key', async () => {
    await warm();
    for (const headers of [{}, { 'Idempotency-Key': newId('req') }] as Record<string, string>[]) {
      const answer = await test.owner.post('/directive', { text: 'Write a note about tea.' }, headers);
      expect(answer.status).toBe(201);
      expect(await roundTrips(answer)).toBeLessThanOrEqual('Idempotency-Key' in headers ? 3 : 1);
    }
  });

  it('are at most 3 for a replayed POST /directive', async () => {
    await warm();
    const headers = { 'Idempotency-Key': newId('req') };
    await test.owner.post('/directive', { text: 'x' }, headers);
    const again = await test.owner.post('/directive', { text: 'x' }, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await roundTrips(again)).toBeLessThanOrEqual(3);
  });

  it('are at most 2 for an approval, and 3 with a key', async () => {
    for (const headers of [{}, { 'Idempotency-Key': newId('req') }] as Record<string, string>[]) {
      const { approvalId } = (
        await test.owner.post('/directive', {
          text: 'Email jane@acme.example, subject "Delivery": The delivery arrives on Friday.',
        })
      ).body;
      expect((await test.owner.get(`/approvals/${approvalId}?wait=10`)).body.ready).toBe(true);
      await warm();
      const answer = await test.owner.post(`/approvals/${approvalId}/approve`, undefined, headers);
      expect(answer.status, answer.text).toBe(200);
      expect(await roundTrips(answer)).toBeLessThanOrEqual('Idempotency-Key' in headers ? 3 : 2);
    }
  });

  it('are 5 for an action request that an order allows, its parameters checked, and 5 to consume it', async () => {
    const owner = () => new Client(test.url, test.owner.token);
    const clientOf = (token: string) => new Client(test.url, token);
    const agent = clientOf(await setUpAgent({ owner, clientOf, rows: test.rows }));
    const ask = () =>
      agent.post('/action-requests', { tool: 'pay.invoice', params: { order: newId('req') } });
    const consume = ({ actionRequestId, paramsHash }: Answer['body']) =>
      agent.post(`/action-requests/${actionRequestId}/consume`, { attempt: newAttempt(), paramsHash });
    // Looks the token up, and reads the orders in force.
    await ask();
    const asked = await ask();
    expect(asked.body.status, asked.text).toBe('allowed');
    expect(await roundTrips(asked)).toBeLessThanOrEqual(5);
    const consumed = await consume(asked.body);
    expect(consumed.status, consumed.text).toBe(200);
    expect(await roundTrips(consumed)).toBeLessThanOrEqual(5);
  });

  it('is 1 for GET /context, and one more to look the token up', async () => {
    forget();
    const first = await test.owner.get('/context');
    expect(first.status).toBe(200);
    expect(await roundTrips(first)).toBe(2);
    expect(await roundTrips(await test.owner.get('/context'))).toBe(1);
  });

  it('is 1 for GET /bootstrap', async () => {
    await warm();
    const answer = await test.owner.get('/bootstrap');
    expect(answer.status).toBe(200);
    expect(await roundTrips(answer)).toBe(1);
  });

  it('are none for what is refused before', async () => {
    const answer = await test.owner.get('/guardian', { 'x-service-token': 'no' });
    expect(answer.status).toBe(401);
    expect(await roundTrips(answer)).toBe(0);
  });

  it('are one more with the counters in the database', async () => {
    const counting = await startTestApp({ PROCESS_ROLE: 'api', RATE_LIMIT_STORE: 'postgres' });
    try {
      await counting.owner.get('/guardian');
      // All applications of a process write to the log of the first.
      expect(await roundTrips(await counting.owner.get('/context'))).toBe(2);
      // A probe must not fail with the database, nor need it to be counted.
      expect(await roundTrips(await counting.owner.get('/health/live'))).toBe(0);
    } finally {
      await counting.close();
    }
  });
});
