import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { FeedService } from '../../../src/features/audit/feed.service.js';
import { ReceiptLog } from '../../../src/features/audit/receipt-log.repository.js';
import { Callers } from '../../../src/platform/auth/callers.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { ADA, Ledger } from './ledger.js';

const PATH = '/audit-feed';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

/** From an address of its own, since 30 calls a minute are all that one address has. */
const as = (member: TestMember) => new Client(test.url, member.token);

describe('GET /audit-feed 200 as lines', () => {
  let long: Ledger;
  let member: TestMember;
  beforeAll(async () => {
    long = await Ledger.open(test);
    member = await test.createMember(long.workspaceId, 'owner');
    await long.fill(1203);
    await long.append({
      summary: '=HYPERLINK("https://example.com")',
      actor: { ...ADA, name: '+Ada, "the\r\nfirst"' },
      entity: { type: '-thing', id: '@thing' },
      details: { note: 'a,b' },
    });
  });

  const lines = async (query: string, headers: Record<string, string> = {}) => {
    const url = `${test.url}/api/pro${PATH}?${query}`;
    const identity = { 'x-service-token': member.token, 'X-Forwarded-For': as(member).address };
    const response = await fetch(url, { headers: { ...identity, ...headers } });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('answers everything as JSON lines, each the item of a page', async () => {
    const { text, headers, status } = await lines('format=jsonl');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="audit-feed.jsonl"');
    expect(text.endsWith('}\n')).toBe(true);
    const items = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number });
    expect(items.map(({ seq }) => seq)).toEqual(Array.from({ length: 1204 }, (_, index) => 1204 - index));
    const page = await as(member).get(`${PATH}?limit=100`);
    expect(items.slice(0, 100)).toEqual(page.body.items);
  });

  it('answers CSV by RFC 4180 in which no cell is a formula', async () => {
    const { text, headers } = await lines('format=csv&limit=1');
    expect(headers.get('content-type')).toContain('text/csv; charset=utf-8');
    const { items } = (await as(member).get(`${PATH}?limit=1`)).body;
    const { seq, receiptId, at, prevHash, hash } = items[0];
    expect(text).toBe(
      [
        'seq,receiptId,at,actorType,actorId,actorName,actorVia,action,entityType,entityId,directiveId,teamId,capo,' +
          'outcome,summary,details,guardianEpoch,requestId,prevHash,hash',
        `${seq},${receiptId},${new Date(at).toISOString()},member,mem_ada,"'+Ada, ""the\r\nfirst""",api,thing.done,'-thing,'@thing,,,,` +
          `success,"'=HYPERLINK(""https://example.com"")","{""note"":""a,b""}",,,${prevHash},${hash}`,
        '',
      ].join('\r\n'),
    );
  });

  it('answers the head line alone when nothing matches', async () => {
    expect((await lines('format=csv&actor=nobody')).text.split('\r\n')).toHaveLength(2);
    expect((await lines('format=jsonl&actor=nobody')).text).toBe('');
  });

  it.each([1, 499, 500, 501, 1000, 1204, 10_000])('stops at a limit of %i', async (limit) => {
    const { text } = await lines(`format=jsonl&limit=${limit}`);
    expect(text.trimEnd().split('\n')).toHaveLength(Math.min(limit, 1204));
  });

  it('goes on from before', async () => {
    const { text } = await lines('format=jsonl&before=601&limit=600');
    const seqs = text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect([seqs[0], seqs.at(-1), seqs.length]).toEqual([600, 1, 600]);
  });

  it.each([
    ['application/x-ndjson', 'application/x-ndjson; charset=utf-8'],
    ['text/csv', 'text/csv; charset=utf-8; header=present'],
    ['text/html, text/csv;q=0.8, application/json;q=0.5', 'text/csv; charset=utf-8; header=present'],
    ['application/json', 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['text/html, */*;q=0.1', 'application/json; charset=utf-8'],
  ])('honours Accept: %s', async (accept, type) => {
    expect((await lines('limit=2', { Accept: accept })).headers.get('content-type')).toBe(type);
  });

  it('puts format before Accept', async () => {
    const { headers } = await lines('limit=2&format=csv', { Accept: 'text/html' });
    expect(headers.get('content-type')).toContain('text/csv');
  });

  it('reads no further than its reader takes', async () => {
    const caller = await test.app.get(Callers).identify(member.token);
    const listBefore = vi.spyOn(test.app.get(ReceiptLog), 'listBefore');
    await lines('format=jsonl');
    const { length: whole } = listBefore.mock.calls;
    expect(whole).toBeGreaterThan(2);
    listBefore.mockClear();
    const file = await test.app.get(FeedService).read(caller, {}, 'jsonl');
    const stream = 'getStream' in file ? file.getStream() : undefined;
    await new Promise((resolve) => stream!.once('readable', resolve));
    // Another reader takes everything meanwhile.
    await lines('format=jsonl');
    expect(listBefore.mock.calls.length - whole).toBeLessThanOrEqual(2);
    stream!.destroy();
    listBefore.mockRestore();
  });
});
