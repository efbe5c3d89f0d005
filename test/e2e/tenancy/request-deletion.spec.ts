import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DeleteWorkspaces } from '../../../src/features/tenancy/delete-workspaces.js';
import { Db } from '../../../src/platform/database/db.js';
import { Receipts } from '../../../src/platform/receipts/receipts.js';
import { growthRows } from '../../../bench/growth-rows.js';
import { Client } from '../../support/client.js';
import { Desk } from '../directives/desk.js';
import { PartnerDesk, SIGNATURE } from '../partner/partner-desk.js';
import { code, PASSWORD, TenancyDesk, type Tenant } from './tenancy-desk.js';
import { sign } from '@octokit/webhooks-methods';

let desk: TenancyDesk;
beforeAll(async () => {
  desk = await TenancyDesk.open();
});
afterAll(() => desk.test.close());

const DAY_MS = 86_400_000;
/** What changes beside an act: counters, times of last use and what the program itself finishes. */
const MOVING = [
  'tier_days',
  'tokens',
  'sessions',
  'work_items',
  'idempotency_keys',
  'receipt_checkpoints',
  'report_configs',
  'tallies',
  'tally_notes',
];

const request = ({ admin, name }: Tenant, body: object = { name, confirm: name }) =>
  desk.again(admin).post('/workspace/deletion', body);
const withdraw = ({ admin }: Tenant) => desk.again(admin).delete('/workspace/deletion');

describe('POST /api/admin/workspace/deletion: 200', () => {
  it('kills, closes the workspace for everybody, says until when it can be taken back, and leaves receipts', async () => {
    const tenant = await desk.tenant();
    await desk.export(tenant);
    const answer = await request(tenant);
    expect(answer.status, answer.text).toBe(200);
    const { deletion, state } = answer.body;
    expect(state).toBe('deleting');
    expect(Math.abs(deletion.dueAt - Date.now() - 7 * DAY_MS)).toBeLessThan(60_000);
    expect(deletion.requestedBy).toMatchObject({ id: tenant.owner.memberId });
    expect((await tenant.owner.get('/guardian')).body.mode).toBe('killed');
    const [receipt] = await desk.receipts(tenant.workspaceId, 'workspace.deletion_requested');
    expect(receipt.details).toEqual({ dueAt: deletion.dueAt, engagedKill: true });
    expect(await desk.receipts(tenant.workspaceId, 'guardian.killed')).toHaveLength(1);
    expect((await desk.again(tenant.admin).get('/workspace/deletion')).body).toEqual(answer.body);
  });

  it('mails each owner, with the time until which it can be taken back', async () => {
    const tenant = await desk.tenant();
    const second = await desk.test.createMember(tenant.workspaceId, 'owner');
    await desk.test.createMember(tenant.workspaceId, 'admin');
    await desk.requestDeletion(tenant);
    for (const { memberId } of [tenant.owner, second]) {
      const [mail] = await desk.mails(`${memberId}r`);
      expect(mail!.subject).toBe(`${tenant.name} is going to be deleted in 7 days`);
      expect(mail!.text).toContain('withdraw the deletion');
    }
    const mailed = await desk.receipts(tenant.workspaceId, 'workspace.deletion_mailed');
    expect(mailed.map(({ details }) => details.memberId).toSorted()).toEqual(
      [tenant.owner.memberId, second.memberId].toSorted(),
    );
    // Nobody has received what became a file.
    expect(mailed[0]).toMatchObject({
      summary: expect.stringMatching(
        /^The mail to \S+@\S+, ".* is going to be deleted in 7 days", was written to a file, since no mail server/,
      ),
      details: { transport: 'file' },
    });
  });

  it('halts what is under way: nothing leaves', async () => {
    const tenant = await desk.tenant();
    const owner = new Desk(desk.test, tenant.owner.token);
    const { approvalId } = await owner.handInReady();
    await desk.requestDeletion(tenant);
    expect(code(await owner.approve(approvalId))[0]).toBe(423);
    expect((await owner.approval(approvalId)).status).toBe('pending');
  });

  it('is not kept from it by the work packet of a team that is being sent', async () => {
    const tenant = await desk.tenant();
    const { workspaceId } = tenant;
    const teamId = await desk.test.createTeam(workspaceId, 'Sales');
    for (const { table, text } of growthRows({ workspaceId, from: 1, to: 1 })) {
      if (['directives', 'work_packets'].includes(table)) await desk.test.rows(text);
    }
    await desk.test.rows(
      `update work_packets set status = 'sending', sending_since = now(), executed_at = null, team_id = $2
       where workspace_id = $1`,
      [workspaceId, teamId],
    );
    await desk.requestDeletion(tenant);
    expect(await desk.receipts(workspaceId, 'guardian.unconfirmed')).toHaveLength(1);
  });
});

