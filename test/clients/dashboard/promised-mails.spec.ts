import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import type { TestApp } from '../../support/test-app.js';
import { DashboardDesk, hasBrowser } from './dashboard-desk.js';

/** What pages say about who is mailed, where nobody is: there is no mail server, or a member has chosen none. */
describe.runIf(hasBrowser)('who is mailed', { timeout: 60_000 }, () => {
  let desk: DashboardDesk;
  let test: TestApp;
  let page: Page;

  const owner = () => new Client(test.url, test.owner.token);
  const open = async (environment: Record<string, string>) => {
    desk = await DashboardDesk.open(environment);
    ({ test, page } = desk);
    await desk.begin();
    const { memberId } = await test.createMember(test.workspaceId, 'admin');
    await test.rows(
      `update users u set email = 'ann@northwind.example', display_name = 'Ann'
       from members m where m.user_id = u.user_id and m.member_id = $1`,
      [memberId],
    );
    const delivery = { email: true, emailAddress: 'list@northwind.example', memberIds: [memberId] };
    expect((await owner().put('/reports/config', { delivery })).status).toBe(200);
    return memberId;
  };

  describe('without a mail server', () => {
    beforeAll(() => open({}));
    afterAll(() => desk?.close());

    it('is nobody, on each page that names them', async () => {
      const { mailed } = (await owner().get('/profile/notifications')).body;
      expect(mailed).toMatchObject({ approvals: [], escalations: [], reports: [] });
      await desk.signIn('/report');
      await page.getByText('It would be mailed to Ann and list@northwind.example').waitFor();
      expect(await page.getByText('It is mailed to').count()).toBe(0);
      expect(await desk.findingsEverywhere()).toEqual([]);
      await page.goto(`${test.url}/people`);
      await page.getByRole('region', { name: 'Members' }).getByText('mailed nothing').first().waitFor();
      expect(await page.getByText('mailed approvals').count()).toBe(0);
    });
  });

  describe('where a member wants no reports', () => {
    let memberId: string;
    beforeAll(async () => {
      // Nobody listens there: nothing is mailed here.
      memberId = await open({ SMTP_URL: 'smtp://127.0.0.1:1' });
    });
    afterAll(() => desk?.close());

    it('is not the member, though they are named', async () => {
      await test.rows(
        `insert into notification_choices (workspace_id, member_id, reports, at_any_hour) values ($1, $2, 'none', false)`,
        [test.workspaceId, memberId],
      );
      await desk.signIn('/report');
      await page.getByText('It is mailed to list@northwind.example.').waitFor();
      await page.getByText('no mail: reports are switched off for them').waitFor();
      expect(await desk.findingsEverywhere()).toEqual([]);
    });
  });
});
