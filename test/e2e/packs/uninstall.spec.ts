import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { manifestOf } from '../../support/skill-packs.js';
import { eventually } from '../../support/test-app.js';
import { PackDesk } from './pack-desk.js';

let desk: PackDesk;
beforeAll(async () => {
  desk = await PackDesk.open();
});
afterAll(() => desk.close());

describe('DELETE /skill-packs/{packId} 200', () => {
  it('archives the orders, active ones too, takes the skills away, and tells whoever listens', async () => {
    const workspace = await desk.workspace();
    await workspace.subscribe();
    const { packId } = await workspace.install();
    const orders = [
      await workspace.orderOf(packId, 'mail-asks'),
      await workspace.orderOf(packId, 'files-documents'),
    ];
    for (const { standingOrderId } of orders) {
      const activated = await workspace.client.post(`/standing-orders/${standingOrderId}/activate`, {
        acknowledge: true,
        version: 1,
      });
      expect(activated.body.status, activated.text).toBe('active');
    }
    const before = (await workspace.receipts()).length;
    const answer = await workspace.client.delete(`/skill-packs/${packId}`);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      status: 'uninstalled',
      skills: [],
      removedBy: { type: 'member', id: workspace.owner.memberId },
      removedAt: expect.any(Number),
    });
    for (const { standingOrderId } of orders) {
      expect((await workspace.order(standingOrderId)).status).toBe('archived');
    }
    expect((await workspace.pack(packId)).standingOrders).toMatchObject([
      { status: 'archived', standingOrderId: orders[0]!.standingOrderId },
      { status: 'archived', standingOrderId: orders[1]!.standingOrderId },
    ]);
    expect((await workspace.receipts()).slice(before)).toEqual([
      'standing_order.archived',
      'standing_order.archived',
      'skill_pack.uninstalled',
    ]);
    expect(await workspace.rows('select 1 from skill_pack_skills where workspace_id = $1')).toEqual([]);
    const events = await eventually(
      async () => workspace.received('pack.revoked'),
      (received) => received.length > 0,
    );
    expect(events).toMatchObject([{ payload: { packId, version: '1.0.0', reason: 'uninstalled' } }]);
    expect((await workspace.client.get('/profile')).body.packs).toEqual([]);

    // Asked for again, it changes nothing.
    const stored = await workspace.stored();
    expect((await workspace.client.delete(`/skill-packs/${packId}`)).status).toBe(200);
    expect(await workspace.stored()).toEqual(stored);
  });

  it('stops an installation that is under way', async () => {
    const workspace = await desk.workspace();
    const { packId } = (await workspace.post()).body;
    await workspace.client.delete(`/skill-packs/${packId}`);
    await eventually(
      () => workspace.rows(`select 1 from work_items where workspace_id = $1 and kind = 'pack.install'`),
      (left) => left.length === 0,
    );
    expect(await workspace.rows('select 1 from skill_pack_skills where workspace_id = $1')).toEqual([]);
    expect(
      await workspace.rows(`select 1 from standing_orders where workspace_id = $1 and status <> 'archived'`),
    ).toEqual([]);
    expect((await workspace.pack(packId)).status).toBe('uninstalled');
  });

  it('lets the same version be installed again, with new drafts, and no older one', async () => {
    const workspace = await desk.workspace();
    const { packId } = await workspace.install(manifestOf({ version: '1.2.0' }));
    const former = await workspace.orderOf(packId, 'mail-asks');
    await workspace.client.delete(`/skill-packs/${packId}`);
    const older = await workspace.post(manifestOf({ version: '1.1.0' }));
    expect([older.status, older.body.error.code]).toEqual([409, 'PACK_VERSION_TAKEN']);
    expect(older.body.error.message).toBe(
      'The workspace had version 1.2.0 of invoice-reminders; the older version 1.1.0 is not installed.',
    );
    const pack = await workspace.install(manifestOf({ version: '1.2.0' }));
    expect(pack).toMatchObject({
      packId,
      status: 'installed',
      removedAt: null,
      progress: { done: 3, total: 3 },
    });
    const order = await workspace.orderOf(packId, 'mail-asks');
    expect(order.status).toBe('draft');
    expect(order.standingOrderId).not.toBe(former.standingOrderId);
  });

  it('keeps a restore from putting its orders back in force', async () => {
    const workspace = await desk.workspace();
    const { packId } = await workspace.install();
    const { standingOrderId } = await workspace.orderOf(packId, 'files-documents');
    await workspace.client.post(`/standing-orders/${standingOrderId}/activate`, {
      acknowledge: true,
      version: 1,
    });
    const { checkpointId } = (await workspace.client.post('/guardian/checkpoint')).body;
    await workspace.client.delete(`/skill-packs/${packId}`);
    const answer = await workspace.client.post('/guardian/revert', { mode: 'restore', checkpointId });
    expect(answer.status, answer.text).toBe(200);
    expect(JSON.stringify(answer.body)).toContain('The skill pack that it came with was removed since.');
    expect((await workspace.order(standingOrderId)).status).toBe('archived');
  });
});

describe('GET and DELETE /skill-packs/{packId} 404 and 403', () => {
  it('knows nothing of packs of other workspaces', async () => {
    const [ours, theirs] = [await desk.workspace(), await desk.workspace()];
    const { packId } = await theirs.install();
    for (const id of [packId, newId('pck'), 'pck_1', newId('so')]) {
      expect((await ours.client.get(`/skill-packs/${id}`)).status).toBe(404);
      expect((await ours.client.delete(`/skill-packs/${id}`)).status).toBe(404);
    }
    expect((await theirs.pack(packId)).status).toBe('installed');
  });

  it('shows packs to every member, and their orders to those who may see them', async () => {
    const workspace = await desk.workspace();
    const { packId } = await workspace.install();
    const teamId = await desk.test.createTeam(workspace.workspaceId, 'Sales');
    const viewer = await desk.test.createMember(workspace.workspaceId, 'viewer');
    const inTeam = await desk.test.createMember(workspace.workspaceId, 'operator', [teamId]);
    const idsFor = async ({ token }: { token: string }) => {
      const { status, body } = await new Client(desk.test.url, token).get(`/skill-packs/${packId}`);
      expect(status).toBe(200);
      return body.standingOrders.map((one: { standingOrderId: string | null }) => one.standingOrderId);
    };
    expect(await idsFor(viewer)).toEqual([expect.stringMatching(/^so_/), expect.stringMatching(/^so_/)]);
    expect(await idsFor(inTeam)).toEqual([null, null]);
    for (const { token } of [viewer, inTeam]) {
      expect((await new Client(desk.test.url, token).delete(`/skill-packs/${packId}`)).status).toBe(403);
    }
  });
});
