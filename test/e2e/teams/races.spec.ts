import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { TeamDesk } from './team-desk.js';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

describe('one invite', () => {
  it('makes one member of 100 acceptances at a time', { timeout: 60_000 }, async () => {
    const { inviteId } = await desk.invite('crowd@example.com');
    const token = await desk.token(inviteId);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => desk.accept(token, { displayName: `Jo ${n}` })),
    );
    const statuses = Map.groupBy(answers, ({ status, body }) => `${status} ${body.error?.code ?? ''}`);
    expect([...statuses.keys()].toSorted()).toEqual(['201 ', '409 INVITE_ACCEPTED']);
    expect(statuses.get('201 ')).toHaveLength(1);
    const rows = await desk.test.rows(
      `select tm.role from users u join members m using (user_id) join team_members tm using (member_id)
       where u.email = 'crowd@example.com'`,
    );
    expect(rows).toEqual([{ role: 'operator' }]);
    expect((await desk.receipts(inviteId)).filter((action) => action === 'invite.accepted')).toHaveLength(1);
  });

  it('makes one account of two invites by two workspaces that are accepted at once', async () => {
    const other = await TeamDesk.open(desk.test);
    for (let n = 0; n < 5; n++) {
      const email = `meets${n}@example.com`;
      const [a, b] = [await desk.invite(email), await other.invite(email)];
      const tokens = [await desk.token(a.inviteId), await other.token(b.inviteId)];
      const answers = await Promise.all(tokens.map((token) => desk.accept(token)));
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(new Set(answers.map(({ body }) => body.userId)).size).toBe(1);
    }
  });

  it('is accepted or withdrawn, and never both', async () => {
    for (let n = 0; n < 8; n++) {
      const { inviteId } = await desk.invite(`either${n}@example.com`);
      const token = await desk.token(inviteId);
      const [accepted, withdrawn] = await Promise.all([
        desk.accept(token),
        desk.owner.delete(`/invites/${inviteId}`),
      ]);
      const members = await desk.test.rows(
        'select 1 from users join members using (user_id) where email = $1',
        [`either${n}@example.com`],
      );
      expect([accepted.status, withdrawn.status, members.length]).toBeOneOf([
        [201, 409, 1],
        [410, 200, 0],
      ]);
    }
  });
});

describe('the last owner', () => {
  const owners = async (workspaceId: string) =>
    (
      await desk.test.rows(
        `select 1 from members where workspace_id = $1 and role = 'owner' and status = 'active'`,
        [workspaceId],
      )
    ).length;

  it('stays, however two owners demote or remove each other', { timeout: 60_000 }, async () => {
    const ways = [
      (by: Client, whom: string) => by.send('PATCH', `/members/${whom}`, { role: 'viewer' }),
      (by: Client, whom: string) => by.delete(`/members/${whom}`),
    ];
    for (let n = 0; n < 12; n++) {
      const { workspaceId } = await desk.test.createWorkspace();
      await desk.test.rows(`delete from tokens where workspace_id = $1`, [workspaceId]);
      await desk.test.rows(`update members set status = 'removed' where workspace_id = $1`, [workspaceId]);
      const [a, b] = [
        await desk.test.createMember(workspaceId, 'owner'),
        await desk.test.createMember(workspaceId, 'owner'),
      ];
      const answers = await Promise.all([ways[n % 2]!(a, b.memberId), ways[(n >> 1) % 2]!(b, a.memberId)]);
      expect(answers.map(({ status }) => status).toSorted()[0]).toBe(200);
      expect(await owners(workspaceId)).toBe(1);
    }
  });

  it('stays when ten requests at once would take the role from every owner', async () => {
    const { workspaceId, owner } = await desk.test.createWorkspace();
    const all = await Promise.all(
      Array.from({ length: 4 }, () => desk.test.createMember(workspaceId, 'owner')),
    );
    const first = (await owner.get('/profile')).body.operator.memberId;
    const answers = await Promise.all(
      [...all.map(({ memberId }) => memberId), first].flatMap((memberId) => [
        owner.send('PATCH', `/members/${memberId}`, { role: 'operator' }),
        owner.delete(`/members/${memberId}`),
      ]),
    );
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    expect(await owners(workspaceId)).toBeGreaterThanOrEqual(1);
  });
});