describe('a workspace that is going to be deleted', () => {
  let tenant: Tenant;
  let viewer: Client;
  beforeAll(async () => {
    tenant = await desk.tenant();
    viewer = await desk.test.createMember(tenant.workspaceId, 'viewer');
    await new Desk(desk.test, tenant.owner.token).handInReady();
    await desk.requestDeletion(tenant);
    await desk.mails(`${tenant.owner.memberId}r`);
  });

  it.each([
    ['POST', '/directive', { text: 'File this memo for the board: The delays end.' }],
    ['POST', '/guardian/revert', {}],
    ['POST', '/standing-orders', { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } }],
    ['POST', '/revenue-events', { amount: 1, currency: 'EUR', source: 'shop' }],
    ['POST', '/teams', { name: 'Late' }],
    ['POST', '/members', { email: 'late@northwind.example', role: 'viewer' }],
    ['PUT', '/settings', { presence: 'away' }],
  ])('refuses %s %s of its owner by its reason, and changes nothing', async (method, path, body) => {
    const before = await desk.stored(tenant.workspaceId, MOVING);
    const answer = await tenant.owner.send(method, path, body);
    expect(code(answer)).toEqual([423, 'WORKSPACE_READ_ONLY']);
    expect(answer.body.error.message).toContain('going to be deleted');
    expect(await desk.stored(tenant.workspaceId, MOVING)).toEqual(before);
  });

  it('answers the same to a request with an Idempotency-Key, and keeps nothing under the key', async () => {
    const key = { 'Idempotency-Key': 'late' };
    const body = { text: 'File this memo for the board: The delays end.' };
    expect(code(await tenant.owner.post('/directive', body, key))).toEqual([423, 'WORKSPACE_READ_ONLY']);
    expect(
      await desk.test.rows(`select 1 from idempotency_keys where workspace_id = $1 and key = 'late'`, [
        tenant.workspaceId,
      ]),
    ).toEqual([]);
  });

  it('refuses the update of a partner', async () => {
    const partner = await PartnerDesk.of(desk.test, tenant.workspaceId);
    const raw = JSON.stringify(partner.update());
    const answer = await new Client(desk.test.url, undefined).post('/partner/induction', raw, {
      [SIGNATURE]: await sign(partner.secret, raw),
    });
    expect(code(answer)).toEqual([423, 'WORKSPACE_READ_ONLY']);
    expect(
      await desk.test.rows('select 1 from partner_events where workspace_id = $1', [tenant.workspaceId]),
    ).toEqual([]);
  });

  it('refuses an act of an agent', async () => {
    const { workspaceId } = tenant;
    const act = desk.test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => {
      desk.test.app.get(Receipts).append({
        actor: { type: 'agent', id: 'tok', name: 'Robot', via: 'api' },
        action: 'action_request.created',
        entity: { type: 'action_request', id: 'act' },
        summary: 'Robot asked.',
      });
    });
    await expect(act).rejects.toMatchObject({ definition: { code: 'WORKSPACE_READ_ONLY' } });
  });

  it('can be read by everybody, verified, exported, signed in to, and stopped once more', async () => {
    for (const path of ['/context', '/directives', '/audit-feed', '/approvals']) {
      expect((await new Client(desk.test.url, viewer.token).get(path)).status).toBe(200);
    }
    expect((await tenant.owner.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
    expect((await tenant.owner.post('/guardian/kill-switch')).body).toMatchObject({ changed: false });
    await desk.export(tenant);
    expect((await desk.again(tenant.admin).post('/operator-token')).status).toBe(201);
    expect((await desk.again(tenant.admin).delete('/session')).status).toBe(200);
  });
});

