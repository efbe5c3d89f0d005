import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestWorkspace } from '../../support/test-app.js';

type Reader = 'owner' | 'inNone' | 'inOne' | 'inBoth';
type Team = 'one' | 'two' | 'archived' | 'foreign';

let test: TestApp;
let readers: Record<Reader, Client>;
let teams: Record<Team, string>;
let workspace: TestWorkspace;
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
  const { workspaceId, owner } = workspace;
  const team = (name: string) => test.createTeam(workspaceId, name);
  teams = {
    one: await team('One'),
    two: await team('Two'),
    archived: await team('Archived'),
    foreign: await test.createTeam((await test.createWorkspace()).workspaceId, 'Foreign'),
  };
  await test.rows('update teams set archived_at = now() where team_id = $1', [teams.archived]);
  const viewer = (teamIds: string[]) => test.createMember(workspaceId, 'viewer', teamIds);
  readers = {
    owner,
    inNone: await viewer([]),
    inOne: await viewer([teams.one]),
    inBoth: await viewer([teams.one, teams.two]),
  };
});
afterAll(() => test.close());

/** The status, and whose numbers are answered: `all`, `one`, ... */
async function read(by: Client, path: string, team: Team | undefined): Promise<string> {
  const { status, body } = await by.get(team === undefined ? path : `${path}?teamId=${teams[team]}`);
  if (status !== 200) return String(status);
  const [name] = Object.entries(teams).find(([, teamId]) => teamId === body.teamId) ?? ['no team named'];
  return `200 ${name}`;
}

describe('whose numbers are read', () => {
  it.each<[reader: Reader, team: Team | undefined, kpi: string, family: string]>([
    ['owner', undefined, '200 no team named', '200 no team named'],
    ['owner', 'one', '200 one', '200 one'],
    // What it did is still to be read.
    ['owner', 'archived', '200 archived', '200 archived'],
    ['owner', 'foreign', '404', '404'],
    ['inNone', undefined, '200 no team named', '200 no team named'],
    ['inNone', 'one', '404', '404'],
    ['inOne', undefined, '200 one', '200 one'],
    ['inOne', 'one', '200 one', '200 one'],
    ['inOne', 'two', '404', '404'],
    ['inOne', 'archived', '404', '404'],
    // The tiles show both together; a family report is of one.
    ['inBoth', undefined, '200 no team named', '422'],
    ['inBoth', 'two', '200 two', '200 two'],
    ['inBoth', 'foreign', '404', '404'],
  ])('by %s who names %s: the tiles %s, the family report %s', async (reader, team, kpi, family) => {
    expect(await read(readers[reader], '/kpi', team)).toBe(kpi);
    expect(await read(readers[reader], '/family/report', team)).toBe(family);
  });

  it.each<[Reader, number]>([
    ['owner', 200],
    ['inNone', 403],
    ['inOne', 403],
    ['inBoth', 403],
  ])('in the Daily Report by %s, and the kept ones: %s', async (reader, kept) => {
    expect((await readers[reader].get('/reports/daily')).status).toBe(200);
    expect((await readers[reader].get('/reports')).status).toBe(kept);
  });

  it('of a team that was archived, with what was said about them', async () => {
    const { owner } = workspace;
    const { reportId } = (await owner.get(`/family/report?teamId=${teams.archived}`)).body;
    const added = await owner.post('/family/comment', { reportId, body: 'Its last day.' });
    expect(added).toMatchObject({ status: 201, body: { teamId: teams.archived } });
    expect((await owner.get(`/family/comment?reportId=${reportId}`)).body.total).toBe(1);
    expect((await readers.inOne.get(`/family/comment?reportId=${reportId}`)).status).toBe(404);
  });
});
