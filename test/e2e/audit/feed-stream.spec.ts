import { randomInt } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ReceiptChains } from '../../../src/features/audit/receipt-chains.repository.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Ledger } from './ledger.js';
import { StreamReader } from './stream-reader.js';

let test: TestApp;
let ledger: Ledger;
let owner: TestMember;
const readers: StreamReader[] = [];
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  ledger = await Ledger.open(test);
  owner = await test.createMember(ledger.workspaceId, 'owner');
});
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
});
afterAll(() => test.close());

async function open(
  member: TestMember,
  query?: string,
  headers?: Record<string, string>,
): Promise<StreamReader> {
  const reader = await StreamReader.open(member, query, headers);
  readers.push(reader);
  return reader;
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('GET /feed/stream 200', () => {
  it('sends what happens from now on, as events with the number, the action and the feed item', async () => {
    await ledger.append({ summary: 'Before.' });
    const reader = await open(owner);
    expect(reader.status).toBe(200);
    expect(reader.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-ratelimit-limit': '60',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    await ledger.append({ summary: 'Behind\nthe "line".', action: 'thing.opened' });
    await reader.until(1);
    const { items } = (await owner.get('/feed?limit=1')).body;
    expect(reader.events).toEqual([{ id: 2, event: 'thing.opened', data: items[0] }]);
    expect(reader.text).toBe(
      `retry: 1000\nid: 1\n\nid: 2\nevent: thing.opened\ndata: ${JSON.stringify(items[0])}\n\n`,
    );
  });

  it('is seen without another act', async () => {
    const reader = await open(owner);
    await ledger.append({});
    await reader.until(1);
    expect(reader.events).toHaveLength(1);
  });

  it.each([
    ['the header Last-Event-ID', '', { 'Last-Event-ID': '3' }],
    ['the query lastEventId', '?lastEventId=3', {}],
    ['the header before the query', '?lastEventId=1', { 'Last-Event-ID': '3' }],
  ])('goes on behind %s', async (_case, query, headers) => {
    await ledger.fill(5);
    const reader = await open(owner, query, headers as Record<string, string>);
    await reader.until(2);
    await ledger.append({});
    await reader.until(3);
    expect(reader.seqs).toEqual([4, 5, 6]);
  });

  it('sends a long history from zero in order', async () => {
    await ledger.fill(1500);
    const reader = await open(owner, '?lastEventId=0');
    await reader.until(1500);
    expect(reader.seqs).toEqual(range(1, 1500));
  });

  it('takes a number from the future for now', async () => {
    await ledger.fill(2);
    const reader = await open(owner, '?lastEventId=99');
    await ledger.append({});
    await reader.until(1);
    expect(reader.seqs).toEqual([3]);
  });

  it('loses and repeats nothing over many reconnections while receipts are written', async () => {
    const seen: number[] = [];
    let written = 0;
    for (let connection = 0; seen.length < 300; connection++) {
      const writing = written < 300 ? ledger.fill(30) : Promise.resolve();
      if (written < 300) written += 30;
      // Every other reader comes while they are being written.
      if (connection % 2 === 0) await writing;
      const reader = await open(
        Object.assign(new Client(test.url, owner.token), { memberId: owner.memberId, token: owner.token }),
        '?lastEventId=0',
        seen.length > 0 ? { 'Last-Event-ID': String(seen.at(-1)) } : {},
      );
      await reader.until(1 + randomInt(written - seen.length));
      reader.close();
      seen.push(...reader.seqs);
      await writing;
    }
    expect(seen).toEqual(range(1, 300));
  });

  it('shows each reader the teams that they may see, also while they change', async () => {
    const { workspaceId } = ledger;
    const teamId = await test.createTeam(workspaceId, 'Sales');
    const inside = await test.createMember(workspaceId, 'viewer', [teamId]);
    const outside = await test.createMember(workspaceId, 'viewer');
    const [all, sales, none] = [await open(owner), await open(inside), await open(outside)];
    await ledger.append({ summary: 'all' }, { summary: 'sales', teamId });
    await all.until(2);
    await sales.until(1);
    await none.until(1);
    expect([all.seqs, sales.seqs, none.seqs]).toEqual([[1, 2], [2], [1]]);

    await test.rows(
      'insert into team_members (workspace_id, team_id, member_id, role) values ($1, $2, $3, $4)',
      [...[workspaceId, teamId, outside.memberId, 'viewer']],
    );
    // Whoever listens is looked up again now and then; from then on it is shown, and nothing of before.
    await eventually(
      async () => {
        await ledger.append({ summary: 'sales again', teamId });
        return none.seqs;
      },
      (seqs) => seqs.length > 2,
    );
    const [first, ...later] = none.seqs;
    expect(first).toBe(1);
    expect(later).toEqual(range(later[0]!, later.at(-1)!));
    expect(later[0]).toBeGreaterThan(2);
  });

  it('answers HEAD and lets go', async () => {
    expect((await owner.send('HEAD', '/feed/stream')).status).toBe(200);
  });

  it('looks at the head once for all who listen, and not at all when nobody does', async () => {
    for (let count = 0; count < 10; count++) await open(owner);
    const headSeq = vi.spyOn(test.app.get(ReceiptChains), 'headSeq');
    const at: number[] = [];
    const { workspaceId } = ledger;
    const looks = (id: string) => headSeq.mock.calls.filter(([asked]) => asked === id).length;
    await eventually(
      async () => {
        while (at.length < looks(workspaceId)) at.push(performance.now());
        return at.length;
      },
      (count) => count >= 3,
    );
    expect(at[2]! - at[0]!).toBeGreaterThan(800);

    for (const reader of readers) reader.close();
    const other = await Ledger.open(test);
    await open(await test.createMember(other.workspaceId, 'owner'));
    const untilLooks = (more: number, from = looks(other.workspaceId)) =>
      eventually(
        async () => looks(other.workspaceId),
        (count) => count >= from + more,
      );
    await untilLooks(2);
    const closed = looks(workspaceId);
    await untilLooks(2);
    expect(looks(workspaceId)).toBe(closed);
    headSeq.mockRestore();
  });
});

describe('GET /feed/stream 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/feed/stream')).status).toBe(401);
  });
});

