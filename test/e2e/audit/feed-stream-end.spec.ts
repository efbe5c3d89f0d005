import { connect } from 'node:net';
import { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { FeedStream } from '../../../src/features/audit/feed.service.js';
import { ReceiptLog } from '../../../src/features/audit/receipt-log.repository.js';
import { Callers } from '../../../src/platform/auth/callers.js';
import { sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { Readiness } from '../../../src/platform/observability/health.controller.js';
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
    expect(await eventually(async () => reader.ended, Boolean, 2)).toBe(true);
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

describe('GET /feed/stream 503', () => {
  it('ends every stream and takes no new one once the process stops listening', async () => {
    const own = await startTestApp();
    try {
      const member = await own.createMember(own.workspaceId, 'owner');
      const reader = await open(member);
      own.app.get(Readiness).close();
      expect(await eventually(async () => reader.ended, Boolean, 2)).toBe(true);
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
    expect(await eventually(async () => reader.ended, Boolean, 2)).toBe(true);
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
      expect(written).toEqual(['retry: 1000\nid: 0\n\n', ':\n\n', ':\n\n', ':\n\n']);
      response.emit('close');
      vi.advanceTimersByTime(45_000);
      expect(written).toHaveLength(4);
    } finally {
      vi.useRealTimers();
    }
  });
});
