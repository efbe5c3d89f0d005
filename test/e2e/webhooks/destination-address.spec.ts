import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { askFor, REGISTRATIONS, SPELLINGS, WebhookDesk } from './webhook-desk.js';

const KEY = 'Idempotency-Key';

/** What the names of these tests resolve to. */
const names: Record<string, string[] | 'silence'> = {
  'receiver.example.com': ['93.184.216.34'],
  'half-private.example.com': ['93.184.216.34', '10.0.0.7'],
  'private.example.com': ['192.168.1.10'],
  'private6.example.com': ['fd00::1'],
  'silent.example.com': 'silence',
};

let test: TestApp;
let dns: DnsServer;
let desk: WebhookDesk;
beforeAll(async () => {
  dns = await startDnsServer(names);
  test = await startTestApp({ PROCESS_ROLE: 'api', OUTBOUND_ALLOW: 'ledger.internal:8080' });
  askFor(test, dns);
});
beforeEach(async () => {
  desk = await WebhookDesk.in(test);
});
afterAll(async () => {
  await test.close();
  await dns.close();
});

describe.each(SPELLINGS)('POST %s 422 INVALID_DESTINATION', (path) => {
  it.each([
    ['http://receiver.example.com/', 'scheme'],
    ['ftp://receiver.example.com/', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['receiver.example.com/hook', 'syntax'],
    ['https:///hook', 'syntax'],
    ['https:receiver.example.com', 'syntax'],
    ['', 'syntax'],
    [' https://receiver.example.com/', 'characters'],
    ['https://receiver.example.com\\@127.0.0.1/', 'characters'],
    ['https://receiver.example.com/\r\nX-Evil: 1', 'characters'],
    [`https://receiver.example.com/${'x'.repeat(2048)}`, 'length'],
    ['https://user:password@receiver.example.com/', 'user_info'],
    ['https://@receiver.example.com/', 'user_info'],
    ['https://receiver.example.com:22/', 'port'],
    ['https://receiver.example.com:5432/', 'port'],
    ['https://localhost/', 'name'],
    ['https://intranet/', 'name'],
    ['https://db.internal/', 'name'],
    ['https://127.0.0.1/', 'address'],
    ['https://127.1/', 'address'],
    ['https://2130706433/', 'address'],
    ['https://0x7f000001/', 'address'],
    ['https://１２７.0.0.1/', 'address'],
    ['https://0.0.0.0/', 'address'],
    ['https://10.0.0.1/', 'address'],
    ['https://169.254.169.254/latest/meta-data/', 'address'],
    ['https://[::1]/', 'address'],
    ['https://[::ffff:127.0.0.1]/', 'address'],
    ['https://[64:ff9b::7f00:1]/', 'address'],
    ['https://private.example.com/', 'address'],
    ['https://private6.example.com/', 'address'],
    ['https://half-private.example.com/', 'address'],
    ['https://no-such-name.example.com/', 'address'],
    // Allowed with its own port alone.
    ['https://ledger.internal/', 'name'],
  ])('refuses %j for its %s, and saves nothing', async (url, reason) => {
    const before = [await desk.live(), await desk.receiptCount()];
    const { status, body } = await desk.client.post(path, { ...REGISTRATIONS[path], url });
    expect(status).toBe(422);
    expect(body.error).toMatchObject({ code: 'INVALID_DESTINATION', details: { reason } });
    expect(body.error.message).not.toContain('10.0.0.7');
    expect([await desk.live(), await desk.receiptCount()]).toEqual(before);
  });

  it('refuses the address of the service itself', async () => {
    const { port } = new URL(test.url);
    const url = `https://localhost:${port}/api/pro/profile`;
    const { status, body } = await desk.client.post(path, { ...REGISTRATIONS[path], url });
    expect([status, body.error.details]).toEqual([422, { reason: 'own_address' }]);
  });

  it('takes what the operator of the service allows', async () => {
    const url = 'http://ledger.internal:8080/events';
    expect((await desk.client.post(path, { ...REGISTRATIONS[path], url })).status).toBe(201);
  });
});

describe.each(SPELLINGS)('POST %s and the network', (path) => {
  it('asks for a name once', async () => {
    dns.asked.length = 0;
    const body = { ...REGISTRATIONS[path], url: 'https://receiver.example.com/hook' };
    expect((await desk.client.post(path, body)).status).toBe(201);
    // Once for IPv4 and once for IPv6.
    expect(dns.asked).toEqual(['receiver.example.com', 'receiver.example.com']);
  });

  it('asks nothing for a body with a fault, nor for those who may not register', async () => {
    dns.asked.length = 0;
    const body = { ...REGISTRATIONS[path], url: 'https://receiver.example.com/hook' };
    expect((await desk.client.post(path, { ...body, event: 'no.such', description: '' })).status).toBe(422);
    expect((await desk.client.post(path, { ...body, more: 1 })).status).toBe(422);
    expect((await (await desk.as('operator')).post(path, body)).status).toBe(403);
    expect((await new Client(test.url, undefined).post(path, body)).status).toBe(401);
    expect(dns.asked).toEqual([]);
  });

  it('waits for a silent name for two seconds, and holds no transaction meanwhile', async () => {
    const asking = desk.client.post(
      path,
      { ...REGISTRATIONS[path], url: 'https://silent.example.com/' },
      { [KEY]: newId('req') },
    );
    let answered = false;
    void asking.finally(() => (answered = true));
    const open: unknown[] = [];
    const look = () =>
      test.rows(
        `select query from pg_stat_activity where datname = current_database()
           and backend_type = 'client backend' and xact_start < now() - interval '100 ms'`,
      );
    await eventually(async () => {
      open.push(...(await look()));
      return answered;
    });
    const { status, body } = await asking;
    expect([status, body.error.details]).toEqual([422, { reason: 'address' }]);
    expect(open).toEqual([]);
  });
});

describe('registration with an Idempotency-Key', () => {
  it('shows the same secret again under the key, and keeps it sealed', async () => {
    const headers = { [KEY]: newId('req') };
    const body = { description: 'Replayed', url: 'https://receiver.example.com/' };
    const first = await desk.client.post('/partner/webhooks', body, headers);
    const again = await desk.client.post('/partner/webhooks', body, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await desk.live()).filter((row) => row['description'] === 'Replayed')).toHaveLength(1);
    const [kept] = await test.rows<{ body: string }>('select body from idempotency_keys where key = $1', [
      headers[KEY],
    ]);
    expect(kept!.body).not.toContain(first.body.destinationId);
    expect(await desk.everythingKept()).not.toContain(first.body.secret);
  });

  it('has one effect however many ask at once', async () => {
    const headers = { [KEY]: newId('req') };
    const body = { description: 'At once', url: 'https://receiver.example.com/x' };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => desk.client.post('/partner/webhooks', body, headers)),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]!.status).toBe(201);
    expect((await desk.live()).filter((row) => row['description'] === 'At once')).toHaveLength(1);
  });

  it('replays a refusal of the address, whatever the name resolves to by then', async () => {
    const headers = { [KEY]: newId('req') };
    const body = { ...REGISTRATIONS['/webhooks'], url: 'https://moved.example.com/' };
    names['moved.example.com'] = ['10.1.2.3'];
    const first = await desk.client.post('/webhooks', body, headers);
    names['moved.example.com'] = ['93.184.216.34'];
    const again = await desk.client.post('/webhooks', body, headers);
    expect([first.status, again.status]).toEqual([422, 422]);
    // All but the id of the request, which is that of the second one.
    expect({ ...again.body, requestId: first.body.requestId }).toEqual(first.body);
    expect(again.body.requestId).not.toBe(first.body.requestId);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await desk.client.post('/webhooks', body)).status).toBe(201);
  });

  it('answers a key that was used for another request before it minds the faults of this one', async () => {
    const headers = { [KEY]: newId('req') };
    await desk.client.post('/webhooks', REGISTRATIONS['/webhooks'], headers);
    const { status, body } = await desk.client.post('/webhooks', { url: 7 }, headers);
    expect([status, body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  });
});
