import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRole, type Role, ROLES } from '../../src/platform/auth/caller.js';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { Desk } from '../e2e/directives/desk.js';
import { SignalDesk } from '../e2e/signals/signal-desk.js';
import { Client } from '../support/client.js';
import { eventually, startTestApp, type TestApp, type TestWorkspace } from '../support/test-app.js';

/**
 * CONTRACT section 4: for a team's rows the role in that team decides, for rows without a team the workspace's; owner
 * and admin of the workspace keep theirs everywhere. Every role in the workspace with every role in a team, against
 * every mutation of a row with a team and of one without.
 */
const TEAM_ROLES = ['none', 'viewer', 'operator', 'admin'] as const;
type TeamRole = (typeof TEAM_ROLES)[number];

interface Member {
  memberId: string;
  role: Role;
  teamRole: TeamRole;
  token: string;
}

let test: TestApp;
let workspace: TestWorkspace;
let teamId: string;
let desk: Desk;
const members: Member[] = [];
beforeAll(async () => {
  test = await startTestApp();
  workspace = await test.createWorkspace();
  teamId = await test.createTeam(workspace.workspaceId, 'One');
  desk = new Desk(test, workspace.owner.token);
  for (const role of ROLES) {
    for (const teamRole of TEAM_ROLES) {
      const teams = teamRole === 'none' ? [] : [teamId];
      const { memberId, token } = await test.createMember(workspace.workspaceId, role, teams);
      if (teamRole !== 'none') {
        await test.rows('update team_members set role = $2 where member_id = $1', [memberId, teamRole]);
      }
      members.push({ memberId, role, teamRole, token });
    }
  }
});
afterAll(() => test.close());

const MEMO = 'File this memo for the board: The delivery delays end on Friday.';

async function order(body: object, team: string | null): Promise<string> {
  const answer = await desk.client.post('/standing-orders', {
    name: 'Nothing of the kind',
    match: { actionTypes: ['http.call'], fields: { 'params.operation': { $eq: 'none' } } },
    teamId: team,
    ...body,
  });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.standingOrderId;
}

/** A mutation: the least role that may, the row that it is about, and the call. */
interface Mutation {
  least: Role;
  /** The least role that the route admits, where the row may ask for more. */
  admits?: Role;
  /** Makes a row of this team, or of none, and answers its id. */
  make: (team: string | null) => Promise<string>;
  call: (client: Client, id: string) => Promise<{ status: number; text: string }>;
}

const approval = async (team: string | null) =>
  (await desk.handInReady({ text: MEMO, capo: 'capo_ops', ...(team && { teamId: team }) })).approvalId;

const MUTATIONS: Record<string, Mutation> = {
  'cancels a directive': {
    least: 'operator',
    make: async (team) =>
      (await desk.handIn({ text: MEMO, capo: 'capo_ops', ...(team && { teamId: team }) })).directiveId,
    call: (client, id) => client.post(`/directives/${id}/cancel`),
  },
  approves: {
    least: 'operator',
    make: approval,
    call: (client, id) => client.post(`/approvals/${id}/approve`),
  },
  edits: {
    least: 'operator',
    make: approval,
    call: async (client, id) => {
      const { body } = await client.get(`/approvals/${id}`);
      const add = [{ action: { type: 'document.file', params: { title: 'Note', body: 'Jane was told.' } } }];
      return client.send('PATCH', `/approvals/${id}`, { add }, { 'If-Match': body.contentHash ?? 'none' });
    },
  },
  rejects: {
    least: 'operator',
    make: approval,
    call: (client, id) => client.post(`/approvals/${id}/reject`, { feedback: 'No.' }),
  },
  'asks for another draft': {
    least: 'operator',
    make: approval,
    call: (client, id) => client.post(`/approvals/${id}/reject`, { feedback: 'Shorter.', revise: true }),
  },
  'approves among many': {
    least: 'operator',
    make: approval,
    call: async (client, approvalId) => {
      const answer = await client.post('/approvals', { decisions: [{ approvalId, decision: 'approve' }] });
      const status = answer.body.results?.[0].error?.status;
      return { status: status ?? answer.status, text: answer.text };
    },
  },
  'acknowledges a signal': {
    least: 'operator',
    make: (team) => new SignalDesk(test).raise({ teamId: team }, workspace.workspaceId),
    call: (client, signalId) => client.post('/ack', { signalId }),
  },
  'activates a standing order': {
    least: 'admin',
    make: async (team) => {
      const id = await order({ effect: 'allow', match: { actionTypes: ['document.file'] } }, team);
      await desk.client.post(`/standing-orders/${id}/pause`);
      return id;
    },
    call: (client, id) => client.post(`/standing-orders/${id}/activate`),
  },
  'pauses a standing order that allows': {
    least: 'operator',
    make: (team) => order({ effect: 'allow', match: { actionTypes: ['document.file'] } }, team),
    call: (client, id) => client.post(`/standing-orders/${id}/pause`),
  },
  'pauses a standing order that denies': {
    least: 'admin',
    admits: 'operator',
    make: (team) => order({ effect: 'deny' }, team),
    call: (client, id) => client.post(`/standing-orders/${id}/pause`),
  },
  'archives a standing order': {
    least: 'admin',
    make: (team) => order({ effect: 'deny' }, team),
    call: (client, id) => client.delete(`/standing-orders/${id}`),
  },
};

const seesAll = ({ role }: Member) => hasRole(role, 'admin');
const inTeam = ({ teamRole }: Member) => teamRole !== 'none';

