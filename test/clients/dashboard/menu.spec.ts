import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DashboardDesk, DESK, EMAIL, hasBrowser, PHONE } from './dashboard-desk.js';

const PAGES = ['Directives', 'Overview', 'Sent and done', 'Escalations', 'Safety', 'Set-up', 'Mira'];

describe.runIf(hasBrowser)('the menu', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ page } = desk);
    await desk.begin();
    await desk.signIn();
    await page.getByRole('heading', { name: 'Inbox' }).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const bar = () => page.getByRole('banner');
  const menu = () => page.getByRole('button', { name: 'Menu', exact: true });
  const links = () => page.getByRole('navigation', { name: 'Pages' }).getByRole('link');

  it('stands in one line on a desk, with all that it leads to', async () => {
    for (const width of [DESK.width, 1024]) {
      await page.setViewportSize({ ...DESK, width });
      const { height } = (await bar().boundingBox())!;
      expect(height, `${width}`).toBeLessThan(70);
      expect(await desk.findings()).toEqual([]);
    }
    await page.setViewportSize(DESK);
    expect(await menu().isVisible()).toBe(false);
    for (const name of PAGES) expect(await bar().getByRole('link', { name }).isVisible(), name).toBe(true);
    expect(await bar().getByRole('button', { name: 'Sign out' }).isVisible()).toBe(true);
  });

  it('opens as one list on a phone: each entry whole, tall enough for a finger, and reached by the keyboard', async () => {
    await page.setViewportSize(PHONE);
    expect((await bar().boundingBox())!.height).toBeLessThan(110);
    expect(await links().filter({ visible: true }).count()).toBe(1);
    await menu().click();
    expect(await menu().getAttribute('aria-expanded')).toBe('true');
    for (const entry of [...PAGES.map((name) => links().filter({ hasText: name }))]) {
      const box = (await entry.boundingBox())!;
      expect(box.height).toBeGreaterThanOrEqual(44);
      expect(box.x).toBeGreaterThanOrEqual(0);
      expect(box.x + box.width).toBeLessThanOrEqual(PHONE.width);
      expect(box.y + box.height).toBeLessThanOrEqual(PHONE.height);
    }
    expect(await page.getByRole('button', { name: 'Stop everything' }).isVisible()).toBe(true);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await desk.findings()).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.keyboard.press('Escape');
    await links().filter({ hasText: 'Set-up' }).waitFor({ state: 'hidden' });
    expect(await menu().evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Inbox');
  });

  it('closes once a page is chosen', async () => {
    await links().filter({ hasText: 'Mira' }).click();
    await page.getByRole('heading', { name: 'Your account' }).waitFor();
    await links().filter({ hasText: 'Set-up' }).waitFor({ state: 'hidden' });
    expect(await menu().getAttribute('aria-expanded')).toBe('false');
    expect(desk.complaints).toEqual([]);
  });

  it('stays in one line, and cut off nowhere, for somebody with a long name, two workspaces and work that waits', async () => {
    const { test } = desk;
    const { workspaceId } = await test.createWorkspace();
    await test.rows(
      `insert into members (member_id, workspace_id, user_id, role)
       select 'mem_' || substr($1, 5), $1, user_id, 'owner' from users where email = $2`,
      [workspaceId, EMAIL],
    );
    await test.rows(`update users set display_name = 'Mira Margarethe Zimmermann-Lindqvist'`);
    // Who holds the session is looked up anew.
    test.clock.advance(1_000);
    await desk.handIn('Email karl@acme.example, subject "Rent": "It is due on Friday."');
    await page.setViewportSize(DESK);
    await page.goto(test.url);
    await bar().getByText('1 in the inbox').waitFor();
    await bar().getByLabel('Workspace').waitFor();
    expect((await bar().boundingBox())!.height).toBeLessThan(70);
    expect(await desk.findingsEverywhere()).toEqual([]);
    await page.setViewportSize(PHONE);
    expect((await bar().boundingBox())!.height).toBeLessThan(160);
    await menu().click();
    await links().filter({ hasText: 'Mira Margarethe Zimmermann-Lindqvist' }).waitFor();
    expect(await desk.findings()).toEqual([]);
    expect(desk.complaints).toEqual([]);
  });
});
