import { rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from '../../support/skill-packs.js';
import { eventually } from '../../support/test-app.js';
import { PackDesk } from './pack-desk.js';

let desk: PackDesk;
beforeAll(async () => {
  desk = await PackDesk.open();
});
afterAll(() => desk.close());

let number = 0;
const listOf = (...revoked: object[]) => ({ publisher: 'acme', number: ++number, revoked });
/** Nothing is revoked when a test begins. */
beforeEach(() => desk.revoke(listOf()));
const DISPUTED = { name: 'invoice-reminders', reason: 'The licence is disputed.' };

describe('a pack that its publisher revokes', () => {
  it('ends in every workspace that has it: skills gone, orders archived but for those that restrain', async () => {
    const [one, two] = [await desk.workspace(), await desk.workspace()];
    await one.subscribe();
    const [{ packId }, other] = [await one.install(), await two.install()];
    const [mail, documents] = [
      await one.orderOf(packId, 'mail-asks'),
      await one.orderOf(packId, 'files-documents'),
    ];
    for (const { standingOrderId } of [mail, documents]) {
      await one.client.post(`/standing-orders/${standingOrderId}/activate`, {
        acknowledge: true,
        version: 1,
      });
    }
    await desk.revoke(listOf(DISPUTED));

    const pack = await one.until(packId, 'revoked');
    await two.until(other.packId, 'revoked');
    expect(pack).toMatchObject({
      reason: 'The licence is disputed.',
      removedBy: { type: 'system', name: 'The publisher acme' },
      skills: [],
    });
    expect((await one.order(documents.standingOrderId)).status).toBe('archived');
    // What a publisher says lets nothing through that a person has restrained.
    expect((await one.order(mail.standingOrderId)).status).toBe('active');
    expect((await two.orderOf(other.packId, 'mail-asks')).status).toBe('archived');
    expect(await one.rows('select 1 from skill_pack_skills where workspace_id = $1')).toEqual([]);
    expect(
      (await one.receipts()).filter((action) =>
        /^(standing_order.archived|skill_pack.revoked|signal)/.test(action),
      ),
    ).toEqual(['standing_order.archived', 'skill_pack.revoked', 'signal.raised']);
    const [signal] = await one.rows('select * from signals where workspace_id = $1');
    expect(signal).toMatchObject({
      type: 'policy',
      severity: 'warning',
      title: 'acme has revoked the skill pack invoice-reminders 1.0.0.',
      body: expect.stringContaining('Standing orders archived: 1. In force still, since they restrain: 1;'),
    });
    const events = await eventually(
      async () => one.received('pack.revoked'),
      (received) => received.length > 0,
    );
    expect(events).toMatchObject([
      { payload: { packId, version: '1.0.0', reason: 'The licence is disputed.' } },
    ]);

    // Looked at again, nothing more happens.
    const stored = await one.stored();
    await desk.look();
    await eventually(
      () => one.rows(`select 1 from work_items where kind = 'pack.revoke' and $1::text is not null`),
      (left) => left.length === 0,
    );
    expect(await one.stored()).toEqual(stored);

    // Nor is it installed again, until the publisher takes that back.
    const refused = await one.post();
    expect([refused.status, refused.body.error.code]).toEqual([422, 'PACK_REVOKED']);
    expect(refused.body.error.message).toBe(
      'acme has revoked version 1.0.0 of invoice-reminders: The licence is disputed.',
    );
    await desk.revoke(listOf());
    await one.install();
  });

  it('is revoked by its version, and a later one may be installed', async () => {
    const workspace = await desk.workspace();
    const { packId } = await workspace.install();
    await desk.revoke(listOf({ ...DISPUTED, versions: ['0.9.0', '1.0.0'] }));
    await workspace.until(packId, 'revoked');
    const pack = await workspace.install(manifestOf({ version: '1.0.1' }));
    expect(pack.packId).toBe(packId);
    await desk.look();
    expect((await workspace.pack(packId)).status).toBe('installed');
    await desk.revoke(listOf());
  });
});

describe('a list that does not count', () => {
  it('is one that is signed by another, changed, no list, older, or gone: nothing is revoked, nothing is taken back', async () => {
    const workspace = await desk.workspace();
    const { packId } = await workspace.install();
    const holds = async () => {
      await desk.look();
      expect(
        await workspace.rows(`select 1 from work_items where workspace_id = $1 and kind = 'pack.revoke'`),
      ).toEqual([]);
      expect((await workspace.pack(packId)).status).toBe('installed');
    };
    await desk.revoke(listOf(DISPUTED), desk.globex);
    await holds();
    await desk.revoke({ publisher: 'globex', number: 1, revoked: [DISPUTED] }, desk.globex);
    await holds();
    await desk.revoke({ publisher: 'initech', number: 1, revoked: [DISPUTED] });
    await holds();
    await desk.revoke({ publisher: 'acme', number: 0, revoked: [DISPUTED] });
    await holds();
    for (const text of ['', 'null', '{}', '[{}]', '[', 'x'.repeat(2_000_000)]) {
      await writeFile(desk.revocations, text);
      await holds();
    }
    await rm(desk.revocations);
    await holds();
    const complaints = desk.test.logs.filter(({ msg }) =>
      String(msg).startsWith('SKILL_PACK_REVOCATIONS cannot be used'),
    );
    expect(complaints.length).toBeGreaterThan(3);
    expect(complaints.every(({ level }) => level === 50 || level === 'error')).toBe(true);

    // An older list, put in the place of the newest, takes nothing back.
    const newest = { publisher: 'acme', number: 1_000, revoked: [DISPUTED] };
    await desk.revoke(newest);
    await workspace.until(packId, 'revoked');
    await desk.revoke({ publisher: 'acme', number: 999, revoked: [] });
    expect((await workspace.post()).body.error.code).toBe('PACK_REVOKED');
  });

  it('keeps the service from starting', async () => {
    await writeFile(desk.revocations, '{"list": 1}');
    await expect(PackDesk.open({ SKILL_PACK_REVOCATIONS: desk.revocations })).rejects.toThrow(
      'SKILL_PACK_REVOCATIONS cannot be used: it is no signed list of revocations',
    );
    await expect(PackDesk.open({ SKILL_PACK_REVOCATIONS: `${desk.revocations}.none` })).rejects.toThrow(
      'SKILL_PACK_REVOCATIONS cannot be used: it names a file that does not exist.',
    );
  });
});
