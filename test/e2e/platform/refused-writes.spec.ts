import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { document } from '../../contract/operations.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

describe.each(['memory', 'postgres'])(
  'a database that takes no writes, with limits counted in %s',
  (store) => {
    let test: TestApp;
    let name: string;
    beforeAll(async () => {
      test = await startTestApp({ RATE_LIMIT_STORE: store });
      name = new URL(test.database.url).pathname.slice(1);
    });
    afterAll(() => test.close());

    const caller = () => new Client(test.url, test.owner.token);
    /** As a provider does when the disk is nearly full; connections that are open notice when they end. */
    async function setReadOnly(value: 'on' | 'off') {
      await test.rows(
        `begin read write; alter database ${name} set default_transaction_read_only = ${value}; commit`,
      );
      await test.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name like 'consigliere%'`,
      );
    }
    const ready = () => fetch(`${test.url}/health/ready`);

    describe('since it is read-only', () => {
      afterEach(() => setReadOnly('off'));

      it('is not ready, answers 503 and never 500, and goes on when writes are taken again', async () => {
        expect((await ready()).status).toBe(200);
        await setReadOnly('on');
        const [down] = await eventually(
          async () => [await ready()],
          ([answer]) => answer!.status === 503,
        );
        expect(down!.headers.get('retry-after')).toBe('1');
        expect(await down!.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
        const reads = Object.entries(document.paths).filter(
          ([path, methods]) => 'get' in methods && !path.includes('{') && !path.endsWith('/stream'),
        );
        expect(reads.length).toBeGreaterThan(30);
        for (const [path] of reads) {
          const { status, text } = await caller().get(path);
          expect(status === 503 || status < 500, `GET ${path}: ${status} ${text}`).toBe(true);
        }
        const writes = await Promise.all([
          caller().post('/directive', { text: 'x' }, { 'Idempotency-Key': 'refused' }),
          caller().post('/guardian/kill-switch', { reason: 'Stop' }),
          caller().put('/settings', { locale: 'de-DE' }),
          caller().post('/api/admin/session', { email: 'ada@example.com', password: 'a long password' }),
        ]);
        for (const { status, headers, text } of writes.slice(0, 2)) {
          expect(status, text).toBe(503);
          expect(headers.get('retry-after')).toBe('1');
        }
        for (const { status, text } of writes) expect(status === 503 || status < 500, text).toBe(true);
        expect(await test.rows('select from directives')).toEqual([]);
        // Only the log of a file's first application can be read.
        if (store === 'memory') {
          await eventually(
            () => Promise.resolve(test.logs),
            (logs) => logs.some(({ msg }) => String(msg).startsWith('the sweep for due work failed')),
          );
          expect(test.logs.filter(({ level, msg }) => level === 'error' && msg !== 'request')).toEqual([]);
        }

        await setReadOnly('off');
        await eventually(ready, ({ status }) => status === 200);
        const again = await caller().post('/directive', { text: 'x' }, { 'Idempotency-Key': 'refused' });
        expect(again.status, again.text).toBe(201);
      });
    });
  },
);

describe('a write that the server cannot carry out', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp({ PROCESS_ROLE: 'api' });
    await test.rows(`
      create schema failing;
      create table failing.code (code text);
      insert into failing.code values ('00000');
      create function failing.fail() returns trigger language plpgsql security definer as $$
        declare now_code text := (select code from failing.code);
        begin
          if now_code <> '00000' then raise exception 'the server failed' using errcode = now_code; end if;
          return new;
        end $$;
      create trigger failing before insert on directives for each row execute function failing.fail()`);
  });
  afterAll(() => test.close());

  it.each([
    ['25006', 'it is read-only'],
    ['40001', 'a standby cancelled it'],
    ['53100', 'its disk is full'],
    ['53200', 'its memory is used up'],
    ['58030', 'its disk failed'],
  ])('is answered 503 and leaves nothing: %s, since %s', async (code) => {
    const before = await test.rows('select from directives');
    await test.rows('update failing.code set code = $1', [code]);
    const answer = await test.owner.post('/directive', { text: 'x' }, { 'Idempotency-Key': code });
    expect(answer.status, answer.text).toBe(503);
    expect(answer.body.error.code).toBe('UNAVAILABLE');
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await test.rows('select from directives')).toEqual(before);
    await test.rows(`update failing.code set code = '00000'`);
    expect((await test.owner.post('/directive', { text: 'x' }, { 'Idempotency-Key': code })).status).toBe(
      201,
    );
  });
});
