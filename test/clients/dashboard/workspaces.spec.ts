import { createReadStream } from 'node:fs';
import PostalMime from 'postal-mime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyExport } from '../../../src/features/tenancy/verify-export.js';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { eventually, type TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser, PASSWORD } from './dashboard-desk.js';

const INES = 'ines@northwind.example';
const NAME = 'Northwind <b>Retail</b>';

describe.runIf(hasBrowser)('workspaces', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;
  let mail: MailServer;

  beforeAll(async () => {
    mail = await startMailServer();
    desk = await DashboardDesk.open({ SMTP_URL: mail.url });
    ({ test, page } = desk);
    await desk.begin();
    await desk.signIn('/setup');
  });
  beforeEach(() => desk.begin());
  afterAll(async () => {
    await desk?.close();
    await mail.close();
  });

  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const inDialog = (name: string) =>
    page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  const listed = () =>
    page.getByRole('region', { name: 'All workspaces' }).getByRole('listitem').filter({ hasText: NAME });
  const linkOf = async (count: number) => {
    const all = await eventually(
      () => Promise.resolve(mail.received.filter(({ to }) => to.includes(INES))),
      (received) => received.length >= count,
    );
    const { text } = await PostalMime.parse(all.at(-1)!.bytes);
    return /\/invites\/([\w-]{43})/.exec(text!)![1]!;
  };
  const receipts = async (like: string) =>
    (
      await test.rows<{ action: string }>(
        `select action from receipts where action like $1 and workspace_id <> $2 order by seq`,
        [like, test.workspaceId],
      )
    ).map(({ action }) => action);

  it('makes a workspace, and invites its owner, twice', async () => {
    await page.getByRole('link', { name: 'Workspaces' }).click();
    await page.getByRole('region', { name: 'All workspaces' }).getByText('(this one)').waitFor();
    expect(await page.getByRole('region', { name: 'Deletion' }).count()).toBe(0);
    await page.getByLabel('Name of the new workspace').fill(NAME);
    await page.getByLabel('Email address of its owner').fill(INES);
    await page.getByLabel('Tier').selectOption('pro');
    await page.getByLabel('Time zone', { exact: true }).fill('Europe/Vienna');
    await page.getByLabel('Currency').selectOption('EUR');
    expect(await desk.findingsEverywhere()).toEqual([]);
    await press('Make the workspace');
    await page.getByText(`A mail with a link goes to ${INES}`).waitFor();
    await listed().getByText('nobody has joined yet').waitFor();
    expect(
      await test.rows(`select tier, timezone, currency from workspaces where name = $1`, [NAME]),
    ).toEqual([{ tier: 'pro', timezone: 'Europe/Vienna', currency: 'EUR' }]);
    const lost = await linkOf(1);
    await press(`Invite an owner again for ${NAME}`);
    await page.getByRole('dialog').getByLabel('Email address of its owner').fill(INES);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await inDialog('Invite an owner again');
    const token = await linkOf(2);
    const accept = (given: string) =>
      test.owner.post('/invites/accept', { token: given, displayName: 'Ines Marlow', password: PASSWORD });
    expect((await accept(lost)).status).toBe(410);
    expect((await accept(token)).status).toBe(201);
    await page.reload();
    await listed().getByText('1 member').waitFor();
    expect(desk.complaints).toEqual([]);
  });

  it('refuses a name that is taken, and keeps what was typed', async () => {
    await page.getByLabel('Name of the new workspace').fill(NAME);
    await page.getByLabel('Email address of its owner').fill(INES);
    await press('Make the workspace');
    await page.getByRole('alert').filter({ hasText: 'exists already' }).waitFor();
    expect(await page.getByLabel('Name of the new workspace').inputValue()).toBe(NAME);
    expect(await test.rows('select 1 from workspaces')).toHaveLength(2);
  });

  it('shows an owner of another workspace its export alone, and exports the whole of it', async () => {
    await press('Sign out');
    await desk.signIn('/workspaces', INES);
    await page.getByText('Export it first').waitFor();
    expect(await page.getByRole('region', { name: 'All workspaces' }).count()).toBe(0);
    expect(await desk.findingsEverywhere()).toEqual([]);
    const download = page.waitForEvent('download');
    await press('Export');
    const file = await (await download).path();
    expect((await download).suggestedFilename()).toMatch(/^workspace-.*\.jsonl$/);
    await page.getByText('The file is complete').waitFor();
    const { manifest, lines } = await verifyExport(createReadStream(file));
    expect(manifest.workspaceName).toBe(NAME);
    await page.getByText(`${lines} lines`).waitFor();
    expect(await receipts('workspace.export%')).toEqual(['workspace.export_started', 'workspace.exported']);
    expect(desk.complaints).toEqual([]);
  });

  it('says how much of an export has come, and stops it', async () => {
    const other = await test.database.owner.connect();
    try {
      await other.query('begin; lock table documents in access exclusive mode');
      await press('Export');
      await page.getByText(/received\. Leave/).waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
      await press('Stop the export');
      await page.getByText(/received\. Leave/).waitFor({ state: 'detached' });
      expect(await page.getByRole('alert').count()).toBe(0);
      await other.query('rollback');
      await other.query(`select pg_advisory_lock(hashtextextended('export', 9))`);
      await press('Export');
      await page.getByRole('alert').filter({ hasText: 'Another export is running' }).waitFor();
    } finally {
      other.release(true);
    }
  });

  it('asks for the deletion with the name typed, shows the grace, and takes it back', async () => {
    await page.reload();
    await press(`Delete ${NAME}`);
    await page.getByLabel(`Type ${NAME}`).fill('Northwind');
    await inDialog('Delete');
    await page.getByRole('alert').filter({ hasText: 'must be the name of this workspace' }).waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    await inDialog('Back');
    await press(`Delete ${NAME}`);
    expect(await page.getByLabel(`Type ${NAME}`).inputValue()).toBe('');
    await page.getByLabel(`Type ${NAME}`).fill(NAME);
    await inDialog('Delete');
    await page.getByRole('heading', { name: 'is going to be deleted' }).waitFor();
    await page.getByText('Ines Marlow asked for that').waitFor();
    expect(await desk.findingsEverywhere()).toEqual([]);
    expect(await test.rows('select 1 from workspace_deletions')).toHaveLength(1);
    await press(`Take it back and keep ${NAME}`);
    await inDialog('Take it back');
    await page.getByRole('button', { name: `Delete ${NAME}` }).waitFor();
    expect(await test.rows('select 1 from workspace_deletions')).toEqual([]);
    expect(await receipts('workspace.deletion_%')).toEqual(
      expect.arrayContaining(['workspace.deletion_requested', 'workspace.deletion_withdrawn']),
    );
    expect(await desk.findingsEverywhere()).toEqual([]);
  });

  it('shows nobody else a button; and without publishers says that no pack can be installed', async () => {
    await test.rows(`update members set role = 'admin'`);
    // Who calls is remembered for half a second.
    test.clock.advance(1_000);
    await page.reload();
    await page.getByText('Owners export and delete a workspace.').waitFor();
    expect(await desk.buttons()).toEqual([]);
    await page.getByRole('link', { name: 'Set-up' }).click();
    await page.getByRole('link', { name: 'Skill packs' }).waitFor();
    expect(await page.getByRole('link', { name: 'Workspaces' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Skill packs' }).click();
    await page.getByText('None can be installed').waitFor();
    expect(await desk.findings()).toEqual([]);
  });
});
