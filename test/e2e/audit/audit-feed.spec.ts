import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { canonicalJson } from '../../../src/platform/kernel/canonical-json.js';
import { GENESIS_HASH, receiptHash } from '../../../src/platform/receipts/receipt.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { ADA, Ledger } from './ledger.js';

const PATH = '/audit-feed';

let test: TestApp;
let ledger: Ledger;
let owner: TestMember;
beforeAll(async () => {
  test = await startTestApp();
  ledger = await Ledger.open(test);
  owner = await test.createMember(ledger.workspaceId, 'owner');
});
afterAll(() => test.close());

/** From an address of its own, since 30 calls a minute are all that one address has. */
const as = (member: TestMember = owner) => new Client(test.url, member.token);

const summaries = async (query: string, member = owner): Promise<string[]> => {
  const { status, body } = await as(member).get(`${PATH}?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.items.map((item: { summary: string }) => item.summary);
};

describe('GET /audit-feed 200', () => {
  it('answers each receipt as it was hashed, with its place in the chain', async () => {
    const { workspaceId } = ledger;
    const details = { amount: 12.5, to: ['ada@example.com'], note: null };
    const named = {
      directiveId: 'dir_1',
      capo: 'capo_ops',
      outcome: 'denied' as const,
      guardianEpoch: 3,
      details,
    };
    await ledger.append({ summary: 'The first.' }, { summary: 'The second — „größer“.', ...named });
    const { body, headers } = await as().get(PATH);
    expect(body.nextBefore).toBeNull();
    expect(body.items).toHaveLength(2);
    const [second, first] = body.items;
    expect(second).toEqual({
      receiptId: expect.stringMatching(/^rcp_[0-9a-z]{26}$/),
      seq: 2,
      at: expect.any(Number),
      actor: ADA,
      action: 'thing.done',
      entity: { type: 'thing', id: 'thing_1' },
      teamId: null,
      summary: 'The second — „größer“.',
      requestId: null,
      prevHash: first.hash,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      ...named,
    });
    expect(first.prevHash).toBe(GENESIS_HASH);
    // Anyone can make the hash again from what was answered.
    const { seq: _seq, prevHash, hash, ...content } = second;
    expect(receiptHash(prevHash, canonicalJson({ ...content, workspaceId }))).toBe(hash);
    expect(headers.get('vary')).toContain('Accept');
  });

  it('reads a page in one round trip', async () => {
    const client = as();
    await client.get(PATH);
    const { headers } = await client.get(PATH);
    const line = await vi.waitUntil(() =>
      test.logs.find((one) => one['requestId'] === headers.get('x-request-id')),
    );
    expect(line['roundTrips']).toBe(1);
  });

  it('pages to the first receipt without a gap or a repetition', async () => {
    const paged = await Ledger.open(test);
    const member = await test.createMember(paged.workspaceId, 'owner');
    await paged.fill(45);
    const seen: number[] = [];
    for (let before: number | null = null, pages = 0; pages < 5; pages++) {
      const { body }: { body: { items: { seq: number }[]; nextBefore: number | null } } = await as(
        member,
      ).get(`${PATH}${before === null ? '' : `?before=${before}`}`);
      seen.push(...body.items.map(({ seq }) => seq));
      before = body.nextBefore;
      if (before === null) break;
    }
    expect(seen).toEqual(Array.from({ length: 45 }, (_, index) => 45 - index));
  });

  describe('filters', () => {
    let filtered: Ledger;
    let member: TestMember;
    let at: number[];
    let teamId: string;
    beforeAll(async () => {
      filtered = await Ledger.open(test);
      member = await test.createMember(filtered.workspaceId, 'admin');
      teamId = await test.createTeam(filtered.workspaceId, 'Sales');
      const bob = { ...ADA, id: 'mem_bob' };
      await filtered.append(
        { summary: 'a', action: 'approval.approved', actor: bob, capo: 'ceo' },
        { summary: 'b', action: 'approval.rejected', entity: { type: 'approval', id: 'apr_1' } },
        { summary: 'c', action: 'approvals.listed', teamId },
        {
          summary: 'd',
          action: 'approval_round.begun',
          capo: 'capo_ops',
          entity: { type: 'x', id: 'apr_1' },
        },
      );
      const times = await test.rows<{ at: Date }>(
        'select at from receipts where workspace_id = $1 order by seq',
        [filtered.workspaceId],
      );
      at = times.map((row) => row.at.getTime());
    });

    it.each([
      ['the actor', () => 'actor=mem_bob', ['a']],
      ['an action', () => 'action=approval.approved', ['a']],
      ['the beginning of an action', () => 'action=approval.*', ['b', 'a']],
      ['a capo', () => 'capo=capo_ops', ['d']],
      ['a team', () => `teamId=${teamId}`, ['c']],
      ['an entity', () => 'entity=apr_1', ['d', 'b']],
      ['several at once', () => 'action=approval.*&entity=apr_1', ['b']],
      ['several that no receipt has', () => 'actor=mem_bob&capo=capo_ops', []],
      ['a number', () => 'before=2', ['a']],
      ['a wildcard of the database, taken as it is', () => 'actor=mem_b%25', []],
    ])('by %s', async (_case, query, expected) => {
      expect(await summaries(query(), member)).toEqual(expected);
    });

    it('by a stretch of time that is half open', async () => {
      expect(await summaries(`from=${at[0]}&to=${at[0]}`, member)).toEqual([]);
      expect(await summaries(`from=${at[0]}&to=${at[3]! + 1}`, member)).toHaveLength(4);
      expect(await summaries(`from=${at[3]! + 1}`, member)).toEqual([]);
    });

    it('with each of their combinations prepared, and none refused', async () => {
      const all = [
        'actor=a',
        'action=a.*',
        'capo=ceo',
        `teamId=${teamId}`,
        'entity=e',
        'from=1',
        'to=2',
        'before=9',
      ];
      for (let bits = 0; bits < 2 ** all.length; bits += 15) {
        const filters = all.filter((_, index) => bits & (1 << index));
        const found = await summaries(filters.join('&'), member);
        // Nothing is as old as that.
        expect(filters.includes('to=2') ? found : []).toEqual([]);
      }
    });
  });

  it('shows the teams that the caller may see, and nothing of another workspace', async () => {
    const shared = await Ledger.open(test);
    const { workspaceId } = shared;
    const [sales, support] = [
      await test.createTeam(workspaceId, 'A'),
      await test.createTeam(workspaceId, 'B'),
    ];
    await shared.append(
      { summary: 'all' },
      { summary: 'sales', teamId: sales },
      { summary: 'support', teamId: support },
    );
    const seenBy = async (role: 'viewer' | 'operator' | 'admin' | 'owner', teams: string[]) =>
      summaries('', await test.createMember(workspaceId, role, teams));
    expect(await seenBy('owner', [])).toEqual(['support', 'sales', 'all']);
    expect(await seenBy('admin', [sales])).toEqual(['support', 'sales', 'all']);
    expect(await seenBy('operator', [sales])).toEqual(['sales']);
    expect(await seenBy('viewer', [sales, support])).toEqual(['support', 'sales']);
    expect(await seenBy('viewer', [])).toEqual(['all']);
    expect(await summaries('entity=thing_1&limit=100')).not.toContain('support');
  });

  it('shows the receipts around one whose bytes were broken', async () => {
    const broken = await Ledger.open(test);
    const member = await test.createMember(broken.workspaceId, 'viewer');
    await broken.append({ summary: 'a' }, { summary: 'b' }, { summary: 'c' });
    await broken.tamper(
      `update receipts set body = left(body, 20) where workspace_id = $1 and seq = 1`,
      `update receipts set body = '{"actor":null,"entity":7,"summary":"b"}' where workspace_id = $1 and seq = 2`,
    );
    expect(await summaries('', member)).toEqual(['c', 'b', expect.stringContaining('cannot be read')]);
    const csv = await as(member).get(`${PATH}?format=csv`);
    expect(csv.text.split('\r\n')).toHaveLength(5);
    expect((await as(member).get('/feed')).body.items).toHaveLength(3);
  });
});

describe('GET /audit-feed 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get(PATH)).status).toBe(401);
  });
});

describe('GET /audit-feed 406', () => {
  it('names what is available', async () => {
    const answer = await as().get(PATH, { Accept: 'text/html' });
    expect(answer.status).toBe(406);
    expect(answer.body.error).toMatchObject({
      code: 'NOT_ACCEPTABLE',
      details: { available: ['application/json', 'application/x-ndjson', 'text/csv'] },
    });
  });
});

describe('GET /audit-feed 422', () => {
  it.each([
    ['actor=', 'actor', 'matches'],
    ['actor=a&actor=b', 'actor', 'matches'],
    ['actor=%C3%A4', 'actor', 'matches'],
    ['action=approval.%25', 'action', 'matches'],
    ['action=*', 'action', 'matches'],
    ['capo=cfo', 'capo', 'isIn'],
    ['teamId=sales', 'teamId', 'matches'],
    ['from=yesterday', 'from', 'isInt'],
    ['to=-1', 'to', 'min'],
    ['to=9e15', 'to', 'isInt'],
    ['to=9000000000000000', 'to', 'max'],
    ['before=0', 'before', 'min'],
    ['before=1.5', 'before', 'isInt'],
    ['limit=101', 'limit', 'max'],
    ['limit=10001&format=csv', 'limit', 'max'],
    ['format=xml', 'format', 'isIn'],
    ['since=1', 'since', 'unknownProperty'],
  ])('refuses %s', async (query, path, rule) => {
    const { status, body } = await as().get(`${PATH}?${query}`);
    expect(status).toBe(422);
    expect(body.error.details).toEqual([{ path, rule, message: expect.any(String) }]);
  });

  it('refuses NUL', async () => {
    expect((await as().get(`${PATH}?entity=%00`)).status).toBe(422);
  });
});

describe('GET /audit-feed 429', () => {
  it('takes 30 calls a minute of one address', async () => {
    const client = as();
    const statuses = new Set<number>();
    for (let call = 0; call < 62; call++) statuses.add((await client.get(`${PATH}?limit=1`)).status);
    const refused = await client.get(PATH);
    expect([...statuses]).toEqual([200, 429]);
    expect(refused.headers.get('x-ratelimit-limit')).toBe('30');
  });
});
