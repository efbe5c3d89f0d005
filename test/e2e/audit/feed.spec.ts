import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { ADA, Ledger } from './ledger.js';

let test: TestApp;
let ledger: Ledger;
let teamId: string;
let owner: TestMember;
beforeAll(async () => {
  test = await startTestApp();
  ledger = await Ledger.open(test);
  owner = await test.createMember(ledger.workspaceId, 'owner');
  teamId = await test.createTeam(ledger.workspaceId, 'Sales');
  await ledger.append(
    {
      summary: 'Ada let the mail to Bob go out.',
      directiveId: 'dir_1',
      capo: 'capo_revenue',
      outcome: 'failure',
    },
    { summary: 'Ada did it for Sales.', teamId, details: { secret: 'not in the feed' } },
  );
});
afterAll(() => test.close());

const as = (member: TestMember = owner) => new Client(test.url, member.token);

describe('GET /feed 200', () => {
  it('tells the history in sentences, newest first', async () => {
    const { status, body } = await as().get('/feed');
    expect(status).toBe(200);
    const same = {
      at: expect.any(Number),
      actor: ADA,
      action: 'thing.done',
      entity: { type: 'thing', id: 'thing_1' },
    };
    expect(body).toEqual({
      items: [
        { seq: 2, text: 'Ada did it for Sales.', directiveId: null, capo: null, outcome: 'success', ...same },
        {
          seq: 1,
          text: 'Ada let the mail to Bob go out.',
          directiveId: 'dir_1',
          capo: 'capo_revenue',
          outcome: 'failure',
          ...same,
        },
      ],
      nextBefore: null,
    });
  });

  it('pages by before', async () => {
    const { body } = await as().get('/feed?limit=1');
    expect(body.nextBefore).toBe(2);
    const next = await as().get(`/feed?limit=1&before=${body.nextBefore}`);
    expect(next.body.items.map(({ seq }: { seq: number }) => seq)).toEqual([1]);
  });

  it('shows the teams that the caller may see', async () => {
    const seqs = async (member: TestMember) =>
      (await as(member).get('/feed')).body.items.map(({ seq }: { seq: number }) => seq);
    expect(await seqs(await test.createMember(ledger.workspaceId, 'viewer'))).toEqual([1]);
    expect(await seqs(await test.createMember(ledger.workspaceId, 'viewer', [teamId]))).toEqual([2]);
  });
});

describe('GET /feed 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/feed')).status).toBe(401);
  });
});

describe('GET /feed 422', () => {
  it.each(['limit=0', 'limit=101', 'before=x', 'format=csv'])('refuses %s', async (query) => {
    expect((await as().get(`/feed?${query}`)).status).toBe(422);
  });
});

describe('GET /feed 429', () => {
  it('takes 30 calls a minute of one address', async () => {
    const client = as();
    const statuses = new Set<number>();
    for (let call = 0; call < 62; call++) statuses.add((await client.get('/feed?limit=1')).status);
    expect([...statuses]).toEqual([200, 429]);
    expect((await client.get('/feed')).headers.get('x-ratelimit-limit')).toBe('30');
  });
});