describe('GET /feed/stream 422', () => {
  it.each([
    ['?lastEventId=-1', {}],
    ['?lastEventId=x', {}],
    ['', { 'Last-Event-ID': 'x' }],
    ['', { 'Last-Event-ID': '9'.repeat(40) }],
  ])('refuses %s %j', async (query, headers) => {
    expect((await owner.get(`/feed/stream${query}`, headers as Record<string, string>)).status).toBe(422);
  });
});

describe('GET /feed/stream 429', () => {
  it('lets a member have five streams, and a place is free again once one has left', async () => {
    for (let count = 0; count < 5; count++) await open(owner);
    const refused = await owner.get('/feed/stream');
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({
      code: 'RATE_LIMITED',
      details: { policy: 'feed-streams-member', limit: 5, windowSeconds: 0 },
    });
    expect(refused.headers.get('retry-after')).toBe('15');
    expect((await open(await test.createMember(ledger.workspaceId, 'viewer'))).status).toBe(200);
    readers[0]!.close();
    await eventually(
      async () => (await open(owner)).status,
      (status) => status === 200,
    );
  });

  it('lets a workspace have twenty, and no other workspace notices', async () => {
    for (let count = 0; count < 4; count++) {
      const member = await test.createMember(ledger.workspaceId, 'viewer');
      for (let own = 0; own < 5; own++) expect((await open(member)).status).toBe(200);
    }
    const refused = await owner.get('/feed/stream');
    expect(refused.status).toBe(429);
    expect(refused.body.error.details).toEqual({
      policy: 'feed-streams-workspace',
      limit: 20,
      windowSeconds: 0,
    });
    const { owner: neighbour, workspaceId } = await test.createWorkspace();
    expect((await open(await test.createMember(workspaceId, 'viewer'))).status).toBe(200);
    expect((await neighbour.get('/feed')).status).toBe(200);
  });
});
