import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';

let test: TestApp;
let desk: Desk;
beforeAll(async () => {
  test = await startTestApp();
  desk = new Desk(test);
});
afterAll(() => test.close());

const take = (body?: object, one = desk) => one.client.post('/guardian/checkpoint', body);
const receiptsOf = async (checkpointId: string) =>
  (
    await test.rows<{ body: string }>('select body from receipts where entity_id = $1 order by seq', [
      checkpointId,
    ])
  ).map(({ body }) => JSON.parse(body));

/** What the record says of itself. */
function hashOf({ hash: _hash, ...record }: Record<string, unknown>): string {
  return sha256(canonicalJson(record));
}

describe('POST /guardian/checkpoint', () => {
  describe('201', () => {
    it('keeps the mode, the order versions in force and every setting, with the head of the chain', async () => {
      const order = { name: 'Memos', effect: 'allow', match: { actionTypes: ['document.file'] } };
      const { standingOrderId, hash } = (await desk.client.post('/standing-orders', order)).body;
      const denial = { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } };
      const paused = (await desk.client.post('/standing-orders', denial)).body.standingOrderId;
      await desk.client.post(`/standing-orders/${paused}/pause`);
      const settings = (await desk.client.get('/settings')).body;
      const head = (await desk.client.get('/audit-feed/head')).body;

      const { status, body } = await take({ label: 'Before spring 🌷' });

      expect(status).toBe(201);
      expect(body).toMatchObject({
        checkpointId: expect.stringMatching(/^chk_/),
        label: 'Before spring 🌷',
        auto: false,
        createdBy: { type: 'member', via: 'api' },
        receiptSeq: head.seq,
        receiptHash: head.hash,
        snapshot: { mode: 'guardrailed', orders: [{ standingOrderId, version: 1, hash, status: 'active' }] },
      });
      expect(Object.keys(body.snapshot.settings).toSorted()).toEqual(Object.keys(settings).toSorted());
      expect(body.snapshot.settings).toMatchObject({
        timezone: settings.timezone,
        currency: settings.currency,
      });
      expect(body.hash).toBe(hashOf(body));
      expect(await receiptsOf(body.checkpointId)).toMatchObject([
        { action: 'guardian.checkpointed', details: { auto: false, hash: body.hash, receiptSeq: head.seq } },
      ]);
      expect((await desk.client.get('/guardian')).body.lastCheckpointId).toBe(body.checkpointId);
    });

    it.each([
      [{ modelBudget: { amount: 0.1, tokens: null } }],
      [{ modelBudget: { amount: 0.000001, tokens: 5_000_000 } }],
      [{ sender: { name: 'Mira "Q" \\ 😀', signature: 'Line\n\tTab €' }, retention: { deliveries: 90 } }],
      [
        {
          quietHours: { from: '22:00', to: '07:00' },
          notifications: { reports: 'none', approvals: 'digest' },
        },
      ],
    ])('has a hash that anybody can compute again, with the settings %j', async (change) => {
      const changed = await desk.client.put('/settings', change);
      expect(changed.status, changed.text).toBe(200);
      const { body } = await take();
      expect(body.label).toBeNull();
      expect(body.hash).toBe(hashOf(body));
    });

    it('has it made of the same canonical JSON in the database as in the program', async () => {
      const values = [0, -1.5, 0.1, 1e-6, 1e-7, 1.25e-9, 123_456_789_012, 1e20, 1e21, 1.5e300, true, null];
      const value = { values, b: { a: '"\\ \u0001\u001f\n\t\u007f€😀', '': [] }, a: {}, B: [[]], ä: 'x' };
      const [row] = await test.rows<{ text: string }>('select app.canonical_json($1::jsonb) as text', [
        JSON.stringify(value),
      ]);
      expect(row!.text).toBe(canonicalJson(value));
    });

    it('keeps the mode before the kill while one holds', async () => {
      await desk.mode('supervised');
      await desk.kill();
      const { body } = await take();
      await desk.revert();
      await desk.mode('guardrailed');
      expect(body.snapshot.mode).toBe('supervised');
    });

    it('shows a member of one team the orders of that team, and keeps those of all', async () => {
      const { workspaceId, owner } = await test.createWorkspace();
      const teamId = await test.createTeam(workspaceId, 'Marketing');
      const viewer = await test.createMember(workspaceId, 'viewer', [teamId]);
      const denial = { name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } };
      const own = (await owner.post('/standing-orders', { ...denial, teamId })).body.standingOrderId;
      await owner.post('/standing-orders', { ...denial, teamId: null });
      const { checkpointId, snapshot } = (await owner.post('/guardian/checkpoint')).body;
      expect(snapshot.orders).toHaveLength(2);

      const { status, body } = await viewer.get(`/guardian/checkpoint/${checkpointId}`);
      expect(status).toBe(200);
      expect(body.snapshot.orders.map((one: { standingOrderId: string }) => one.standingOrderId)).toEqual([
        own,
      ]);
    });
  });

  describe('403', () => {
    it('for a viewer, who may read them', async () => {
      const viewer = await test.createMember(test.workspaceId, 'viewer');
      expect((await viewer.post('/guardian/checkpoint')).status).toBe(403);
      expect((await viewer.get('/guardian/checkpoint')).status).toBe(200);
    });
  });

  describe('409', () => {
    it('when more orders are in force than it holds', async () => {
      const { workspaceId, owner } = await test.createWorkspace();
      // Each change is counted, which takes its time for as many.
      await test.rows('alter table standing_orders disable trigger user');
      await test.rows(
        `insert into standing_orders (standing_order_id, workspace_id, name, text, status, effect, match, hash, created_by,
           created_at, updated_at)
         select 'so_' || $1 || n, $1, 'Many', 'Many.', 'active', 'deny', '{}', 'x', '{}', now(), now()
         from generate_series(1, 10001) n`,
        [workspaceId],
      );
      await test.rows('alter table standing_orders enable trigger user');
      const refused = await owner.post('/guardian/checkpoint');
      expect(refused.status).toBe(409);
      expect(refused.body.error.message).toContain('10,000');

      // Stopping is never refused for it.
      const killed = await owner.post('/guardian/kill-switch');
      expect(killed.body).toMatchObject({ mode: 'killed', changed: true });
      expect((await owner.get('/guardian')).body.lastCheckpointId).toBeNull();
    });
  });

  describe('422', () => {
    it.each([
      [{ label: '' }],
      [{ label: '  ' }],
      [{ label: 'two\nlines' }],
      [{ label: 'x'.repeat(121) }],
      [{ label: 7 }],
      [{ name: 'x' }],
    ])('for %j, and takes none', async (body) => {
      const before = (await desk.client.get('/guardian')).body.lastCheckpointId;
      const refused = await take(body);
      expect(refused.status).toBe(422);
      expect(refused.body.error.code).toBe('VALIDATION_FAILED');
      expect((await desk.client.get('/guardian')).body.lastCheckpointId).toBe(before);
    });
  });
});

