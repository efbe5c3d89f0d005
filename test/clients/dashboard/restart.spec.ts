import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chromiumPath } from '../../support/chromium.js';
import type { Client } from '../../support/client.js';
import { type Service, startService } from '../../support/processes.js';
import { DESK, EMAIL, hasBrowser, PASSWORD } from './dashboard-desk.js';

describe.runIf(hasBrowser)('a service that is killed under an open page', { timeout: 120_000 }, () => {
  let service: Service;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    service = await startService(1, { BOOTSTRAP_OWNER_EMAIL: EMAIL, BOOTSTRAP_OWNER_PASSWORD: PASSWORD });
    browser = await chromium.launch({ executablePath: chromiumPath()!, args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: DESK });
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.close();
  });

  async function handIn(owner: Client, name: string): Promise<string> {
    const directive = `Email ${name}@acme.example, subject "Tea": "At four."`;
    const { body } = await owner.post('/directives', { directive, capo: 'capo_ops' });
    await owner.get(`/approvals/${body.approvalId}?wait=10`);
    return body.approvalId;
  }

  it('takes nothing that is shown or typed, and what happened meanwhile is shown when it is back', async () => {
    const [first] = service.processes;
    const { url } = first!;
    const id = await handIn(service.client(), 'ann');
    const gone = await handIn(service.client(), 'bob');
    await page.goto(`${url}/approvals/${id}`);
    await page.getByLabel('Mail address').fill(EMAIL);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    const subject = page.getByRole('textbox', { name: 'Subject' });
    await subject.fill('Typed before');
    await page.getByText('Live', { exact: true }).waitFor();

    await first!.kill();
    await page.getByText(/Reconnecting|does not answer/).waitFor();
    await subject.press('End');
    await page.keyboard.type(' and after');
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.getByRole('alert').getByText('cannot be reached').waitFor();
    expect(await subject.inputValue()).toBe('Typed before and after');

    const elsewhere = await service.start();
    const other = service.client(elsewhere);
    await handIn(other, 'cid');
    expect((await other.post(`/approvals/${gone}/reject`, { feedback: 'No.' })).status).toBe(200);
    await service.start({ PORT: new URL(url).port });
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 });
    await page.getByText('cannot be reached').waitFor({ state: 'detached' });
    await page.getByText('The service answers again.').waitFor();
    await page.getByRole('link', { name: /cid/ }).waitFor();
    await page.getByRole('link', { name: /bob/ }).waitFor({ state: 'detached' });
    expect(await subject.inputValue()).toBe('Typed before and after');
    await page.getByRole('button', { name: 'Save and approve' }).click();
    await page.waitForURL((address) => !address.pathname.endsWith(id));
    const { body } = await other.get(`/approvals/${id}`);
    expect(body).toMatchObject({ status: 'approved' });
    expect(body.packets[0].action.params.subject).toBe('Typed before and after');
  });
});
