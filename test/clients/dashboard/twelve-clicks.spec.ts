import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type MailServer, startMailServer } from '../../e2e/mail/mail-server.js';
import { chromiumPath } from '../../support/chromium.js';
import { ServiceProcess } from '../../support/processes.js';
import { eventually } from '../../support/test-app.js';
import { DESK, hasBrowser } from './dashboard-desk.js';

const MOST = 12;

describe.runIf(hasBrowser)('from npm start to the first mail', { timeout: 120_000 }, () => {
  let dataDir: string;
  let mail: MailServer;
  let service: ServiceProcess;
  let browser: Browser;
  let page: Page;
  const pressed: string[] = [];

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'consigliere-first-'));
    mail = await startMailServer();
    // No DATABASE_URL: the program makes its own database, as it does after npm ci.
    service = await ServiceProcess.start({
      DATA_DIR: dataDir,
      PORT: '0',
      SMTP_URL: mail.url,
      MAIL_FROM: 'Consigliere <consigliere@acme.example>',
    });
    browser = await chromium.launch({ executablePath: chromiumPath()!, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: DESK, timezoneId: 'Europe/Vienna' });
    page.setDefaultTimeout(20_000);
    await page.exposeFunction('pressed', (what: string) => pressed.push(what));
    await page.addInitScript(`
      addEventListener('pointerdown', ({ target }) => pressed('click ' + target.textContent.slice(0, 40)), true);
      addEventListener('keydown', ({ key }) => key === 'Enter' && pressed('Enter'), true);`);
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    await mail.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it(`sends what a newcomer wrote, completed and approved, with at most ${MOST} clicks`, async () => {
    const { email, password } = JSON.parse(await readFile(join(dataDir, 'credentials.json'), 'utf8')) as {
      email: string;
      password: string;
    };
    const type = (text: string) => page.keyboard.type(text);
    await page.goto(service.url);
    await page.getByLabel('Mail address').waitFor();
    await type(email);
    await page.keyboard.press('Tab');
    await type(password);
    await page.keyboard.press('Enter');

    const firstRun = page.getByRole('region', { name: 'First run' });
    await firstRun.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Time zone Europe/Vienna,').waitFor();
    await firstRun.getByRole('link', { name: 'Hand in the first directive' }).click();

    await page.getByLabel('What should be done').click();
    await type('Email jane@acme.example that we moved.');
    await page.getByRole('button', { name: 'Hand in' }).click();

    await page.getByRole('textbox', { name: 'Subject' }).click();
    await type('We moved');
    await page.getByRole('textbox', { name: /^Text/ }).click();
    await type('Dear Jane, our new address is Dock 4.');
    await page.getByRole('button', { name: 'Save and approve' }).click();

    const [sent] = await eventually(
      () => Promise.resolve(mail.received.filter(({ to }) => to.includes('jane@acme.example'))),
      (all) => all.length > 0,
    );
    const { subject, text, from } = await PostalMime.parse(sent!.bytes);
    expect([sent!.to, from?.address, subject]).toEqual([
      ['jane@acme.example'],
      'consigliere@acme.example',
      'We moved',
    ]);
    expect(text).toContain('Dear Jane, our new address is Dock 4.');
    expect(pressed.length, pressed.join('\n')).toBeLessThanOrEqual(MOST);
    expect(pressed.length).toBeGreaterThanOrEqual(6);
  });
});