describe('GET /guardian/checkpoint', () => {
  it('200 lists them newest first, without what they hold', async () => {
    const { owner } = await test.createWorkspace();
    const ids: string[] = [];
    for (const label of ['one', 'two', 'three']) {
      ids.unshift((await owner.post('/guardian/checkpoint', { label })).body.checkpointId);
    }
    const { body } = await owner.get('/guardian/checkpoint?limit=2');
    expect(body).toMatchObject({ total: 3, items: [{ checkpointId: ids[0] }, { checkpointId: ids[1] }] });
    expect(body.items[0]).not.toHaveProperty('snapshot');
    const rest = (await owner.get(`/guardian/checkpoint?limit=2&cursor=${body.nextCursor}`)).body;
    expect(rest).toMatchObject({ items: [{ checkpointId: ids[2] }], nextCursor: null });
  });

  it('404 for one of another workspace, and for what is no id', async () => {
    const { checkpointId } = (await take()).body;
    const { owner } = await test.createWorkspace();
    for (const id of [checkpointId, newId('chk'), 'chk_1', newId('so')]) {
      expect((await owner.get(`/guardian/checkpoint/${id}`)).status).toBe(404);
    }
  });
});

describe('a checkpoint that is taken by itself', () => {
  it('comes with each kill, in its receipt, and holds what was in force then', async () => {
    const { owner } = await test.createWorkspace();
    const { body } = await owner.post('/guardian/kill-switch', { reason: 'drill' });
    const { lastCheckpointId } = (await owner.get('/guardian')).body;
    const checkpoint = (await owner.get(`/guardian/checkpoint/${lastCheckpointId}`)).body;
    expect(checkpoint).toMatchObject({ auto: true, label: 'Before the kill switch was engaged' });
    expect(checkpoint.hash).toBe(hashOf(checkpoint));
    const [receipt] = await test.rows<{ body: string; seq: string }>(
      'select body, seq from receipts where receipt_id = $1',
      [body.receiptId],
    );
    const { receiptSeq, hash } = checkpoint;
    expect(JSON.parse(receipt!.body).details.checkpoint).toEqual({
      checkpointId: lastCheckpointId,
      receiptSeq,
      hash,
    });
    expect(receiptSeq).toBe(Number(receipt!.seq) - 1);

    await owner.post('/guardian/kill-switch');
    expect((await owner.get('/guardian')).body.lastCheckpointId).toBe(lastCheckpointId);
  });

  it('comes with each activation, and does not hold the order yet', async () => {
    const { owner } = await test.createWorkspace();
    const order = { name: 'Memos', effect: 'allow', match: { actionTypes: ['document.file'] } };
    const { standingOrderId } = (await owner.post('/standing-orders', order)).body;
    await owner.post(`/standing-orders/${standingOrderId}/pause`);
    await owner.post(`/standing-orders/${standingOrderId}/activate`);
    const { items } = (await owner.get('/guardian/checkpoint')).body;
    expect(items).toMatchObject([
      { auto: true, label: 'Before a standing order became active' },
      { auto: true, label: 'Before a standing order became active' },
    ]);
    const newest = (await owner.get(`/guardian/checkpoint/${items[0].checkpointId}`)).body;
    expect(newest.snapshot.orders).toEqual([]);
    expect(await receiptsOf(items[0].checkpointId)).toMatchObject([{ action: 'guardian.checkpointed' }]);
    // One that needs an owner's word changes nothing yet.
    await owner.post('/standing-orders', { ...order, match: { actionTypes: ['email.send'] } });
    expect((await owner.get('/guardian/checkpoint')).body.total).toBe(2);
  });

  describe('and cannot be', () => {
    afterEach(() => test.rows('alter table guardian_checkpoints drop constraint if exists none_at_all'));

    it('keeps no kill from being engaged', async () => {
      const { owner } = await test.createWorkspace();
      await test.rows('alter table guardian_checkpoints add constraint none_at_all check (false) not valid');
      const { status, body } = await owner.post('/guardian/kill-switch');
      expect([status, body.mode, body.changed]).toEqual([200, 'killed', true]);
      const [receipt] = await test.rows<{ body: string }>('select body from receipts where receipt_id = $1', [
        body.receiptId,
      ]);
      expect(JSON.parse(receipt!.body).details.checkpoint).toBeNull();
      expect((await owner.get('/guardian')).body.lastCheckpointId).toBeNull();
      // A revert resumes as ever.
      expect((await owner.post('/guardian/revert')).status).toBe(200);
    });
  });
});
