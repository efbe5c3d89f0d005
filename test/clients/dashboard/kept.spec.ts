import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EscalationDesk } from '../../e2e/escalations/escalation-desk.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser, PASSWORD } from './dashboard-desk.js';

const TYPED = 'Typed before the lock';

describe.runIf(hasBrowser)('an open page left alone for 31 minutes', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  beforeAll(async () => {
    desk = await DashboardDesk.open();
    ({ test, page } = desk);
    await desk.begin();
    await desk.handIn('Email jane@acme.example, subject "Tea": "At four."');
    await desk.handIn('Email karl@acme.example, subject "Tea": "At four."');
    await new EscalationDesk(test).open();
    await page.clock.install();
    await desk.signIn();
  });
  beforeEach(() => desk.begin());
  afterAll(() => desk?.close());

  const press = (name: string | RegExp) => page.getByRole('button', { name }).first().click();
  const field = (name: string): Locator => page.getByRole('textbox', { name, exact: true });

  it.each([
    ['of a stop', '/', 'Why', () => press('Stop everything')],
    [
      'for many at once',
      '/',
      'Reason for rejecting',
      async () => {
        await page.getByRole('checkbox', { name: /jane/ }).check();
        await press('Decide 1 at once');
      },
    ],
    ['of a checkpoint', '/guardian', 'What it is for', () => Promise.resolve()],
    ['of a workspace', '/workspaces', 'Name of the new workspace', () => Promise.resolve()],
    ['of a token', '/settings/api', 'Name of the token', () => Promise.resolve()],
    ['of an escalation', '/escalations', 'Why', () => press('Dismiss')],
    ['of a directive', '/directives', 'What should be done', () => Promise.resolve()],
    [
      'of an approval',
      '/',
      'What should be different, or why not',
      () => page.getByRole('link', { name: /jane/ }).click(),
    ],
  ])('shows nothing, and keeps what was typed into the form %s', async (_name, path, label, open) => {
    await page.goto(test.url + path);
    await open();
    await field(label).fill(TYPED);
    test.clock.advance(31 * 60_000);
    await page.clock.fastForward('31:00');
    await page.getByRole('heading', { name: 'Signed out' }).waitFor();
    const shown = await page.locator('body').innerText();
    expect(shown.split('\n').filter(Boolean)).toEqual([
      'Signed out',
      'Sign in to go on. What you typed is still there.',
      'Email address',
      'Password',
      'Sign in',
      'I forgot my password',
    ]);
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('banner').waitFor();
    // The page of an approval is still the page.
    if ((await field(label).count()) === 0 && !page.url().includes('/approvals/')) await open();
    await field(label).waitFor();
    expect(await field(label).inputValue()).toBe(TYPED);
  });

  it('keeps none of it once it is sent', async () => {
    await page.goto(`${test.url}/guardian`);
    await press('Take a checkpoint');
    await page.getByRole('listitem').filter({ hasText: TYPED }).waitFor();
    expect(await field('What it is for').inputValue()).toBe('');
    await page.reload();
    await field('What it is for').waitFor();
    expect(await field('What it is for').inputValue()).toBe('');
  });
});
