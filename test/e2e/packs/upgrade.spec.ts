import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FILES_DOCUMENTS, MAIL_ASKS, manifestOf, REMINDER } from '../../support/skill-packs.js';
import { PackDesk, type PackWorkspace } from './pack-desk.js';

let desk: PackDesk;
let workspace: PackWorkspace;
beforeAll(async () => {
  desk = await PackDesk.open();
});
afterAll(() => desk.close());

const NEW_LIMIT = { ...FILES_DOCUMENTS, limits: { maxPerDay: 5 } };
const KINDER = { ...REMINDER, instructions: 'Ask more kindly.' };
const V2 = { version: '1.1.0', skills: [KINDER], standingOrders: [MAIL_ASKS, NEW_LIMIT] };

describe('a later version', () => {
  it('replaces skills and the drafts that nobody has touched, under the same id', async () => {
    workspace = await desk.workspace();
    const { packId } = await workspace.install();
    const [mail, documents] = [
      await workspace.orderOf(packId, 'mail-asks'),
      await workspace.orderOf(packId, 'files-documents'),
    ];
    const pack = await workspace.install(manifestOf(V2));
    expect(pack).toMatchObject({
      packId,
      version: '1.1.0',
      skills: [{ definition: KINDER, status: 'arrived' }],
    });
    expect(await workspace.orderOf(packId, 'mail-asks')).toEqual(mail);
    expect(await workspace.orderOf(packId, 'files-documents')).toMatchObject({
      standingOrderId: documents.standingOrderId,
      status: 'draft',
      version: 2,
      limits: { maxPerDay: 5 },
      simulation: { version: 2 },
      heldBecause: expect.stringContaining('invoice-reminders 1.1.0'),
    });
    expect(await workspace.rows('select 1 from standing_orders where workspace_id = $1')).toHaveLength(2);
    const [accepted] = await workspace.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'skill_pack.accepted' order by seq desc limit 1`,
    );
    expect(JSON.parse(accepted!.body)).toMatchObject({ details: { version: '1.1.0', replaces: '1.0.0' } });
    expect(
      await workspace.rows(
        `select 1 from guardian_checkpoints where workspace_id = $1 and taken_before = 'pack_install'`,
      ),
    ).toHaveLength(2);
  });

  it('leaves no receipt of a skill or an order that says the same', async () => {
    workspace = await desk.workspace();
    await workspace.install();
    const before = (await workspace.receipts()).length;
    await workspace.install(manifestOf({ version: '1.0.1', description: 'Said better.' }));
    expect((await workspace.receipts()).slice(before)).toEqual([
      'guardian.checkpointed',
      'skill_pack.accepted',
      'skill_pack.installed',
    ]);
  });

  it.each<[string, (id: string) => Promise<unknown>, string]>([
    [
      'activated',
      (id) => workspace.client.post(`/standing-orders/${id}/activate`, { acknowledge: true, version: 1 }),
      'active',
    ],
    [
      'changed',
      (id) => workspace.client.send('PATCH', `/standing-orders/${id}`, { limits: { maxPerDay: 99 } }),
      'draft',
    ],
    [
      'only renamed',
      (id) => workspace.client.send('PATCH', `/standing-orders/${id}`, { name: 'Mine' }),
      'draft',
    ],
  ])(
    'leaves an order that a person has %s as it is, and brings its own as a draft beside it',
    async (_case, act, status) => {
      workspace = await desk.workspace();
      const { packId } = await workspace.install();
      const { standingOrderId } = await workspace.orderOf(packId, 'files-documents');
      await act(standingOrderId);
      const theirs = await workspace.order(standingOrderId);
      expect(theirs.status).toBe(status);
      await workspace.install(manifestOf(V2));
      expect(await workspace.order(standingOrderId)).toEqual(theirs);
      const beside = await workspace.orderOf(packId, 'files-documents');
      expect(beside.standingOrderId).not.toBe(standingOrderId);
      expect(beside).toMatchObject({
        status: 'draft',
        limits: { maxPerDay: 5 },
        heldBecause: expect.stringContaining(
          `It says what the order "${theirs.name}" is to say from this version on`,
        ),
      });
      // Both belong to the pack, and end with it.
      await workspace.client.delete(`/skill-packs/${packId}`);
      expect((await workspace.order(standingOrderId)).status).toBe('archived');
      expect((await workspace.order(beside.standingOrderId)).status).toBe('archived');
    },
  );

  it('does not bring back what a person has archived', async () => {
    workspace = await desk.workspace();
    const { packId } = await workspace.install();
    const { standingOrderId } = await workspace.orderOf(packId, 'files-documents');
    await workspace.client.delete(`/standing-orders/${standingOrderId}`);
    const pack = await workspace.install(manifestOf(V2));
    expect(pack.standingOrders[1]).toMatchObject({
      key: 'files-documents',
      status: 'kept',
      reason: 'A person had archived it, so what the new version says was left out.',
    });
    expect((await workspace.client.get('/standing-orders?status=draft')).body.items).toHaveLength(1);
  });

  it('takes away what it has no longer, but for orders that a person has put into force', async () => {
    workspace = await desk.workspace();
    const { packId } = await workspace.install();
    const [mail, documents] = [
      await workspace.orderOf(packId, 'mail-asks'),
      await workspace.orderOf(packId, 'files-documents'),
    ];
    await workspace.client.post(`/standing-orders/${mail.standingOrderId}/activate`);
    const other = { ...REMINDER, name: 'last-reminder' };
    const pack = await workspace.install(
      manifestOf({ version: '2.0.0', skills: [other], standingOrders: [] }),
    );
    expect(pack.skills).toMatchObject([{ name: 'last-reminder', status: 'arrived' }]);
    expect(pack.standingOrders).toMatchObject([
      { key: 'mail-asks', status: 'dropped' },
      { key: 'files-documents', status: 'dropped' },
    ]);
    expect((await workspace.order(mail.standingOrderId)).status).toBe('active');
    expect((await workspace.order(documents.standingOrderId)).status).toBe('archived');
    // An order that comes back is a new draft.
    await workspace.install(manifestOf({ version: '2.1.0', skills: [other] }));
    const back = await workspace.orderOf(packId, 'files-documents');
    expect(back.status).toBe('draft');
    expect(back.standingOrderId).not.toBe(documents.standingOrderId);
    expect((await workspace.orderOf(packId, 'mail-asks')).standingOrderId).toBe(mail.standingOrderId);
  });
});

describe('the same version with other content', () => {
  it('is refused: a change takes a new version', async () => {
    workspace = await desk.workspace();
    await workspace.install();
    const before = await workspace.stored();
    const answer = await workspace.post(manifestOf({ skills: [KINDER] }));
    expect([answer.status, answer.body.error.code]).toEqual([409, 'PACK_VERSION_TAKEN']);
    expect(answer.body.error.message).toBe(
      'The workspace has version 1.0.0 of invoice-reminders with other content; a change takes a new version.',
    );
    expect(await workspace.stored()).toEqual(before);
  });
});
