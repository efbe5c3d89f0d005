import { randomInt } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { chromiumPath } from '../../support/chromium.js';
import { allFound } from '../../support/programs.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

export const EMAIL = 'mira@acme.example';
export const PASSWORD = 'a long sentence for the tests';

const executablePath = chromiumPath();
export const hasBrowser = allFound('the dashboard in a browser', { Chromium: executablePath });

const IMAGES = join(import.meta.dirname, '../../../docs/guides/images');
export const DESK = { width: 1280, height: 900 };
export const PHONE = { width: 390, height: 800 };

/** The service, and a real browser in which its owner reads the dashboard. */
export class DashboardDesk {
  /** What the browser had to say against the page, such as a breach of its content security policy. */
  readonly complaints: string[] = [];

  private constructor(
    readonly test: TestApp,
    private readonly browser: Browser,
    readonly page: Page,
  ) {
    page.setDefaultTimeout(30_000);
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
  }

  static async open(
    environment: Record<string, string> = {},
    options: BrowserContextOptions = {},
  ): Promise<DashboardDesk> {
    const test = await startTestApp({
      BOOTSTRAP_OWNER_EMAIL: EMAIL,
      BOOTSTRAP_OWNER_PASSWORD: PASSWORD,
      ...environment,
    });
    const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] });
    return new DashboardDesk(
      test,
      browser,
      await (await browser.newContext({ viewport: DESK, ...options })).newPage(),
    );
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.test.close();
  }

  /** The browser asks from an address of its own in each test, out of the way of the limits, and has complained of nothing. */
  async begin(): Promise<void> {
    this.complaints.splice(0);
    const part = () => randomInt(256);
    await this.page.setExtraHTTPHeaders({ 'X-Forwarded-For': `10.${part()}.${part()}.${part()}` });
  }

  /** A page of another browser, with nothing of this one. */
  async otherBrowser(): Promise<Page> {
    const page = await (await this.browser.newContext({ viewport: DESK })).newPage();
    page.setDefaultTimeout(30_000);
    return page;
  }

  /** Opens a page, and signs in where that is asked for. */
  async signIn(path = '/', email = EMAIL, page = this.page): Promise<void> {
    await page.goto(this.test.url + path);
    await page.getByLabel('Mail address').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('banner').waitFor();
    // The browser itself tells that nobody was signed in.
    this.complaints.splice(0);
  }

  /** Hands in a directive elsewhere, and waits for its draft. */
  async handIn(directive: string): Promise<string> {
    const { body } = await this.test.owner.post('/directives', { directive, capo: 'capo_ops' });
    await this.test.owner.get(`/approvals/${body.approvalId}?wait=10`);
    return body.approvalId;
  }

  /** The page as a picture for the guides, which is kept when WRITE_IMAGES is set. */
  async picture(name: string, size: { width: number; height: number }, colorScheme: 'light' | 'dark') {
    const { page } = this;
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 70 });
    const picture = Buffer.from(data, 'base64');
    if (process.env['WRITE_IMAGES'] !== undefined) await writeFile(join(IMAGES, `${name}.webp`), picture);
    return picture;
  }

  /** What the page offers to press. Everybody who may read a list may save it, so CSV is left out. */
  async buttons(): Promise<string[]> {
    const all = await this.page.getByRole('main').getByRole('button').allTextContents();
    return all.filter((name) => name !== 'CSV');
  }

  /** What of the open dialog, its heading and these buttons, cannot be seen without scrolling. */
  async hiddenInDialog(...buttons: string[]): Promise<string[]> {
    const dialog = this.page.getByRole('dialog');
    await dialog.waitFor();
    const frame = (await dialog.boundingBox())!;
    const parts = [
      dialog.getByRole('heading').first(),
      ...buttons.map((name) => dialog.getByRole('button', { name, exact: true })),
    ];
    const hidden: string[] = [];
    for (const part of parts) {
      const { y, height } = (await part.boundingBox())!;
      const isSeen = y >= frame.y && y + height <= frame.y + frame.height;
      if (!isSeen) hidden.push((await part.textContent())!);
    }
    return hidden;
  }

  /** What axe finds at fault with the page as it is. */
  async findings(page = this.page): Promise<string[]> {
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: typeof axe }).axe.run(),
    );
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  }

  /** The same on a desk and on a phone, light and dark; and what does not fit on the phone. */
  async findingsEverywhere(page = this.page): Promise<string[]> {
    const found: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      for (const size of [PHONE, DESK]) {
        await page.setViewportSize(size);
        const faults = await this.findings(page);
        const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
        if (overflow > 0) faults.push(`${overflow} px too wide`);
        found.push(...faults.map((fault) => `${size.width} ${colorScheme}: ${fault}`));
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    return found;
  }
}
