import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { Desk } from '../directives/desk.js';
import { PartnerDesk } from '../partner/partner-desk.js';
import { code, freshName, PASSWORD, TenancyDesk } from './tenancy-desk.js';

let desk: TenancyDesk;
beforeAll(async () => {
  desk = await TenancyDesk.open();
});
afterAll(() => desk.test.close());

const admin = () => desk.again(desk.admin);
const body = (more: object = {}) => ({ name: freshName(), ownerEmail: 'ines@northwind.example', ...more });

/** What a refused request must leave as it was; what the program does by itself meanwhile (mails) is no part of it. */
const stored = async (): Promise<unknown> =>
  Promise.all([
    desk.test.rows('select workspace_id, name from workspaces order by 1'),
    desk.test.rows('select invite_id from invites order by 1'),
    desk.test.rows(`select receipt_id from receipts where actor_type in ('member', 'admin') order by 1`),
    desk.test.rows('select workspace_id from receipt_heads order by 1'),
    desk.test.rows('select workspace_id from guardians order by 1'),
  ]);

describe('POST /api/admin/workspaces: 201', () => {
  it('makes a workspace with an invite, a guardian, a head, and a receipt in either chain', async () => {
    const name = freshName();
    const answer = await admin().post('/workspaces', {
      name: `  ${name} `,
      ownerEmail: 'Ines@Northwind.example',
      ownerName: 'Ines Marlow',
      tier: 'pro',
      timezone: 'Europe/Vienna',
      currency: 'EUR',
    });
    expect(answer.status, answer.text).toBe(201);
    const { workspace, invite } = answer.body;
    expect(workspace).toMatchObject({ name, tier: 'pro', state: 'invited', members: 0, deleteAt: null });
    expect(invite).toMatchObject({ email: 'ines@northwind.example', role: 'owner', teamId: null });
    const { workspaceId } = workspace;
    expect(
      await desk.test.rows('select name, tier, timezone, currency from workspaces where workspace_id = $1', [
        workspaceId,
      ]),
    ).toEqual([{ name, tier: 'pro', timezone: 'Europe/Vienna', currency: 'EUR' }]);
    expect(await desk.test.rows('select mode from guardians where workspace_id = $1', [workspaceId])).toEqual(
      [{ mode: 'guardrailed' }],
    );
    expect(await desk.test.rows('select 1 from members where workspace_id = $1', [workspaceId])).toEqual([]);
    const [own] = await desk.receipts(workspaceId, 'workspace.created');
    expect(own).toMatchObject({ workspaceId, actor: { type: 'admin' }, entity: { id: workspaceId } });
    const first = await desk.receipts(desk.test.workspaceId, 'workspace.created');
    expect(first.at(-1)).toMatchObject({ actor: { type: 'member' }, entity: { id: workspaceId } });
    const [mail] = await desk.mails(invite.inviteId);
    expect(mail!.subject).toContain(name);
    const page = await fetch(/https?:\/\/\S+\/invites\/[\w-]{43}/.exec(mail!.text!)![0]);
    expect(await page.text()).toContain('value="Ines Marlow"');
  });

  it('leads to a workspace in which a directive goes from hand-in to its receipt, and its chain verifies', async () => {
    const { workspace, invite } = (
      await admin().post('/workspaces', body({ ownerEmail: 'way@northwind.example' }))
    ).body;
    const { memberId, token } = await desk.accept(invite.inviteId);
    const owner = new Desk(desk.test, token);
    const { directiveId, approvalId } = await owner.handInReady();
    expect((await owner.approve(approvalId)).status).toBe(200);
    await owner.until(directiveId, 'executed');
    expect(await owner.actions(directiveId)).toEqual(
      expect.arrayContaining([
        'directive.created',
        'approval.approved',
        'packet.executed',
        'directive.executed',
      ]),
    );
    expect((await owner.client.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
    await (await PartnerDesk.of(desk.test, workspace.workspaceId)).report();
    for (const path of [
      '/context',
      '/metrics',
      '/guardian',
      '/agents',
      '/settings',
      '/bootstrap',
      '/standing-orders',
    ]) {
      expect((await owner.client.get(path)).status, path).toBe(200);
    }
    const [member] = await desk.test.rows('select role, workspace_id from members where member_id = $1', [
      memberId,
    ]);
    expect(member).toEqual({ role: 'owner', workspace_id: workspace.workspaceId });
    const signedIn = await new Client(desk.test.url, undefined).post('/api/admin/session', {
      email: 'way@northwind.example',
      password: PASSWORD,
    });
    expect(signedIn.status, signedIn.text).toBe(201);
  });

  it('makes one for any number of requests with one key', async () => {
    const asked = body();
    const key = { 'Idempotency-Key': 'one-workspace' };
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => admin().post('/workspaces', asked, key)),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await desk.test.rows('select 1 from workspaces where name = $1', [asked.name])).toHaveLength(1);
  });

  it('takes the tier of the first workspace unless one is named', async () => {
    const { workspace } = (await admin().post('/workspaces', body())).body;
    expect(workspace.tier).toBe('enterprise');
  });

  it('makes no other workspace the first, whatever the clock of the process says', async () => {
    desk.test.clock.stop(Date.parse('2001-01-01'));
    const answer = await admin()
      .post('/workspaces', body())
      .finally(() => desk.test.clock.goOn());
    expect(answer.status, answer.text).toBe(201);
    expect((await admin().get('/workspaces')).status).toBe(200);
    expect(await desk.test.rows('select app.first_workspace() as id')).toEqual([
      { id: desk.test.workspaceId },
    ]);
  });

  it('has one first workspace for good', async () => {
    const { workspaceId } = await desk.tenant();
    const mark = (isFirst: boolean, id: string) =>
      desk.test.rows('update workspaces set is_first = $1 where workspace_id = $2', [isFirst, id]);
    await expect(mark(true, workspaceId)).rejects.toThrow('the first workspace stays the first');
    await expect(mark(false, desk.test.workspaceId)).rejects.toThrow('the first workspace stays the first');
    await expect(
      desk.test.rows(
        `insert into workspaces (workspace_id, name, tier, is_first) values ($1, 'Other', 'pro', true)`,
        [newId('wks')],
      ),
    ).rejects.toThrow('workspaces_first');
  });
});

