import { connect } from 'node:net';
import { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeedStream } from '../../../src/features/audit/feed-stream.js';
import { ReceiptChains } from '../../../src/features/audit/receipt-chains.repository.js';
import { ReceiptLog } from '../../../src/features/audit/receipt-log.repository.js';
import { Callers } from '../../../src/platform/auth/callers.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { Readiness } from '../../../src/platform/observability/health.controller.js';
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
      `retry: 1000\n\nid: 2\nevent: thing.opened\ndata: ${JSON.stringify(items[0])}\n\n`,
    );
  });

  it('is seen within a second of the act', async () => {
    const reader = await open(owner);
    await ledger.append({});
    const from = Date.now();
    await reader.until(1);
    expect(Date.now() - from).toBeLessThan(1000);
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
    const writing = (async () => {
      for (let batch = 0; batch < 30; batch++) {
        await ledger.fill(10);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const seen: number[] = [];
    for (let connection = 0; seen.length < 300 && connection < 50; connection++) {
      const reader = await open(
        Object.assign(new Client(test.url, owner.token), { memberId: owner.memberId, token: owner.token }),
        '?lastEventId=0',
        seen.length > 0 ? { 'Last-Event-ID': String(seen.at(-1)) } : {},
      );
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400));
      reader.close();
      seen.push(...reader.seqs);
    }
    await writing;
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
    await new Promise((resolve) => setTimeout(resolve, 1200));
    await ledger.append({ summary: 'sales again', teamId });
    await none.until(2);
    expect(none.seqs).toEqual([1, 3]);
  });

  it('answers HEAD and lets go', async () => {
    expect((await owner.send('HEAD', '/feed/stream')).status).toBe(200);
  });

  it('looks at the head once for all who listen, and not at all when nobody does', async () => {
    const headSeq = vi.spyOn(test.app.get(ReceiptChains), 'headSeq');
    for (let count = 0; count < 10; count++) await open(owner);
    const { length: opened } = headSeq.mock.calls;
    await new Promise((resolve) => setTimeout(resolve, 2100));
    const looks = headSeq.mock.calls.length - opened;
    expect(looks).toBeGreaterThanOrEqual(2);
    expect(looks).toBeLessThanOrEqual(5);
    for (const reader of readers) reader.close();
    await new Promise((resolve) => setTimeout(resolve, 700));
    const { length: closed } = headSeq.mock.calls;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(headSeq.mock.calls.length).toBe(closed);
    headSeq.mockRestore();
  });
});

describe('GET /feed/stream, its end', () => {
  it('comes within two seconds of the token being revoked', async () => {
    const [revoked, other] = [
      await open(owner),
      await open(await test.createMember(ledger.workspaceId, 'viewer')),
    ];
    await test.rows('update tokens set revoked_at = now() where token_hash = $1', [sha256(owner.token)]);
    await eventually(async () => revoked.ended, Boolean, 2);
    await ledger.append({});
    await other.until(1);
    expect(revoked.events).toEqual([]);
  });

  it('comes with the member being removed', async () => {
    const reader = await open(owner);
    await test.rows(`update members set status = 'removed' where member_id = $1`, [owner.memberId]);
    await eventually(async () => reader.ended, Boolean, 2);
  });

  it('comes to a reader who takes nothing, while others read on', async () => {
    const [socket, reader] = [connect(Number(new URL(test.url).port)), await open(owner)];
    socket.on('error', () => undefined).pause();
    socket.write(
      `GET /api/pro/feed/stream?lastEventId=0 HTTP/1.1\r\nHost: x\r\nx-service-token: ${owner.token}\r\n\r\n`,
    );
    const listAfter = vi.spyOn(test.app.get(ReceiptLog), 'listAfter');
    const closed = vi.spyOn(ServerResponse.prototype, 'destroy');
    for (let batch = 0; batch < 20; batch++) await ledger.fill(500, { summary: 'x'.repeat(1000) });
    await reader.until(10_000);
    await eventually(async () => closed.mock.calls.length, Boolean, 12);
    // 10,000 sentences are 12 MB; it was sent no page beyond those that the sockets themselves hold.
    const pages = listAfter.mock.calls.length;
    await ledger.append({});
    await reader.until(10_001);
    expect(listAfter.mock.calls.length - pages).toBe(1);
    socket.destroy();
    listAfter.mockRestore();
    closed.mockRestore();
  }, 30_000);
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
  it('lets a workspace have twenty streams, and a place is free again once one has left', async () => {
    for (let count = 0; count < 20; count++) await open(owner);
    const refused = await owner.get('/feed/stream');
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({
      code: 'RATE_LIMITED',
      details: { policy: 'feed-streams', limit: 20, windowSeconds: 0 },
    });
    expect(refused.headers.get('retry-after')).toBe('15');
    const { owner: neighbour, workspaceId } = await test.createWorkspace();
    expect((await open(await test.createMember(workspaceId, 'viewer'))).status).toBe(200);
    expect((await neighbour.get('/feed')).status).toBe(200);
    readers[0]!.close();
    await eventually(
      async () => (await open(owner)).status,
      (status) => status === 200,
    );
  });
});

describe('GET /feed/stream 503', () => {
  it('ends every stream and takes no new one once the process drains', async () => {
    const own = await startTestApp();
    try {
      const member = await own.createMember(own.workspaceId, 'owner');
      const reader = await open(member);
      own.app.get(Readiness).drain();
      await eventually(async () => reader.ended, Boolean, 2);
      const refused = await member.get('/feed/stream');
      expect([refused.status, refused.body.reason]).toEqual([503, 'draining']);
    } finally {
      await own.close();
    }
  });

  it('does not keep the application from closing', async () => {
    const own = await startTestApp();
    const reader = await open(await own.createMember(own.workspaceId, 'owner'));
    await own.close();
    await eventually(async () => reader.ended, Boolean, 2);
  });
});

describe('a quiet stream', () => {
  it('says something every fifteen seconds', async () => {
    vi.useFakeTimers();
    try {
      const written: string[] = [];
      const response = new ServerResponse(Object.assign(Object.create(null), { method: 'GET' }));
      vi.spyOn(response, 'write').mockImplementation((chunk: unknown) =>
        Boolean(written.push(String(chunk))),
      );
      const caller = await test.app.get(Callers).identify(owner.token);
      new FeedStream(caller, async () => caller, test.app.get(ReceiptLog), response).begin(0);
      vi.advanceTimersByTime(45_000);
      expect(written).toEqual(['retry: 1000\n\n', ':\n\n', ':\n\n', ':\n\n']);
      response.emit('close');
      vi.advanceTimersByTime(45_000);
      expect(written).toHaveLength(4);
    } finally {
      vi.useRealTimers();
    }
  });
});
