import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '../../src/platform/auth/caller.js';
import { sha256 } from '../../src/platform/kernel/canonical-json.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { type Answer, Client } from '../support/client.js';
import { type Service, startService } from '../support/processes.js';

/** Acts of every kind at three processes, while a fourth call takes away the right to them. */
let service: Service;
beforeAll(async () => {
  service = await startService(3, { RATE_LIMIT_STORE: 'memory' });
}, 120_000);
afterAll(() => service?.close());

const MEMO = 'File this memo for the board: The delivery delays end on Friday.';

interface Member {
  memberId: string;
  token: string;
}

async function makeMember(
  workspaceId: string,
  role: Role,
  teams: Record<string, string> = {},
): Promise<Member> {
  const [userId, memberId, token] = [newId('usr'), newId('mem'), newOperatorToken()];
  await service.rows(
    `insert into users (user_id, email, display_name) values ($1, $1 || '@example.com', 'Kim')`,
    [userId],
  );
  await service.rows('insert into members (member_id, workspace_id, user_id, role) values ($1, $2, $3, $4)', [
    memberId,
    workspaceId,
    userId,
    role,
  ]);
  for (const [teamId, inTeam] of Object.entries(teams)) {
    await service.rows(
      'insert into team_members (workspace_id, team_id, member_id, role) values ($1, $2, $3, $4)',
      [workspaceId, teamId, memberId, inTeam],
    );
  }
  await service.rows(
    `insert into tokens (token_id, workspace_id, member_id, name, token_hash, hint) values ($1, $2, $3, 'x', $4, '')`,
    [newId('tok'), workspaceId, memberId, sha256(token)],
  );
  return { memberId, token };
}

/** At any process, from an address of its own. */
const anywhere = (token: string) =>
  new Client(service.processes[randomInt(service.processes.length)]!.url, token);
const everywhere = (token: string) => service.processes.map(({ url }) => new Client(url, token));
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function makeTeam(): Promise<string> {
  const { status, body, text } = await service.client().post('/teams', { name: newId('team') });
  expect(status, text).toBe(201);
  return body.teamId;
}

/** A draft that waits for a decision in the team. */
async function ready(teamId: string): Promise<{ approvalId: string; contentHash: string }> {
  const { approvalId } = (await service.client().post('/directive', { text: MEMO, capo: 'capo_ops', teamId }))
    .body;
  const { body } = await service.client().get(`/approvals/${approvalId}?wait=20`);
  expect(body.ready).toBe(true);
  return body;
}

async function signal(teamId: string): Promise<string> {
  const signalId = newId('sig');
  await service.rows(
    `insert into signals (signal_id, workspace_id, team_id, type, severity, title, body, source, created_at)
     values ($1, $2, $3, 'agent', 'info', 'Slow', 'Slow.', '{"type":"system","id":"system","name":"x","via":"schedule"}', now())`,
    [signalId, service.workspaceId, teamId],
  );
  return signalId;
}

type Act = (client: Client) => Promise<Answer>;

/** One act of each kind that the team's operator may do, each about a row of its own. */
async function actsIn(teamId: string): Promise<Record<string, Act>> {
  const [toApprove, toEdit, toReject, toCancel] = await Promise.all([1, 2, 3, 4].map(() => ready(teamId)));
  const signalId = await signal(teamId);
  const { directiveId } = (await service.client().get(`/approvals/${toCancel!.approvalId}`)).body;
  const match = { actionTypes: ['email.send'], fields: { 'params.subject': { $eq: 'none' } } };
  const add = [{ action: { type: 'document.file', params: { title: 'Note', body: 'Told.' } } }];
  return {
    'hands in': (by) => by.post('/directives', { directive: MEMO, capo: 'capo_ops', teamId }),
    approves: (by) => by.post(`/approvals/${toApprove!.approvalId}/approve`),
    edits: (by) =>
      by.send('PATCH', `/approvals/${toEdit!.approvalId}`, { add }, { 'If-Match': toEdit!.contentHash }),
    rejects: (by) => by.post(`/approvals/${toReject!.approvalId}/reject`, { feedback: 'No.' }),
    cancels: (by) => by.post(`/directives/${directiveId}/cancel`),
    acknowledges: (by) => by.post('/ack', { signalId }),
    forbids: (by) => by.post('/standing-orders', { name: 'None', effect: 'deny', match, teamId }),
  };
}

const ofWorkspace: Record<string, Act> = {
  'makes a token': (by) => by.post('/tokens', { name: 'Another' }),
  invites: (by) => by.post('/members', { email: `${newId('usr')}@example.com`, role: 'viewer' }),
};
const kill: Record<string, Act> = { kills: (by) => by.post('/guardian/kill-switch') };

interface Change {
  role: Role;
  /** The role in the team; none for who is in no team. */
  inTeam?: string;
  takeAway: (by: Client, who: Member, teamId: string) => Promise<Answer>;
  /** The receipt behind which the member has no act. */
  action: string;
  /** What an act is told from then on. */
  refusals: number[];
  acts: Record<string, Act>;
}