describe('an invite that is accepted while the workspace is going to be deleted', () => {
  it('makes no member', async () => {
    const { workspace, invite } = (
      await desk
        .again(desk.admin)
        .post('/workspaces', { name: 'Accepting', ownerEmail: 'first@northwind.example' })
    ).body;
    const { memberId, token } = await desk.accept(invite.inviteId);
    const owner = new Client(desk.test.url, token);
    const second = (await owner.post('/members', { email: 'second@northwind.example', role: 'viewer' })).body;
    const [mail] = await desk.mails(second.inviteId);
    const admin = await desk.test.signIn(memberId);
    await desk.export({ admin });
    expect(
      (await admin.post('/workspace/deletion', { name: 'Accepting', confirm: 'Accepting' })).status,
    ).toBe(200);
    const answer = await new Client(desk.test.url, undefined).post('/invites/accept', {
      token: /\/invites\/([\w-]{43})/.exec(mail!.text!)![1]!,
      displayName: 'Jo Lind',
      password: PASSWORD,
    });
    expect(code(answer)).toEqual([423, 'WORKSPACE_READ_ONLY']);
    expect(
      await desk.test.rows('select 1 from members where workspace_id = $1', [workspace.workspaceId]),
    ).toHaveLength(1);
    expect(await desk.test.rows(`select 1 from users where email = 'second@northwind.example'`)).toEqual([]);
  });
});

describe('POST /api/admin/workspace/deletion: 409', () => {
  it('refuses without an export', async () => {
    const tenant = await desk.tenant();
    const before = await desk.stored(tenant.workspaceId, MOVING);
    expect(code(await request(tenant))).toEqual([409, 'EXPORT_REQUIRED']);
    expect(await desk.stored(tenant.workspaceId, MOVING)).toEqual(before);
    expect((await tenant.owner.get('/guardian')).body.mode).toBe('guardrailed');
  });

  it('refuses with an export that was broken off, or is older than 7 days', async () => {
    const tenant = await desk.tenant();
    await desk.export(tenant);
    const age = (columns: string) =>
      desk.test.rows(`update workspace_exports set ${columns} where workspace_id = $1`, [tenant.workspaceId]);
    await age(`completed_at = now() - interval '7 days 1 minute'`);
    expect(code(await request(tenant))).toEqual([409, 'EXPORT_REQUIRED']);
    await age('completed_at = null, sha256 = null, head_seq = null, head_hash = null');
    expect(code(await request(tenant))).toEqual([409, 'EXPORT_REQUIRED']);
    await desk.export(tenant);
    expect((await request(tenant)).status).toBe(200);
  });

  it('refuses a second request', async () => {
    const tenant = await desk.tenant();
    await desk.requestDeletion(tenant);
    expect(code(await request(tenant))).toEqual([409, 'DELETION_REQUESTED']);
  });

  it('refuses for the first workspace', async () => {
    const [{ name }] = (await desk.test.rows<{ name: string }>(
      'select name from workspaces where workspace_id = $1',
      [desk.test.workspaceId],
    )) as [{ name: string }];
    await desk.export({ admin: desk.admin });
    const answer = await desk.again(desk.admin).post('/workspace/deletion', { name, confirm: name });
    expect(code(answer)).toEqual([409, 'FIRST_WORKSPACE']);
  });
});

describe('POST /api/admin/workspace/deletion: 422', () => {
  it.each([
    ['another name', { name: 'Another' }, ['name']],
    ['a name that is not confirmed', { confirm: 'Another' }, ['confirm']],
    ['no confirmation', { confirm: undefined }, ['confirm']],
    ['another name, twice', { name: 'Another', confirm: 'Another' }, ['name', 'confirm']],
  ])('refuses %s', async (_case, fault, paths) => {
    const tenant = await desk.tenant();
    await desk.export(tenant);
    const answer = await request(tenant, { name: tenant.name, confirm: tenant.name, ...fault });
    expect(code(answer)).toEqual([422, 'VALIDATION_FAILED']);
    expect(new Set(answer.body.error.details.map(({ path }: { path: string }) => path))).toEqual(
      new Set(paths),
    );
    expect(
      await desk.test.rows('select 1 from workspace_deletions where workspace_id = $1', [tenant.workspaceId]),
    ).toEqual([]);
  });
});

