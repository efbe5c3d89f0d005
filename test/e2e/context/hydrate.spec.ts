import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Db } from '../../../src/platform/database/db.js';
import { Receipts } from '../../../src/platform/receipts/receipts.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { ADA, Ledger } from '../audit/ledger.js';
import { Device } from './hydrate-desk.js';

const PATH = '/api/local/hydrate';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
afterAll(() => test.close());

async function workspace() {
  const { workspaceId, owner } = await test.createWorkspace();
  const ledger = await Ledger.open(test, workspaceId);
  const device = new Device(test, owner.token!, 'laptop');
  return { workspaceId, owner: owner as TestMember, ledger, device };
}

describe('POST /api/local/hydrate 200', () => {
  it('gives bootstrap, context and the last 100 receipts at the first call', async () => {
    const { owner, ledger, device } = await workspace();
    await ledger.fill(120);
    const answer = await device.once();
    expect(Object.keys(answer).toSorted()).toEqual(
      ['bootstrap', 'bytes', 'context', 'cursor', 'more', 'receipts', 'reset'].toSorted(),
    );
    const bootstrap = (await owner.get('/bootstrap')).body;
    expect(answer.bootstrap).toEqual({ ...bootstrap, serverTime: expect.any(Number) });
    const context = (await owner.get('/context')).body;
    expect(answer.context).toEqual({ ...context, generatedAt: expect.any(String) });
    expect(device.numbers).toEqual(Array.from({ length: 100 }, (_, index) => index + 21));
    const { items } = (await owner.get('/audit-feed?limit=1')).body;
    expect(answer.receipts.at(-1)).toEqual(items[0]);
    expect(answer).toMatchObject({ more: false, reset: false });
  });

  it('begins with nothing in a workspace where nothing has happened, and misses nothing after', async () => {
    const { ledger, device } = await workspace();
    expect((await device.once()).receipts).toEqual([]);
    await ledger.fill(3);
    expect((await device.once()).reset).toBe(false);
    expect(device.numbers).toEqual([1, 2, 3]);
    expect((await device.once()).receipts).toEqual([]);
    expect(device.numbers).toEqual([1, 2, 3]);
  });

  it('gives a client that was away exactly what it missed and may see', async () => {
    const { workspaceId, ledger } = await workspace();
    const [one, two] = [await test.createTeam(workspaceId, 'One'), await test.createTeam(workspaceId, 'Two')];
    const member = await test.createMember(workspaceId, 'operator', [one]);
    const device = new Device(test, member.token, 'phone');
    await device.once();
    for (const teamId of [one, two, null, one, two, one, null]) await ledger.fill(1, { teamId });
    await device.once();
    expect(device.numbers).toEqual([1, 4, 6]);
    // What it may not see is behind the cursor all the same.
    await ledger.fill(2, { teamId: two });
    expect((await device.once()).receipts).toEqual([]);
    await ledger.fill(1, { teamId: one });
    await device.once();
    expect(device.numbers).toEqual([1, 4, 6, 10]);
  });

  it('loses nothing of a long transaction that commits late', async () => {
    const { workspaceId, ledger, device } = await workspace();
    await device.once();
    const db = test.app.get(Db);
    const late = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const act = db.transaction({ workspaceId, teamIds: 'all' }, async () => {
      await db.query('select 1');
      test.app.get(Receipts).append({
        actor: ADA,
        action: 'thing.done',
        entity: { type: 'thing', id: 'late' },
        summary: 'Ada began this early and ended it late.',
      });
      begun.resolve();
      await late.promise;
    });
    await begun.promise;
    await ledger.fill(2);
    await device.once();
    expect(device.numbers).toEqual([1, 2]);
    late.resolve();
    await act;
    await device.once();
    expect(device.receipts.at(-1)).toMatchObject({ seq: 3, entity: { id: 'late' } });
  });

  it('gives many in pages of 1,000, and says that there is more', async () => {
    const { ledger, device } = await workspace();
    await device.once();
    await ledger.fill(1_300);
    const first = await device.once();
    expect([first.receipts.length, first.more]).toEqual([1_000, true]);
    const second = await device.once();
    expect([second.receipts.length, second.more]).toEqual([300, false]);
    expect(device.numbers).toEqual(Array.from({ length: 1_300 }, (_, index) => index + 1));
  });

  it('stays below 2 MB, however large the receipts are', async () => {
    const { ledger, device } = await workspace();
    await device.once();
    // Some just short enough to be listed whole, in characters that JSON writes longer, and some too long for it.
    await ledger.fill(300, { details: { text: '\u0001'.repeat(1_200) } });
    await ledger.fill(20, { details: { text: 'x'.repeat(100_000) } });
    let page;
    let pages = 0;
    do {
      page = await device.once();
      pages++;
      expect(page.bytes).toBeLessThan(2_000_000);
    } while (page.more);
    expect(pages).toBeGreaterThan(1);
    expect(device.numbers).toEqual(Array.from({ length: 320 }, (_, index) => index + 1));
    expect(device.receipts.at(-1)).toMatchObject({ details: { omittedBytes: expect.any(Number) } });
  });

  it('begins anew, and says so, when the service was restored to a time before the cursor', async () => {
    const { ledger, device } = await workspace();
    await ledger.fill(10);
    await device.once();
    await ledger.tamper(
      'delete from receipts where workspace_id = $1 and seq > 6',
      `update receipt_heads set seq = 6, hash = (select hash from receipts where workspace_id = $1 and seq = 6)
       where workspace_id = $1`,
    );
    expect((await device.once()).reset).toBe(true);
    expect(device.numbers).toEqual([1, 2, 3, 4, 5, 6]);
    await ledger.fill(1);
    expect((await device.once()).reset).toBe(false);
    expect(device.numbers).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('begins anew when the restored chain has gone on beyond the cursor differently', async () => {
    const { ledger, device } = await workspace();
    await ledger.fill(10);
    await device.once();
    await ledger.tamper(
      'delete from receipts where workspace_id = $1 and seq > 6',
      `update receipt_heads set seq = 6, hash = (select hash from receipts where workspace_id = $1 and seq = 6)
       where workspace_id = $1`,
    );
    await ledger.fill(20, { summary: 'Another history.' });
    expect((await device.once()).reset).toBe(true);
    expect(device.numbers).toEqual(Array.from({ length: 26 }, (_, index) => index + 1));
  });

  it('begins anew when the caller sees other teams by now', async () => {
    const { workspaceId, owner, ledger } = await workspace();
    const [one, two] = [await test.createTeam(workspaceId, 'One'), await test.createTeam(workspaceId, 'Two')];
    const member = await test.createMember(workspaceId, 'operator', [one]);
    const device = new Device(test, member.token, 'phone');
    for (const teamId of [one, two, one, two]) await ledger.fill(1, { teamId });
    await device.once();
    expect(device.numbers).toEqual([1, 3]);
    await test.rows('insert into team_members values ($1, $2, $3, $4)', [
      workspaceId,
      two,
      member.memberId,
      'viewer',
    ]);
    test.clock.advance(1_000);
    expect((await device.once()).reset).toBe(true);
    expect(device.numbers).toEqual([1, 2, 3, 4]);
    await owner.delete(`/teams/${one}/members/${member.memberId}`);
    test.clock.advance(1_000);
    // What belongs to a team that it has left must go from the device, too.
    expect((await device.once()).reset).toBe(true);
    expect(device.receipts.map(({ seq }) => seq).slice(0, 2)).toEqual([2, 4]);
  });

  it('keeps no answer for an Idempotency-Key: what was missed differs from call to call', async () => {
    const { owner, ledger, device } = await workspace();
    const headers = { 'Idempotency-Key': newId('req') };
    const { cursor: since } = await device.once();
    const call = () => owner.post(PATH, { deviceId: 'laptop', since }, headers);
    expect((await call()).body.receipts).toEqual([]);
    await ledger.fill(1);
    const again = await call();
    expect(again.body.receipts).toHaveLength(1);
    expect(again.headers.get('idempotent-replayed')).toBeNull();
  });

  it('lets a viewer hydrate, and changes nothing but the record of the device', async () => {
    const { workspaceId, ledger } = await workspace();
    await ledger.fill(2);
    const viewer = await test.createMember(workspaceId, 'viewer');
    const head = await ledger.head();
    await new Device(test, viewer.token, 'tablet').all();
    expect(await ledger.head()).toEqual(head);
    expect(
      await test.rows('select member_id, device_id from devices where workspace_id = $1', [workspaceId]),
    ).toEqual([{ member_id: viewer.memberId, device_id: 'tablet' }]);
  });

  it('works for whoever gave up on `since`, and takes null for none', async () => {
    const { ledger, device } = await workspace();
    await ledger.fill(2);
    const { status, body } = await device.call({ deviceId: 'laptop', since: null });
    expect([status, body.receipts.length]).toEqual([200, 2]);
  });
});

describe('POST /api/local/hydrate and the devices of a member', () => {
  it('notes the first and the last time', async () => {
    const { owner, device } = await workspace();
    test.clock.stop();
    const first = test.clock.now();
    await device.once();
    test.clock.advance(60_000);
    await device.once();
    const { devices } = (await owner.get('/profile')).body;
    expect(devices).toEqual([{ deviceId: 'laptop', firstSeenAt: first, lastSeenAt: first + 60_000 }]);
    test.clock.goOn();
  });

  it('knows at most 20, and forgets the one that was away for longest', async () => {
    const { owner } = await workspace();
    const seen = async () =>
      (await owner.get('/profile')).body.devices.map(({ deviceId }: { deviceId: string }) => deviceId);
    for (let n = 1; n <= 20; n++) {
      await new Device(test, owner.token, `device-${n}`).once();
      test.clock.advance(1_000);
    }
    const back = new Device(test, owner.token, 'device-1');
    await back.once();
    test.clock.advance(1_000);
    await new Device(test, owner.token, 'device-21').once();
    const known = await seen();
    expect(known).toHaveLength(20);
    expect(known.slice(0, 2)).toEqual(['device-21', 'device-1']);
    expect(known).not.toContain('device-2');
    test.clock.goOn();
  });

  it('knows at most 20 when many come at once, and serves all of them', async () => {
    const { workspaceId, owner } = await workspace();
    await Promise.all(
      Array.from({ length: 40 }, (_, n) => new Device(test, owner.token, `device-${n}`).once()),
    );
    const [row] = await test.rows<{ n: number }>(
      'select count(*)::int as n from devices where workspace_id = $1',
      [workspaceId],
    );
    expect(row!.n).toBe(20);
  });

  it('lets a forgotten device go on where it was', async () => {
    const { workspaceId, ledger, device } = await workspace();
    await device.once();
    await test.rows('delete from devices where workspace_id = $1', [workspaceId]);
    await ledger.fill(2);
    expect((await device.once()).reset).toBe(false);
    expect(device.numbers).toEqual([1, 2]);
  });
});

describe('POST /api/local/hydrate 401', () => {
  it('answers nobody without a token', async () => {
    const client = new Client(test.url, undefined);
    expect((await client.post(PATH, { deviceId: 'x' })).status).toBe(401);
  });
});

describe('POST /api/local/hydrate 422', () => {
  const cursorFault = [{ path: 'since', rule: 'isCursor' }];

  it('refuses a cursor that this device was not given, and notes nothing', async () => {
    const { workspaceId, owner, device } = await workspace();
    const { cursor } = await device.once();
    const other = await workspace();
    const colleague = await test.createMember(workspaceId, 'owner');
    const before = await test.rows('select * from devices order by 1, 2, 3');
    for (const [who, client, deviceId] of [
      ['another device', owner, 'phone'],
      ['another member', colleague, 'laptop'],
      ['another workspace', other.owner, 'laptop'],
    ] as const) {
      const { status, body } = await client.post(PATH, { deviceId, since: cursor });
      expect(status, who).toBe(422);
      expect(body.error.details, who).toMatchObject(cursorFault);
    }
    expect(await test.rows('select * from devices order by 1, 2, 3')).toEqual(before);
  });

  it('refuses a cursor that was changed or made up', async () => {
    const { device } = await workspace();
    const { cursor } = await device.once();
    const [version, key, text] = cursor.split('.');
    for (const since of [
      '',
      'x',
      '12',
      `${cursor}.`,
      cursor.slice(0, -4),
      [version, text, key].join('.'),
      [version, key, `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`].join('.'),
      cursor.replace('v1', 'v2'),
    ]) {
      const { status, body } = await device.call({ deviceId: 'laptop', since });
      expect(status, since).toBe(422);
      expect(body.error.details, since).toMatchObject(cursorFault);
    }
  });

  it.each([
    [{}, 'deviceId'],
    [{ deviceId: '' }, 'deviceId'],
    [{ deviceId: 'x'.repeat(65) }, 'deviceId'],
    [{ deviceId: 'my laptop' }, 'deviceId'],
    [{ deviceId: 'läptop' }, 'deviceId'],
    [{ deviceId: 7 }, 'deviceId'],
    [{ deviceId: 'x', since: 12 }, 'since'],
    [{ deviceId: 'x', since: 'x'.repeat(1_001) }, 'since'],
    [{ deviceId: 'x', cursor: 'x' }, 'cursor'],
  ])('refuses %j and names the fault', async (body, path) => {
    const { device } = await workspace();
    const answer = await device.call(body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path }]);
  });
});

describe('POST /api/local/hydrate 429', () => {
  it('takes 5 calls an hour of one address', async () => {
    const { owner } = await workspace();
    const client = new Client(test.url, owner.token);
    const statuses = [];
    for (let n = 0; n < 6; n++) statuses.push((await client.post(PATH, { deviceId: 'x' })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });
});