const CHANGES: Record<string, Change> = {
  'the removal of an admin': {
    role: 'admin',
    takeAway: (by, { memberId }) => by.delete(`/members/${memberId}`),
    action: 'member.removed',
    refusals: [401],
    acts: { ...ofWorkspace, ...kill },
  },
  'the demotion of an admin': {
    role: 'admin',
    takeAway: (by, { memberId }) => by.send('PATCH', `/members/${memberId}`, { role: 'viewer' }),
    action: 'member.role_changed',
    refusals: [403, 404],
    acts: { ...ofWorkspace, ...kill },
  },
  'the removal from a team': {
    role: 'viewer',
    inTeam: 'operator',
    takeAway: (by, { memberId }, teamId) => by.delete(`/teams/${teamId}/members/${memberId}`),
    action: 'team.member_removed',
    refusals: [403, 404],
    acts: kill,
  },
  'a lower role in a team': {
    role: 'viewer',
    inTeam: 'operator',
    takeAway: (by, { memberId }, teamId) =>
      by.send('PATCH', `/teams/${teamId}/members/${memberId}`, { role: 'viewer' }),
    action: 'team.role_changed',
    refusals: [403],
    acts: kill,
  },
};

const ROUNDS = 4;

describe.each(Object.entries(CHANGES))('%s', (_name, change) => {
  it(`has no act of the member behind it in any of ${ROUNDS} rounds`, { timeout: 180_000 }, async () => {
    let done = 0;
    let refused = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const teamId = await makeTeam();
      const who = await makeMember(
        service.workspaceId,
        change.role,
        change.inTeam === undefined ? {} : { [teamId]: change.inTeam },
      );
      const acts = { ...(await actsIn(teamId)), ...change.acts };
      // Each process has looked the caller up a moment ago.
      for (const client of everywhere(who.token)) expect((await client.get('/profile')).status).toBe(200);
      const begun = Object.entries(acts).flatMap(([name, act]) =>
        [1, 2, 3].map(async () => {
          await soon(randomInt(40));
          return { name, answer: await act(anywhere(who.token)) };
        }),
      );
      await soon(randomInt(25));
      const taken = await change.takeAway(service.client(), who, teamId);
      expect(taken.status, taken.text).toBe(200);
      for (const [name, act] of Object.entries(acts)) {
        for (const client of everywhere(who.token)) {
          const { status, text } = await act(client);
          expect(change.refusals, `${name} afterwards: ${status} ${text}`).toContain(status);
        }
      }
      for (const { name, answer } of await Promise.all(begun)) {
        expect(answer.status, `${name}: ${answer.text}`).toBeLessThan(500);
        if (answer.status < 300) done++;
        else if (change.refusals.includes(answer.status)) refused++;
      }
      const [boundary] = await service.rows<{ seq: string }>(
        'select seq from receipts where action = $1 and entity_id = $2',
        [change.action, who.memberId],
      );
      const late = await service.rows('select action, seq from receipts where actor_id = $1 and seq > $2', [
        who.memberId,
        boundary!.seq,
      ]);
      expect(late).toEqual([]);
      // A kill by the member, if it came in time.
      await service.client().post('/guardian/revert', {});
    }
    // Both have happened, or the rounds would show nothing.
    expect(done).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });
});

describe('the last owner', () => {
  const WAYS = [
    (by: Client, whom: string) => by.send('PATCH', `/members/${whom}`, { role: 'operator' }),
    (by: Client, whom: string) => by.delete(`/members/${whom}`),
  ];

  it(
    'stays, whichever owners three owners demote or remove at three processes',
    { timeout: 180_000 },
    async () => {
      /** For each owner the one whom they turn on, themselves included. */
      const aims = [0, 1, 2].flatMap((a) => [0, 1, 2].flatMap((b) => [0, 1, 2].map((c) => [a, b, c])));
      for (const [number, aim] of aims.entries()) {
        const { workspaceId } = await service.createWorkspace('enterprise');
        await service.rows(`update members set status = 'removed' where workspace_id = $1`, [workspaceId]);
        const owners = await Promise.all([1, 2, 3].map(() => makeMember(workspaceId, 'owner')));
        const answers = await Promise.all(
          owners.map(({ token }, index) =>
            WAYS[(number >> index) % 2]!(
              new Client(service.processes[index]!.url, token),
              owners[aim[index]!]!.memberId,
            ),
          ),
        );
        const told = `owners turn on ${aim.join()}: ${answers.map(({ status }) => status).join()}`;
        for (const { status } of answers) expect([200, 401, 403, 404, 409], told).toContain(status);
        const [left] = await service.rows<{ n: number }>(
          `select count(*)::int as n from members where workspace_id = $1 and role = 'owner' and status = 'active'`,
          [workspaceId],
        );
        expect(left!.n, told).toBeGreaterThanOrEqual(1);
      }
    },
  );
});
