import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { CAPO, SignalDesk } from './signal-desk.js';

const HOUR_MS = 3_600_000;

let test: TestApp;
let desk: SignalDesk;
let viewerToken: string;
let viewer: Client;
let salesId: string;
let supportId: string;
let seller: TestMember;
const ids: Record<string, string> = {};

beforeAll(async () => {
  test = await startTestApp();
  desk = new SignalDesk(test);
  viewerToken = (await test.createMember(test.workspaceId, 'viewer')).token;
  salesId = await test.createTeam(test.workspaceId, 'Sales');
  supportId = await test.createTeam(test.workspaceId, 'Support');
  seller = await test.createMember(test.workspaceId, 'operator', [salesId]);
  ids.open = await desk.raise();
  ids.acknowledged = await desk.raise({ type: 'policy', severity: 'info', title: 'An order was paused' });
  ids.snoozed = await desk.raise({ severity: 'critical', title: 'Ask again' });
  ids.awake = await desk.raise({ type: 'agent', title: 'Its snooze is over' });
  ids.withdrawn = await desk.raise({ title: 'Taken back' });
  ids.sales = await desk.raise({ teamId: salesId, title: 'For Sales' });
  ids.support = await desk.raise({ teamId: supportId, title: 'For Support' });
  await test.owner.post('/ack', { signalId: ids.acknowledged, note: 'Seen.' });
  await test.owner.post('/ack', { signalId: ids.snoozed, snoozeUntil: Date.now() + HOUR_MS });
  await test.rows(`update signals set snoozed_until = now() - interval '1 second' where signal_id = $1`, [
    ids.awake,
  ]);
  await desk.within(test.workspaceId, (signals) => signals.withdraw(ids.withdrawn!, CAPO));
});
beforeEach(() => {
  viewer = new Client(test.url, viewerToken);
});
afterAll(() => test.close());

interface Item {
  signalId: string;
}
const listed = (body: { items: Item[] }) => body.items.map(({ signalId }) => signalId);

