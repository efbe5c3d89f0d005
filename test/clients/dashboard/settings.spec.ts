import { generateKeyPairSync } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publicKeyOf, signLicence } from '../../../src/features/subscription/licence.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

const RUNS = '<img src=x onerror="globalThis.ran=1"><script>globalThis.ran=1</script>';
const YEAR = 365 * 24 * 60 * 60 * 1000;

describe.runIf(hasBrowser)('settings, tier and licence', { timeout: 60_000 }, () => {
  const issuer = generateKeyPairSync('ed25519').privateKey;
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open({ LICENCE_PUBLIC_KEY: publicKeyOf(issuer) });
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/setup');
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const stored = async (): Promise<Record<string, any>> => (await test.owner.get('/settings')).body;
  /** Who calls is remembered for half a second. */
  const forget = () => test.clock.advance(1_000);
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const inDialog = async (name: string) => {
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  };

  it('keeps what is typed while somebody else changes the same form, and puts nothing of theirs back', async () => {
    await page.getByRole('link', { name: 'Settings', exact: false }).click();
    await page.getByLabel('Who signs mails').fill('Northwind Care');
    await page.getByLabel('Signature').fill(`Yours\n${RUNS}`);
    expect(await desk.findingsEverywhere()).toEqual([]);
    const sender = { replyTo: 'care@northwind.example', signature: 'Theirs' };
    expect((await test.owner.put('/settings', { sender })).status).toBe(200);
    await eventually(
      () => page.getByLabel('Reply-to address').inputValue(),
      (value) => value === 'care@northwind.example',
    );
    await page.reload();
    await page.getByLabel('Who signs mails').waitFor();
    expect(await page.getByLabel('Who signs mails').inputValue()).toBe('Northwind Care');
    await press('Save the sender');
    await eventually(stored, (settings) => settings['sender'].name === 'Northwind Care');
    expect((await stored())['sender']).toEqual({
      name: 'Northwind Care',
      signature: `Yours\n${RUNS}`,
      replyTo: 'care@northwind.example',
    });
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    expect(desk.complaints).toEqual([]);
  });

  it('changes zone, language and currency, and says what a wrong zone lacks', async () => {
    await page.getByLabel('Time zone', { exact: true }).fill('Mars/Base');
    await press('Save time zone and currency');
    await page.getByRole('alert').filter({ hasText: 'req_' }).waitFor();
    await page.getByLabel('Time zone', { exact: true }).fill('Europe/Vienna');
    await page.getByLabel('Language').fill('de-AT');
    await page.getByRole('combobox', { name: 'Currency' }).selectOption('EUR');
    await press('Save time zone and currency');
    await page.getByText('(Europe/Vienna)').waitFor();
    expect(await stored()).toMatchObject({ timezone: 'Europe/Vienna', locale: 'de-AT', currency: 'EUR' });
  });

  it('changes what members are mailed, and the quiet hours', async () => {
    await page.getByLabel('Approvals').selectOption('digest');
    await page.getByLabel('Quiet from').fill('22:00');
    await page.getByLabel('Quiet until').fill('07:00');
    await press('Save mails and quiet hours');
    await eventually(stored, ({ quietHours }) => quietHours !== null);
    expect(await stored()).toMatchObject({
      quietHours: { from: '22:00', to: '07:00' },
      notifications: { approvals: 'digest', escalations: 'all', reports: 'all' },
    });
    // The form is the one of what was saved.
    await eventually(
      () => page.evaluate('JSON.stringify(Object.keys(sessionStorage))'),
      (keys) => !String(keys).includes('mails to members'),
    );
    await page.getByLabel('Quiet from').fill('');
    await page.getByLabel('Quiet until').fill('');
    await press('Save mails and quiet hours');
    await eventually(stored, ({ quietHours }) => quietHours === null);
    expect(desk.complaints).toEqual([]);
  });

  it('says what goes before less is kept, and what holds afterwards', async () => {
    const kept = page.getByRole('listitem').filter({ hasText: 'Deliveries to webhooks' });
    await kept.getByText('30 days').waitFor();
    await kept.getByRole('button').click();
    await page.getByRole('dialog').getByText('nothing brings it back').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByRole('spinbutton').fill('7');
    await inDialog('Change the days');
    await kept.getByText('7 days').waitFor();
    expect(await test.rows('select retention from workspaces')).toEqual([{ retention: { deliveries: 7 } }]);
    const [receipt] = await test.rows<{ body: string }>(
      `select body from receipts where action = 'settings.changed' order by seq desc limit 1`,
    );
    expect(JSON.parse(receipt!.body).details.new.retention.deliveries).toBe(7);
    await kept.getByRole('button').click();
    await page.getByRole('spinbutton').fill('');
    await inDialog('Change the days');
    await kept.getByText('30 days').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('renames the workspace', async () => {
    await page.getByLabel('Name of the workspace').fill('Northwind Retail');
    await page.keyboard.press('Enter');
    await eventually(
      () => test.rows('select name from workspaces'),
      ([row]) => row!['name'] === 'Northwind Retail',
    );
    expect(desk.complaints).toEqual([]);
  });

  it('shows the tier without a limit, says why a licence is refused, and keeps what was pasted', async () => {
    await page.goto(`${test.url}/setup`);
    await page.getByRole('link', { name: 'Tier and licence' }).click();
    await page.getByText('no limit').first().waitFor();
    await page.getByText('No licence is installed').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('Licence key').fill('CLIC1.cut');
    await press('Install the licence');
    await page.getByRole('alert').getByText('This is not a whole licence key').waitFor();
    expect(await page.getByLabel('Licence key').inputValue()).toBe('CLIC1.cut');
    expect(await test.rows('select 1 from licences')).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });

  it('installs a licence, and shows what it allows and how much is left', async () => {
    const issuedAt = test.clock.now();
    const licence = {
      licenceId: newId('lic'),
      number: 1,
      workspaceId: test.workspaceId,
      tier: 'pro' as const,
      entitlements: ['sso'],
      issuedAt,
      expiresAt: issuedAt + YEAR,
    };
    await page.getByLabel('Licence key').fill(signLicence(licence, issuer));
    await press('Install the licence');
    await page.getByText('The licence is valid until').waitFor();
    await page.getByText('allows sso').waitFor();
    await page.reload();
    await page.getByText(/^[\d,]+ of 10,000 left$/).waitFor();
    await page.getByText(/^\d+ of 120 left$/).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await test.rows('select tier from workspaces')).toEqual([{ tier: 'pro' }]);
    expect(await test.rows(`select 1 from receipts where action = 'subscription.changed'`)).toHaveLength(1);
    expect(desk.complaints).toEqual([]);
    await test.rows(`update workspaces set tier = 'enterprise'`);
  });

  it('asks for a second factor of everybody, oneself too', async () => {
    await page.goto(`${test.url}/settings`);
    await page.getByText('A second factor is required of nobody').waitFor();
    await press('Change who must have a second factor');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.getByLabel('Who must have one').selectOption('everyone');
    await page.getByRole('dialog').getByRole('button', { name: 'Change who', exact: true }).click();
    await page.getByRole('banner').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: /second factor/i }).waitFor();
    expect(await test.rows('select second_factor from workspaces')).toEqual([{ second_factor: 'everyone' }]);
    await test.rows(`update workspaces set second_factor = 'optional'`);
    forget();
  });

  it.each([
    [
      'admin',
      ['Save the sender', 'Save time zone and currency', 'Save mails and quiet hours'],
      'Only owners',
    ],
    ['viewer', [], 'Admins change these settings.'],
  ])('shows the role %s no button that it may not press', async (role, buttons, sentence) => {
    await test.rows('update members set role = $2 where workspace_id = $1', [test.workspaceId, role]);
    forget();
    await page.goto(`${test.url}/settings`);
    await page.getByText(sentence).waitFor();
    const shown = await page.getByRole('main').getByRole('button').allTextContents();
    expect(shown.filter((name) => name !== 'Change the days')).toEqual(buttons);
    expect(await desk.findingsEverywhere()).toEqual([]);
    if (role === 'admin') return;
    expect(shown).toEqual([]);
    await page.getByText(RUNS).waitFor();
    expect(await page.evaluate('globalThis.ran')).toBeUndefined();
    await page.goto(`${test.url}/tier`);
    await page.getByText('Admins install a licence.').waitFor();
    expect(await desk.buttons()).toEqual([]);
  });
});