describe('/api/admin/workspace/deletion: 403', () => {
  it.each(['GET', 'POST', 'DELETE'])('refuses %s of an admin of the workspace', async (method) => {
    const tenant = await desk.tenant();
    const { memberId } = await desk.test.createMember(tenant.workspaceId, 'admin');
    const admin = await desk.test.signIn(memberId);
    const body = method === 'POST' ? { name: tenant.name, confirm: tenant.name } : undefined;
    expect(code(await admin.send(method, '/workspace/deletion', body))).toEqual([403, 'FORBIDDEN']);
  });
});

describe('DELETE /api/admin/workspace/deletion: 200', () => {
  it('is for any owner, and everything goes on as before once somebody reverts the kill switch', async () => {
    const tenant = await desk.tenant();
    const owner = new Desk(desk.test, tenant.owner.token);
    const { directiveId, approvalId } = await owner.handInReady();
    await desk.requestDeletion(tenant);
    const second = await desk.test.createMember(tenant.workspaceId, 'owner');
    const answer = await (await desk.test.signIn(second.memberId)).delete('/workspace/deletion');
    expect(answer.body).toMatchObject({ state: 'active', deletion: null, export: expect.anything() });
    expect((await tenant.owner.get('/guardian')).body.mode).toBe('killed');
    expect((await tenant.owner.post('/guardian/revert', {})).status).toBe(200);
    expect((await owner.approve(approvalId)).status).toBe(200);
    await owner.until(directiveId, 'executed');
    const [mail] = await desk.mails(`${tenant.owner.memberId}w`);
    expect(mail!.subject).toBe(`${tenant.name} is not going to be deleted`);
    expect((await owner.client.get('/audit-feed/verify')).body).toMatchObject({ ok: true });
  });

  it('leaves a kill switch that somebody had engaged before', async () => {
    const tenant = await desk.tenant();
    await tenant.owner.post('/guardian/kill-switch');
    await desk.requestDeletion(tenant);
    expect((await withdraw(tenant)).status).toBe(200);
    expect((await tenant.owner.get('/guardian')).body.mode).toBe('killed');
    expect((await tenant.owner.post('/guardian/revert', {})).status).toBe(200);
  });
});

describe('DELETE /api/admin/workspace/deletion: 409', () => {
  it('refuses where nobody asked for a deletion', async () => {
    expect(code(await withdraw(await desk.tenant()))).toEqual([409, 'INVALID_TRANSITION']);
  });

  it('refuses once the deletion has begun', async () => {
    const tenant = await desk.tenant();
    await desk.requestDeletion(tenant);
    await desk.test.rows('update workspace_deletions set begun_at = now() where workspace_id = $1', [
      tenant.workspaceId,
    ]);
    expect(code(await withdraw(tenant))).toEqual([409, 'DELETION_BEGUN']);
  });
});

describe('a day before the end', () => {
  it('each owner is warned once, and has a day from then on', async () => {
    const tenant = await desk.tenant();
    await desk.requestDeletion(tenant);
    const sweep = desk.test.app.get(DeleteWorkspaces, { strict: false });
    await sweep.execute();
    expect(await desk.receipts(tenant.workspaceId, 'workspace.deletion_announced')).toEqual([]);
    // The service did not run when they were to be warned.
    await desk.test.rows(
      `update workspace_deletions set due_at = now() - interval '3 days' where workspace_id = $1`,
      [tenant.workspaceId],
    );
    await Promise.all([sweep.execute(), sweep.execute()]);
    await sweep.execute();
    expect(await desk.receipts(tenant.workspaceId, 'workspace.deletion_announced')).toHaveLength(1);
    const [mail] = await desk.mails(`${tenant.owner.memberId}e`);
    expect(mail!.subject).toBe(`${tenant.name} is going to be deleted within a day`);
    const { deletion } = (await desk.again(tenant.admin).get('/workspace/deletion')).body;
    expect(Math.abs(deletion.dueAt - Date.now() - DAY_MS)).toBeLessThan(60_000);
    expect(
      await desk.test.rows('select 1 from workspaces where workspace_id = $1', [tenant.workspaceId]),
    ).toHaveLength(1);
  });
});