describe('GET /signals 200', () => {
  it('lists what the caller may see, newest first, without the text', async () => {
    const { status, body } = await viewer.get('/signals');
    expect(status).toBe(200);
    expect(listed(body)).toEqual([ids.awake, ids.snoozed, ids.acknowledged, ids.open]);
    expect(body).toMatchObject({ total: 4, limit: 20, offset: 0, nextCursor: null });
    expect(body.items[3]).toEqual({
      signalId: ids.open,
      type: 'buyer',
      severity: 'warning',
      title: 'A buyer went quiet',
      score: 0.75,
      source: CAPO,
      teamId: null,
      capo: 'capo_revenue',
      entity: { type: 'buyer', id: 'b-1' },
      createdAt: expect.any(Number),
      acknowledgedAt: null,
      acknowledgedBy: null,
      snoozedUntil: null,
    });
  });

  it.each([
    ['type=buyer', ['snoozed', 'open']],
    ['type=buyer&severity=critical', ['snoozed']],
    ['severity=info', ['acknowledged']],
    ['status=open', ['awake', 'open']],
    ['status=snoozed', ['snoozed']],
    ['status=acknowledged', ['acknowledged']],
    ['status=acknowledged&type=buyer', []],
  ])('narrows by %s', async (query, names) => {
    const { status, body } = await viewer.get(`/signals?${query}`);
    expect(status).toBe(200);
    expect(listed(body)).toEqual(names.map((name) => ids[name]));
    expect(body.total).toBe(names.length);
  });

  it("shows a team's signals to that team, with those of no team to those of none", async () => {
    expect(listed((await seller.get('/signals')).body)).toEqual([ids.sales]);
    expect(listed((await seller.get(`/signals?teamId=${salesId}`)).body)).toEqual([ids.sales]);
    expect(listed((await seller.get(`/signals?teamId=${supportId}`)).body)).toEqual([]);
    expect(listed((await viewer.get(`/signals?teamId=${salesId}`)).body)).toEqual([]);
    const everything = listed((await test.owner.get('/signals')).body);
    expect(everything).toEqual(expect.arrayContaining([ids.sales, ids.support, ids.open]));
    expect(listed((await test.owner.get(`/signals?teamId=${supportId}`)).body)).toEqual([ids.support]);
  });

  it('shows nothing of another workspace, with its cursor neither', async () => {
    const { owner } = await test.createWorkspace();
    const { nextCursor } = (await viewer.get('/signals?limit=1')).body;
    expect(nextCursor).not.toBeNull();
    expect((await owner.get('/signals')).body).toMatchObject({ items: [], total: 0 });
    expect((await owner.get(`/signals?cursor=${nextCursor}`)).body.items).toEqual([]);
  });

  it('reads on behind the last item though signals are raised and acknowledged in between', async () => {
    const other = await test.createWorkspace();
    const raised: string[] = [];
    for (let n = 0; n < 6; n++) raised.unshift(await desk.raise({ title: `${n}` }, other.workspaceId));
    // Signals of one moment are told apart by their ids.
    await test.rows(`update signals set created_at = date_trunc('second', now()) where workspace_id = $1`, [
      other.workspaceId,
    ]);
    const first = (await other.owner.get('/signals?status=open&limit=3')).body;
    await desk.raise({ title: 'New' }, other.workspaceId);
    await other.owner.post('/ack', { signalId: first.items[0].signalId });
    const second = (await other.owner.get(`/signals?status=open&limit=100&cursor=${first.nextCursor}`)).body;
    expect([...listed(first), ...listed(second)]).toEqual(raised.toSorted().toReversed());
    expect(second.nextCursor).toBeNull();
  });

  it('keeps to the moment of its first page for what is snoozed', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    for (let n = 0; n < 4; n++) {
      const signalId = await desk.raise({}, workspaceId);
      await owner.post('/ack', { signalId, snoozeUntil: Date.now() + HOUR_MS });
    }
    const first = (await owner.get('/signals?status=snoozed&limit=2')).body;
    test.clock.advance(2 * HOUR_MS);
    try {
      const rest = (await owner.get(`/signals?status=snoozed&limit=2&cursor=${first.nextCursor}`)).body;
      expect(rest.items).toHaveLength(2);
      expect((await owner.get('/signals?status=snoozed')).body.items).toEqual([]);
      expect((await owner.get('/signals?status=open')).body.items).toHaveLength(4);
    } finally {
      test.clock.goOn();
    }
  });
});

describe('GET /signals 401', () => {
  it('answers a caller without a token', async () => {
    const answer = await new Client(test.url, undefined).get('/signals');
    expect(answer.status).toBe(401);
    expect(answer.body).toMatchObject({ error: { code: 'UNAUTHORIZED' }, reason: 'missing_token' });
  });
});

describe('GET /signals 422', () => {
  it.each([
    ['type', 'type=rumour'],
    ['severity', 'severity=high'],
    ['status', 'status=pending'],
    ['status', 'status='],
    ['teamId', 'teamId=sales'],
    ['type', 'type=buyer&type=agent'],
    ['limit', 'limit=101'],
    ['colour', 'colour=red'],
    ['cursor', `cursor=${Buffer.from('["signals",null,1,"sig_1"]').toString('base64url')}x`],
  ])('names a wrong %s once: %s', async (path, query) => {
    const { status, body } = await viewer.get(`/signals?${query}`);
    expect(status).toBe(422);
    expect(body.error.details.map((fault: { path: string }) => fault.path)).toEqual([path]);
  });
});

describe('GET /signals/{signalId} 200', () => {
  it('answers the signal with its text', async () => {
    const { status, body } = await viewer.get(`/signals/${ids.open}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ signalId: ids.open, body: 'No answer for **nine** days.' });
  });
});

describe('GET /signals/{signalId} 404', () => {
  it.each([
    ['an id that names nothing', () => newId('sig')],
    ['what is no id of a signal', () => 'nonsense'],
    ['a withdrawn signal', () => ids.withdrawn],
    ['a signal of a team, to a member of none', () => ids.sales],
    ['a signal of another workspace', async () => desk.raise({}, (await test.createWorkspace()).workspaceId)],
  ])('answers %s', async (_case, id) => {
    const answer = await viewer.get(`/signals/${await id()}`);
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe('NOT_FOUND');
  });
});
