import type { PoolClient } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Db } from '../../../src/platform/database/db.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

vi.setConfig({ testTimeout: 30_000 });

describe.each(['memory', 'postgres'])('a database that is slow, with limits counted in %s', (store) => {
  let test: TestApp;
  let other: PoolClient;
  beforeEach(async () => {
    test = await startTestApp({ PROCESS_ROLE: 'api', RATE_LIMIT_STORE: store });
    other = await test.database.owner.connect();
  });
  afterEach(async () => {
    other.release();
    await test.close();
  });

  const caller = () => new Client(test.url, test.owner.token);
  /** Somebody else, a person at a console say, keeps this table to themselves. */
  const locked = (table: string) => other.query(`begin; lock table ${table} in access exclusive mode`);
  const waiting = () =>
    test.rows<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name = 'consigliere' and wait_event_type = 'Lock'`,
    );

  it('ends a statement after 15 seconds', async () => {
    const [row] = await test.app
      .get(Db)
      .system<{ timeout: string }>(`select current_setting('statement_timeout') as timeout`);
    expect(row).toEqual({ timeout: '15s' });
  });

  it('answers 503 with Retry-After when a statement was ended, and a write leaves nothing', async () => {
    await locked('documents');
    await locked('approvals');
    const reading = caller().get('/documents');
    const writing = caller().post('/directive', { text: 'x' }, { 'Idempotency-Key': 'slow' });
    // By the timeout or by an operator, PostgreSQL says the same.
    for (const { pid } of await eventually(waiting, (rows) => rows.length === 2)) {
      await test.rows('select pg_cancel_backend($1)', [pid]);
    }
    for (const answer of await Promise.all([reading, writing])) {
      expect(answer.status, answer.text).toBe(503);
      expect(answer.body.error.code).toBe('UNAVAILABLE');
      expect(answer.headers.get('retry-after')).toBe('1');
    }
    await other.query('rollback');
    expect(await test.rows('select 1 from directives')).toEqual([]);
    expect((await caller().post('/directive', { text: 'x' }, { 'Idempotency-Key': 'slow' })).status).toBe(
      201,
    );
  });

  it('lets the kill switch through when every other connection hangs', async () => {
    await locked('documents');
    const hanging = Array.from({ length: 20 }, () => caller().get('/documents'));
    await eventually(waiting, (rows) => rows.length === 8);
    const killed = await caller().post('/guardian/kill-switch', { reason: 'Stop' });
    expect(killed.status, killed.text).toBe(200);
    expect(killed.body).toMatchObject({ mode: 'killed', changed: true });
    expect((await waiting()).length, 'all others still hang').toBe(8);
    await other.query('rollback');
    const statuses = (await Promise.all(hanging)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(8);
    expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect((await caller().get('/documents')).status).toBe(200);
  });
});