describe('POST /api/admin/workspaces: 403', () => {
  it.each(['POST', 'GET'])(
    'refuses %s of the owner of any other workspace, and changes nothing',
    async (method) => {
      const other = await desk.tenant();
      const before = await stored();
      const answer = await other.admin.send(method, '/workspaces', method === 'POST' ? body() : undefined);
      expect(code(answer)).toEqual([403, 'FORBIDDEN']);
      expect(await stored()).toEqual(before);
    },
  );

  it.each(['admin', 'operator', 'viewer'] as const)('refuses the %s of the first workspace', async (role) => {
    const { memberId } = await desk.test.createMember(desk.test.workspaceId, role);
    const signedIn = await desk.test.signIn(memberId);
    expect(code(await signedIn.post('/workspaces', body()))).toEqual([403, 'FORBIDDEN']);
    expect(code(await signedIn.get('/workspaces'))).toEqual([403, 'FORBIDDEN']);
  });

  it('shows the function of the database no workspace but to the first', async () => {
    const { workspaceId } = await desk.tenant();
    const client = await desk.test.database.owner.connect();
    try {
      await client.query('begin');
      await client.query('set local role consigliere_app');
      await client.query(`select set_config('app.workspace_id', $1, true)`, [workspaceId]);
      expect((await client.query('select * from app.list_workspaces()')).rows).toEqual([]);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

describe('POST /api/admin/workspaces: 409', () => {
  it('refuses a name that looks like another, whatever its letters are written with', async () => {
    const { name } = (await admin().post('/workspaces', body({ name: 'Northwind Ａ' }))).body.workspace;
    expect(name).toBe('Northwind A');
    const before = await stored();
    for (const alike of ['northwind a', ' Northwind  A', 'NORTHWIND Ａ']) {
      expect(code(await admin().post('/workspaces', body({ name: alike })))).toEqual([409, 'ALREADY_EXISTS']);
    }
    expect(await stored()).toEqual(before);
  });

  it('makes one of two with one name that come at the same moment', async () => {
    const asked = body();
    const answers = await Promise.all([
      admin().post('/workspaces', asked),
      admin().post('/workspaces', asked),
    ]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  });
});

describe('POST /api/admin/workspaces: 422', () => {
  it.each([
    ['no name', { name: undefined }],
    ['an empty name', { name: '  ' }],
    ['a name of 61 characters', { name: 'x'.repeat(61) }],
    ['a name with a line break', { name: 'North\nwind' }],
    ['a name that turns the text around', { name: 'North\u202ewind' }],
    ['a name with letters of two alphabets', { name: 'N\u043erthwind' }],
    ['an address that is none', { ownerEmail: 'ines' }],
    ['an owner name with a control character', { ownerName: 'Ines\u0007' }],
    ['a tier that there is not', { tier: 'gold' }],
    ['a zone that there is not', { timezone: 'Europe/Atlantis' }],
    ['a currency that there is not', { currency: 'EURO' }],
    ['a property that there is not', { owner: 'usr_1' }],
    ...['ownerName', 'tier', 'timezone', 'currency'].map((property): [string, object] => [
      `null instead of ${property}`,
      { [property]: null },
    ]),
  ])('refuses %s, and changes nothing', async (_case, fault) => {
    const before = await stored();
    expect(code(await admin().post('/workspaces', { ...body(), ...fault }))).toEqual([
      422,
      'VALIDATION_FAILED',
    ]);
    expect(await stored()).toEqual(before);
  });

  it('counts a name as people do', async () => {
    const answer = await admin().post('/workspaces', body({ name: '👩‍👩‍👧'.repeat(30) }));
    expect(answer.status, answer.text).toBe(201);
  });
});

describe('GET /api/admin/workspaces: 200', () => {
  it('lists all with their state and the number of their members, and nothing of what is in them', async () => {
    const invited = (await admin().post('/workspaces', body({ ownerEmail: 'list@northwind.example' }))).body;
    const active = await desk.tenant();
    await desk.test.createMember(active.workspaceId, 'viewer');
    const deleting = await desk.tenant();
    await desk.requestDeletion(deleting);
    const { items, total } = (await admin().get('/workspaces?limit=100')).body;
    expect(total).toBe(items.length);
    const of = (id: string) => items.find(({ workspaceId }: { workspaceId: string }) => workspaceId === id);
    expect(of(desk.test.workspaceId)).toMatchObject({ state: 'active', members: expect.any(Number) });
    expect(of(invited.workspace.workspaceId)).toEqual({ ...invited.workspace });
    expect(of(active.workspaceId)).toMatchObject({ state: 'active', members: 2, deleteAt: null });
    expect(of(deleting.workspaceId)).toMatchObject({
      state: 'deleting',
      members: 1,
      deleteAt: expect.any(Number),
    });
    const page = (await admin().get('/workspaces?limit=2')).body;
    const next = (await admin().get(`/workspaces?limit=2&cursor=${page.nextCursor}`)).body;
    expect([...page.items, ...next.items]).toEqual(items.slice(0, 4));
  });
});

describe('POST /api/admin/workspaces/{workspaceId}/invite: 201', () => {
  it('invites somebody else while nobody has joined; what was sent before opens nothing', async () => {
    const made = (await admin().post('/workspaces', body({ ownerEmail: 'wrong@northwind.example' }))).body;
    const { workspaceId } = made.workspace;
    const [first] = await desk.mails(made.invite.inviteId);
    const answer = await admin().post(`/workspaces/${workspaceId}/invite`, {
      ownerEmail: 'right@northwind.example',
    });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toMatchObject({ email: 'right@northwind.example', role: 'owner', status: 'pending' });
    const old = await new Client(desk.test.url, undefined).post('/invites/accept', {
      token: /\/invites\/([\w-]{43})/.exec(first!.text!)![1]!,
      displayName: 'Wrong',
      password: PASSWORD,
    });
    expect(code(old)).toEqual([410, 'INVITE_EXPIRED']);
    const { memberId } = await desk.accept(answer.body.inviteId);
    expect(
      await desk.test.rows('select member_id from members where workspace_id = $1', [workspaceId]),
    ).toEqual([{ member_id: memberId }]);
    const again = await admin().post(`/workspaces/${workspaceId}/invite`, {
      ownerEmail: 'third@northwind.example',
    });
    expect(code(again)).toEqual([409, 'INVALID_TRANSITION']);
    expect(await desk.receipts(workspaceId, 'invite.withdrawn')).toHaveLength(1);
  });
});

describe('POST /api/admin/workspaces/{workspaceId}/invite: 4xx', () => {
  it('refuses an owner of another workspace, a workspace that there is not, and one with members', async () => {
    const other = await desk.tenant();
    const asked = { ownerEmail: 'ines@northwind.example' };
    const before = await stored();
    expect(code(await other.admin.post(`/workspaces/${other.workspaceId}/invite`, asked))).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect(code(await admin().post(`/workspaces/${newId('wks')}/invite`, asked))).toEqual([404, 'NOT_FOUND']);
    expect(code(await admin().post('/workspaces/none/invite', asked))).toEqual([404, 'NOT_FOUND']);
    for (const id of [other.workspaceId, desk.test.workspaceId]) {
      expect(code(await admin().post(`/workspaces/${id}/invite`, asked))).toEqual([
        409,
        'INVALID_TRANSITION',
      ]);
    }
    expect(await stored()).toEqual(before);
  });
});