function roleFor(member: Member, team: string | null): Role {
  if (seesAll(member) || team === null) return member.role;
  return member.teamRole === 'none' ? 'viewer' : member.teamRole;
}

function highest({ role, teamRole }: Member): Role {
  return teamRole === 'none' || hasRole(role, teamRole) ? role : teamRole;
}

/** 404 for a row that one may not see; before that 403 for who may do such a thing nowhere. */
function expected(member: Member, team: string | null, least: Role, admits: Role): number {
  if (!hasRole(highest(member), admits)) return 403;
  const sees = seesAll(member) || (team === null ? !inTeam(member) : inTeam(member));
  if (!sees) return 404;
  return hasRole(roleFor(member, team), least) ? 200 : 403;
}

const nameOf = ({ role, teamRole }: Member) => `${role} of the workspace, ${teamRole} of the team`;

describe.each(Object.entries(MUTATIONS))('whoever %s', (_name, { least, admits = least, make, call }) => {
  it.each(['a team', 'no team'])('needs the role in the team of the row, of %s', async (whose) => {
    const team = whose === 'a team' ? teamId : null;
    let id: string | undefined;
    const outcomes: Record<string, number> = {};
    const wanted: Record<string, number> = {};
    for (const member of members) {
      id ??= await make(team);
      const answer = await call(new Client(test.url, member.token), id);
      outcomes[nameOf(member)] = answer.status;
      wanted[nameOf(member)] = expected(member, team, least, admits);
      if (answer.status === 200) id = undefined;
    }
    expect(outcomes).toEqual(wanted);
    expect(Object.values(wanted)).toEqual(expect.arrayContaining([200, 403]));
  });
});

describe('whoever creates', () => {
  const directive = (team: string | null | undefined) => ({
    directive: MEMO,
    capo: 'capo_ops',
    ...(team !== undefined && { teamId: team }),
  });
  const denial = (team: string | null | undefined) => ({
    name: 'None',
    effect: 'deny',
    match: { actionTypes: ['http.call'], fields: { 'params.operation': { $eq: 'none' } } },
    ...(team !== undefined && { teamId: team }),
  });
  const permission = (team: string | null | undefined) => ({
    ...denial(team),
    effect: 'allow',
    match: { actionTypes: ['document.file'] },
  });

  it.each([
    ['a directive', '/directives', directive, 'operator'],
    ['a standing order that denies', '/standing-orders', denial, 'operator'],
    ['a standing order that allows', '/standing-orders', permission, 'admin'],
  ] as const)('%s needs the role in the team that it is for', async (_what, path, bodyOf, least) => {
    const outcomes: Record<string, number> = {};
    const wanted: Record<string, number> = {};
    for (const member of members) {
      for (const team of [teamId, undefined] as const) {
        const name = `${nameOf(member)}, for ${team ? 'the team' : 'the default'}`;
        const answer = await new Client(test.url, member.token).post(path, bodyOf(team));
        outcomes[name] = answer.status;
        // Left out, it is the caller's only team, else none.
        const its = team ?? (inTeam(member) ? teamId : null);
        const status = expected(member, its, least, 'operator');
        wanted[name] = status === 200 ? 201 : status;
      }
    }
    expect(outcomes).toEqual(wanted);
  });
});

describe('what belongs to the workspace and not to a team', () => {
  it('asks for the role in the workspace: the admin of a team is a viewer of it', async () => {
    const teamAdmin = members.find(({ role, teamRole }) => role === 'viewer' && teamRole === 'admin')!;
    const routes = test.app
      .get(RouteTable)
      .entries.filter(({ policy, role }) => policy.auth === 'member' && role !== 'viewer' && !policy.teamRole)
      .flatMap(({ method, paths }) => paths.map((path) => ({ method, path })));
    expect(routes.length).toBeGreaterThan(10);
    const [byToken, bySession] = [
      new Client(test.url, teamAdmin.token),
      await test.signIn(teamAdmin.memberId),
    ];
    for (const { method, path: pattern } of routes) {
      const path = pattern.replace(/:role\b/, 'ceo').replace(/:[^/]+/g, newId('tok'));
      const client = isAdminPath(pattern) ? bySession : byToken;
      const answer = await client.send(method, path, method === 'GET' ? undefined : {});
      expect(answer.status, `${method} ${path}`).toBe(403);
      expect(answer.body.error.details, `${method} ${path}`).toHaveProperty('requiredRoles');
    }
  });

  it('is stopped by whoever may act anywhere, and by nobody else', async () => {
    for (const member of members) {
      const answer = await new Client(test.url, member.token).post('/guardian/kill-switch');
      expect(answer.status, nameOf(member)).toBe(hasRole(highest(member), 'operator') ? 200 : 403);
    }
    await desk.revert();
  });
});

describe('a team that was archived', () => {
  it('gives its members no role any more, and shows them none of its rows', async () => {
    const archived = await test.createTeam(workspace.workspaceId, 'Archived');
    const member = await test.createMember(workspace.workspaceId, 'viewer', [archived]);
    await test.rows(`update team_members set role = 'operator' where member_id = $1`, [member.memberId]);
    const handIn = () =>
      new Desk(test, member.token).client.post('/directive', { text: MEMO, teamId: archived });
    const first = await handIn();
    expect(first.status, first.text).toBe(201);
    const look = () => member.get(`/directives/${first.body.directiveId}`);
    expect((await look()).status).toBe(200);

    await test.rows('update teams set archived_at = now() where team_id = $1', [archived]);
    await eventually(look, ({ status }) => status === 404);
    expect((await handIn()).status).toBe(403);
  });
});
