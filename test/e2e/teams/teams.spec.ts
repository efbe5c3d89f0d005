import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { TeamDesk } from './team-desk.js';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

describe('GET /teams: 200', () => {
  it('shows owner and admin every team, others their own, and a member of none nothing', async () => {
    const ids = async (role: 'owner' | 'admin' | 'operator', teams: Record<string, 'viewer'>) =>
      (await (await desk.member(role, teams)).get('/teams')).body.items
        .map((team: any) => team.teamId)
        .toSorted();
    const both = [desk.teamA, desk.teamB].toSorted();
    expect(await ids('owner', {})).toEqual(both);
    expect(await ids('admin', { [desk.teamA]: 'viewer' })).toEqual(both);
    expect(await ids('operator', { [desk.teamB]: 'viewer' })).toEqual([desk.teamB]);
    expect(await ids('operator', {})).toEqual([]);
    const { items } = (await desk.owner.get('/teams')).body;
    expect(items.find((team: any) => team.teamId === desk.teamB)).toEqual({
      teamId: desk.teamB,
      name: 'Revenue',
      slug: 'revenue',
      memberCount: 1,
      createdAt: expect.any(Number),
      archivedAt: null,
    });
  });
});

describe('POST /teams: 201', () => {
  it('makes a team, with its name in NFKC and a slug, and leaves a receipt that other teams do not see', async () => {
    const { status, body } = await desk.owner.post('/teams', { name: '  Ｃustomer   Süccess ' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'Customer Süccess',
      slug: 'customer-success',
      memberCount: 0,
      archivedAt: null,
    });
    expect(await desk.receipts(body.teamId)).toEqual(['team.created']);
    const outsider = await desk.member('operator', { [desk.teamA]: 'admin' });
    expect((await outsider.get('/audit-feed?limit=100')).text).not.toContain(body.teamId);
    expect((await outsider.get('/teams')).text).not.toContain('Customer');
  });

  it('gives a slug of its own to a name that begins like another', async () => {
    const first = await desk.owner.post('/teams', { name: 'Field Ops' });
    const second = await desk.owner.post('/teams', { name: 'Field-Ops' });
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body.slug).toMatch(/^field-ops-[0-9a-z]{8}$/);
    expect((await desk.owner.post('/teams', { name: '営業' })).body.slug).toBe('team');
  });
});

describe('POST /teams: 403', () => {
  it('for an operator, and for the admin of a team', async () => {
    const before = await desk.stored();
    for (const role of ['viewer', 'operator'] as const) {
      const caller = await desk.member(role, { [desk.teamA]: 'admin' });
      const kept = await desk.stored();
      expect((await caller.post('/teams', { name: 'Mine' })).status).toBe(403);
      expect((await caller.send('PATCH', `/teams/${desk.teamA}`, { name: 'Mine' })).status).toBe(403);
      expect((await caller.post(`/teams/${desk.teamA}/archive`, {})).status).toBe(403);
      expect(await desk.stored()).toBe(kept);
    }
    expect(before).not.toContain('Mine');
  });
});

describe('POST /teams: 409', () => {
  it.each(['Marketing', 'marketing', 'ＭＡＲＫＥＴＩＮＧ', ' Marketing '])(
    'for a name that looks like another: %s',
    async (name) => {
      const before = await desk.stored();
      const answer = await desk.owner.post('/teams', { name });
      expect([answer.status, answer.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
      expect(await desk.stored()).toBe(before);
    },
  );

  it('for all but one of many at a time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        desk.owner.post('/teams', { name: n % 2 ? 'Twins' : 'TWINS' }, { 'X-Forwarded-For': `10.9.9.${n}` }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, ...Array(19).fill(409)]);
  });

  it('when the workspace has as many as it may have', async () => {
    const other = await TeamDesk.open(desk.test);
    await desk.test.rows(
      `insert into teams (team_id, workspace_id, name, name_key, slug)
       select app.new_id('team'), $1, 'T ' || n, 't ' || n, 't-' || n from generate_series(1, 198) n`,
      [other.workspaceId],
    );
    const answer = await other.owner.post('/teams', { name: 'One more' });
    expect(answer.body.error).toMatchObject({
      code: 'LIMIT_REACHED',
      status: 409,
      details: { what: 'teams', limit: 200 },
    });
  });
});

describe('POST /teams: 422', () => {
  it.each([
    ['nothing', {}],
    ['a number', { name: 7 }],
    ['an empty name', { name: ' ' }],
    ['a line break', { name: 'A\nB' }],
    ['a change of direction', { name: 'Sales\u202egnp' }],
    ['an invisible character', { name: 'Mar\u200bketing' }],
    ['letters of two alphabets', { name: 'M\u0430rketing' }],
    ['61 characters', { name: 'x'.repeat(61) }],
    ['an unknown property', { name: 'A', slug: 'b' }],
  ])('for %s, and nothing is made', async (_what, body) => {
    const before = await desk.stored();
    const answer = await desk.owner.post('/teams', body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(await desk.stored()).toBe(before);
  });
});

describe('PATCH /teams/{id}', () => {
  const rename = (teamId: string, name: string, by = desk.owner) =>
    by.send('PATCH', `/teams/${teamId}`, { name });

  it('200: renames, keeps the slug, leaves one receipt however often', async () => {
    const { teamId } = (await desk.owner.post('/teams', { name: 'Old name' })).body;
    for (let n = 0; n < 2; n++) {
      expect((await rename(teamId, 'New name')).body).toMatchObject({
        teamId,
        name: 'New name',
        slug: 'old-name',
      });
    }
    // Another way to write its own name is no other team's.
    expect((await rename(teamId, 'NEW NAME')).status).toBe(200);
    expect(await desk.receipts(teamId)).toEqual(['team.created', 'team.renamed', 'team.renamed']);
  });

  it('404: for a team of another workspace and for none', async () => {
    const other = await TeamDesk.open(desk.test);
    expect((await rename(other.teamA, 'Ours')).status).toBe(404);
    expect((await rename(newId('team'), 'Ours')).status).toBe(404);
  });

  it('409: for the name of another team', async () => {
    const answer = await rename(desk.teamA, 'REVENUE');
    expect([answer.status, answer.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
  });
});