describe('a removal', () => {
  /** By the order in which transactions committed: the chain numbers receipts under one lock. */
  const seqs = (condition: string, values: unknown[]) =>
    desk.test
      .rows<{ seq: string }>(`select seq from receipts where ${condition} order by seq`, values)
      .then((rows) => rows.map(({ seq }) => Number(seq)));

  /** Whether anything in this database waits for such a lock. */
  const waiting = (what: string) => async () =>
    (
      await desk.test.rows<{ n: number }>(
        `select count(*)::int as n from pg_locks l join pg_stat_activity a using (pid)
         where a.datname = current_database() and not l.granted and ${what}`,
      )
    )[0]!.n > 0;

  it('has no act of the member after its commit', { timeout: 60_000 }, async () => {
    for (let round = 0; round < 5; round++) {
      const member = await desk.member('operator');
      expect((await member.get('/profile')).status).toBe(200);
      const act = () =>
        new Client(desk.test.url, member.token).post('/directive', { text: 'A memo.', capo: 'capo_ops' });
      const acts = Array.from(
        { length: 30 },
        (_, n) =>
          new Promise<number>((resolve) =>
            setTimeout(() => void act().then(({ status }) => resolve(status)), n * 3),
          ),
      );
      await new Promise((resolve) => setTimeout(resolve, 30));
      expect((await desk.owner.delete(`/members/${member.memberId}`)).status).toBe(200);
      const late = await act();
      expect([late.status, late.body.reason]).toEqual([401, 'revoked_token']);
      const statuses = await Promise.all(acts);
      expect(statuses.every((status) => [201, 401].includes(status))).toBe(true);
      const [removal] = await seqs(`action = 'member.removed' and entity_id = $1`, [member.memberId]);
      const own = await seqs('actor_id = $1', [member.memberId]);
      expect(own.filter((seq) => seq > removal!)).toEqual([]);
    }
  });

  it('waits for an act that has begun, and the act that comes after it is refused', async () => {
    const member = await desk.member('operator');
    const blocker = await desk.test.database.owner.connect();
    await blocker.query('begin');
    // The act ends when it can have the head of the chain.
    await blocker.query('select 1 from receipt_heads where workspace_id = $1 for update', [desk.workspaceId]);
    const begun = member.post('/directive', { text: 'Begun before.', capo: 'capo_ops' });
    await eventually(waiting(`l.locktype in ('transactionid', 'tuple')`));
    const removal = desk.owner.delete(`/members/${member.memberId}`);
    await eventually(waiting(`l.locktype = 'advisory'`));
    const after = member.post('/directive', { text: 'Begun after.', capo: 'capo_ops' });
    await blocker.query('rollback');
    blocker.release();
    expect([(await begun).status, (await removal).status, (await after).status]).toEqual([201, 200, 401]);
  });

  it.each([
    ['removal', 401, (memberId: string) => desk.owner.delete(`/members/${memberId}`)],
    [
      'demotion',
      403,
      (memberId: string) => desk.owner.send('PATCH', `/members/${memberId}`, { role: 'viewer' }),
    ],
  ])(
    'has no stop behind it: a kill that waits while the %s commits is refused',
    async (_what, status, take) => {
      const { memberId, ...member } = await desk.member('operator');
      const killer = new Client(desk.test.url, member.token);
      const blocker = await desk.test.database.owner.connect();
      await blocker.query('begin');
      await blocker.query('select 1 from guardians where workspace_id = $1 for update', [desk.workspaceId]);
      const killed = killer.post('/guardian/kill-switch');
      await eventually(waiting(`l.locktype in ('transactionid', 'tuple')`));
      // Stops wait for nobody, and nobody for them.
      expect((await take(memberId)).status).toBe(200);
      await blocker.query('rollback');
      blocker.release();
      expect((await killed).status).toBe(status);
      expect((await desk.owner.get('/guardian')).body.mode).not.toBe('killed');
      expect(await seqs(`actor_id = $1`, [memberId])).toEqual([]);
    },
  );

  it('of a role holds for the very next act, though the caller was looked up before', async () => {
    const member = await desk.member('operator', { [desk.teamA]: 'operator' });
    const act = () =>
      member.post('/directive', { text: 'Write a memo.', capo: 'capo_ops', teamId: desk.teamA });
    expect((await act()).status).toBe(201);
    await desk.owner.send('PATCH', `/teams/${desk.teamA}/members/${member.memberId}`, { role: 'viewer' });
    expect((await act()).status).toBe(403);
    await desk.owner.send('PATCH', `/teams/${desk.teamA}/members/${member.memberId}`, { role: 'admin' });
    expect((await act()).status).toBe(201);
    await desk.owner.delete(`/teams/${desk.teamA}/members/${member.memberId}`);
    expect((await act()).status).toBe(404);
  });
});
