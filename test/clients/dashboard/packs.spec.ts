import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Revocations } from '../../../src/features/packs/revocations.js';
import { signDocument } from '../../../src/platform/signatures/signed-document.js';
import { manifestOf, newPublisher, publishersOf, REMINDER, signedPack } from '../../support/skill-packs.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const RUNS = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';

describe.runIf(hasBrowser)('skill packs', { timeout: 60_000 }, () => {
  const acme = newPublisher('acme');
  let folder: string;
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consigliere-packs-'));
    await writeFile(join(folder, 'list.json'), '[]');
    desk = await DashboardDesk.open({
      SKILL_PACK_PUBLISHERS: publishersOf(acme),
      SKILL_PACK_REVOCATIONS: join(folder, 'list.json'),
    });
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/setup');
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const choose = (content: string) =>
    page.getByLabel('File of the pack').setInputFiles({
      name: 'pack.json',
      mimeType: 'application/json',
      buffer: Buffer.from(content),
    });
  const plan = () => page.getByRole('region', { name: 'What it would bring' });
  const pack = (title: string) =>
    page.getByRole('main').locator('.rows > li').filter({ hasText: title }).first();
  const install = (verb = 'Install') => page.getByRole('button', { name: verb, exact: true }).click();
  const packs = () => test.rows('select name, version, status from skill_packs order by installed_at');

  it('says what a file would bring before it is sent, and shows hostile text as it is', async () => {
    await page.getByRole('link', { name: 'Skill packs' }).click();
    await page.getByText('No skill pack yet.').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await choose('{"manifest":');
    await page.getByText('This file is not a signed skill pack.').waitFor();
    await choose(JSON.stringify({ manifest: { skills: 7, standingOrders: [null] }, signature: 'x' }));
    await plan().getByText('No skills.').waitFor();
    await choose(JSON.stringify(signedPack(manifestOf({ description: RUNS }), acme)));
    await plan().getByText(RUNS).waitFor();
    await plan().getByText('Install invoice-reminders 1.0.0 by acme').waitFor();
    await plan().getByText('ask a person each time').waitFor();
    await plan().getByText('let it go by itself').waitFor();
    await plan().getByText('Actions and tools').first().waitFor();
    await plan().getByText('skill of capo_revenue').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await packs()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('says why a pack is refused, and changes nothing', async () => {
    const { manifest, signature } = signedPack(manifestOf(), acme);
    await choose(JSON.stringify({ manifest: { ...manifest, description: 'Changed.' }, signature }));
    await plan().getByText('Changed.').waitFor();
    await install();
    const failure = page.getByRole('alert').filter({ hasText: 'The signature does not match' });
    await failure.getByText(/req_/).waitFor();
    expect(await packs()).toEqual([]);
    expect(await desk.findings()).toEqual([]);
  });

  it('installs one, shows what it brought, and leads to its orders', async () => {
    const skills = [{ ...REMINDER, instructions: RUNS }];
    await choose(JSON.stringify(signedPack(manifestOf({ skills }), acme)));
    await plan().getByText('Reminders of overdue invoices.').waitFor();
    await install();
    const row = pack('invoice-reminders 1.0.0');
    await row.getByText('installed', { exact: true }).waitFor();
    await row.getByText('What invoice-reminders brought').click();
    await row.getByText('arrived as a draft').first().waitFor();
    await row.getByText('All of payment-reminder').click();
    await row.getByText('"instructions"').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(await packs()).toEqual([{ name: 'invoice-reminders', version: '1.0.0', status: 'installed' }]);
    expect(
      await test.rows(`select action from receipts where action like 'skill_pack.%' order by seq`),
    ).toEqual(['accepted', 'skill_added', 'installed'].map((action) => ({ action: `skill_pack.${action}` })));
    await row.getByRole('link', { name: 'mail-asks' }).click();
    await page.getByRole('heading', { name: 'Mail of Revenue asks' }).waitFor();
    await page.goBack();
    expect(desk.complaints).toEqual([]);
  });

  it('upgrades it, and says which version that replaces', async () => {
    const next = manifestOf({ version: '1.1.0', skills: [{ ...REMINDER, instructions: 'Ask kindly.' }] });
    await choose(JSON.stringify(signedPack(next, acme)));
    await plan().getByText('Upgrade invoice-reminders 1.1.0 by acme').waitFor();
    await plan().getByText('It takes the place of 1.0.0.').waitFor();
    await install('Upgrade');
    await pack('invoice-reminders 1.1.0').getByText('installed', { exact: true }).waitFor();
    expect(await packs()).toEqual([{ name: 'invoice-reminders', version: '1.1.0', status: 'installed' }]);
    await choose(JSON.stringify(signedPack(manifestOf(), acme)));
    await install('Upgrade');
    await page.getByRole('alert').filter({ hasText: 'the older version 1.0.0 is not installed' }).waitFor();
    await page.getByRole('button', { name: 'Back', exact: true }).click();
  });

  it('says at once that a publisher has revoked a pack, and why', async () => {
    const list = {
      publisher: 'acme',
      number: 1,
      revoked: [{ name: 'invoice-reminders', reason: 'The licence is disputed.' }],
    };
    await writeFile(
      join(folder, 'list.json'),
      JSON.stringify([{ list, signature: signDocument(list, acme.key) }]),
    );
    await test.app.get(Revocations).enqueueRevoked();
    const row = pack('invoice-reminders 1.1.0');
    await row.getByText('revoked by its publisher').waitFor();
    await row.getByText('The licence is disputed.').waitFor();
    await row.getByText('Active orders that restrain stay').waitFor();
    expect(await row.getByRole('button', { name: 'Remove invoice-reminders' }).count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('removes one, and its orders are archived', async () => {
    const other = manifestOf({ name: 'thanks', skills: [{ ...REMINDER, name: 'thank-you' }] });
    await choose(JSON.stringify(signedPack(other, acme)));
    await install();
    const row = pack('thanks 1.0.0');
    await row.getByText('installed', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Remove thanks' }).click();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await row.getByText('removed', { exact: true }).waitFor();
    const [{ pack_id: id }] = (await test.rows<{ pack_id: string }>('select pack_id from skill_packs')) as [
      { pack_id: string },
    ];
    await page.goto(test.url);
    await page.getByRole('banner').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: 'Page, command or id' }).fill(id);
    await page.getByRole('option', { name: `Open ${id}` }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/packs');
    expect((await packs())[1]).toEqual({ name: 'thanks', version: '1.0.0', status: 'uninstalled' });
    expect(await test.rows('select distinct status from standing_orders')).toEqual([{ status: 'archived' }]);
    expect(desk.complaints).toEqual([]);
  });

  it('shows a viewer what there is, and no button', async () => {
    await test.rows(`update members set role = 'viewer' where workspace_id = $1`, [test.workspaceId]);
    // Who calls is remembered for half a second.
    test.clock.advance(1_000);
    await page.reload();
    await page.getByText('Admins install and remove packs.').waitFor();
    await pack('thanks 1.0.0').waitFor();
    expect(await desk.buttons()).toEqual([]);
    expect(await page.getByLabel('File of the pack').count()).toBe(0);
    expect(await desk.findings()).toEqual([]);
  });
});
