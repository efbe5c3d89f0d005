import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath } from '../../support/chromium.js';
import { allFound } from '../../support/programs.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const EMAIL = 'mira@acme.example';
const PASSWORD = 'a long sentence for the tests';
const executablePath = chromiumPath();

describe.runIf(allFound('the dashboard in a browser', { Chromium: executablePath }))(
  'the inbox',
  { timeout: 60_000 },
  () => {
    let test: TestApp;
    let browser: Browser;
    let page: Page;
    /** What the browser had to say against the page, such as a breach of its content security policy. */
    const complaints: string[] = [];

    beforeAll(async () => {
      test = await startTestApp({ BOOTSTRAP_OWNER_EMAIL: EMAIL, BOOTSTRAP_OWNER_PASSWORD: PASSWORD });
      browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] });
      page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
      page.setDefaultTimeout(20_000);
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
    });

    afterAll(async () => {
      await browser?.close();
      await test?.close();
    });

    afterEach(() => complaints.splice(0));

    const handIn = async (text: string): Promise<string> => {
      const { body } = await test.owner.post('/directives', { directive: text, capo: 'capo_ops' });
      await test.owner.get(`/approvals/${body.approvalId}?wait=10`);
      return body.approvalId;
    };

    const findings = async () => {
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run(),
      );
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
    };

    it('is behind the sign-in, which says what is wrong', async () => {
      await page.goto(test.url);
      await page.getByLabel('Mail address').fill(EMAIL);
      await page.getByLabel('Password').fill('not the password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).toContain('req_');
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      expect(await page.getByText('Nothing waits for you').count()).toBe(1);
    });

    it('shows what is handed in elsewhere, has it completed and approved, and goes on to the next', async () => {
      const lacking = await handIn('Email jane@acme.example that we moved.');
      const other = await handIn('Email karl@acme.example, subject "Rent": "It is due on Friday."');
      await page.getByRole('link', { name: /karl/ }).waitFor();
      await page.getByRole('link', { name: /jane/ }).click();
      const approve = page.getByRole('button', { name: 'approve' });
      await page.getByText('Still missing: ').waitFor();
      expect(await approve.isDisabled()).toBe(true);
      expect(await findings()).toEqual([]);
      await page.getByLabel('Subject').fill('We moved');
      await page.getByLabel('Text', { exact: false }).fill('Our new address is Dock 4.');
      await page.reload();
      expect(await page.getByLabel('Subject').inputValue()).toBe('We moved');
      await page.getByRole('button', { name: 'Save and approve' }).click();
      await page.waitForURL(`**/approvals/${other}`);
      const { body } = await test.owner.get(`/approvals/${lacking}`);
      expect(body).toMatchObject({ status: 'approved', decidedBy: { name: 'Mira' } });
      expect(body.packets[0].action.params).toMatchObject({
        subject: 'We moved',
        body: 'Our new address is Dock 4.',
      });
      expect(complaints).toEqual([]);
    });

    it('hands in, says before what would become of it, and shows its life', async () => {
      await page.getByRole('link', { name: 'Directives' }).click();
      await page.getByLabel('What should be done').fill('Email eva@acme.example, subject "Tea": "At four."');
      await page.getByText('drafts it: Mail to eva@acme.example').waitFor();
      await page.getByRole('button', { name: 'Hand in' }).click();
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('link', { name: 'What left' }).click();
      await page.getByRole('link', { name: /eva/ }).click();
      await page.getByText('executed').first().waitFor();
      expect(await page.getByRole('listitem').allTextContents()).toEqual(
        expect.arrayContaining([expect.stringMatching(/^executed .*rcp_/)]),
      );
      expect(await findings()).toEqual([]);
      expect(complaints).toEqual([]);
    });

    it('stops everything, and says who did', async () => {
      await page.getByRole('button', { name: 'Stop everything' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Why').fill('A drill');
      await dialog.getByRole('button', { name: 'Stop everything' }).click();
      expect((await test.owner.get('/guardian')).body.mode).not.toBe('killed');
      await dialog.getByLabel('Type HALT').fill('HALT');
      expect(await findings()).toEqual([]);
      await dialog.getByRole('button', { name: 'Stop everything' }).click();
      await page.getByText('Everything is stopped').waitFor();
      expect((await test.owner.get('/guardian')).body).toMatchObject({ mode: 'killed', reason: 'A drill' });
      expect(await findings()).toEqual([]);
    });

    it('keeps the operator token out of storage and address', async () => {
      const kept = await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])');
      expect(kept).not.toContain('cons_');
    });

    it('is usable on a phone', async () => {
      await page.setViewportSize({ width: 390, height: 800 });
      await page.goto(test.url);
      await page.getByRole('heading', { name: 'Inbox' }).waitFor();
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(overflow).toBeLessThanOrEqual(0);
      expect(await findings()).toEqual([]);
    });
  },
);
