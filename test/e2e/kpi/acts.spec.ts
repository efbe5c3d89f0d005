import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Worker } from '../../../src/platform/work/worker.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { Desk, DOCUMENT } from '../directives/desk.js';
import { FullCount, type Whose } from './full-count.js';
import { countedOf, KpiRows } from './kpi-rows.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const SKILL = { name: 'Of the test', targetEntityType: 'skill', targetEntityId: 'quote', definition: {} };

describe('GET /kpi after the acts of a day', () => {
  it(
    'is what counting every row gives, for every reader, and again with everything added up',
    { timeout: 120_000 },
    async () => {
      const { workspaceId, owner } = await test.createWorkspace();
      const kpi = new KpiRows(test.rows, workspaceId);
      const desk = new Desk(test, owner.token);
      await owner.put('/settings', { timezone: 'Asia/Kathmandu' });
      const [one, two] = [
        await test.createTeam(workspaceId, 'One'),
        await test.createTeam(workspaceId, 'Two'),
      ];
      const ofOne = await test.createMember(workspaceId, 'admin', []);
      const member = await test.createMember(workspaceId, 'operator', [one]);
      const both = await test.createMember(workspaceId, 'viewer', [one, two]);
      const outsider = await test.createMember(workspaceId, 'operator');
      const team = new Desk(test, member.token);
      const alone = new Desk(test, outsider.token);
      await desk.client.post('/standing-orders', {
        name: 'Documents',
        effect: 'allow',
        match: { actionTypes: ['document.file'] },
      });

      const { checkpointId } = (await owner.post('/guardian/checkpoint')).body;

      const readers: [string, { get: typeof owner.get }, string, Whose][] = [
        ['the owner', owner, '/kpi', 'all'],
        ['the owner, of team two', owner, `/kpi?teamId=${two}`, [two]],
        ['an admin in no team', ofOne, '/kpi', 'all'],
        ['a member of one team', member, '/kpi', [one]],
        ['a member of both', both, '/kpi', [one, two]],
        ['a member of none', outsider, '/kpi', []],
      ];
      const expectCounted = async () => {
        for (const [who, reader, path, whose] of readers) {
          const { body } = await reader.get(path);
          const counted = await new FullCount(test.rows, workspaceId, whose).at(body.generatedAt);
          expect(countedOf(body), who).toEqual(counted);
        }
      };

      for (const worker of [desk, team, alone]) {
        const own = { directive: DOCUMENT, capo: 'capo_ops', requiresApproval: false };
        const { directiveId } = (await worker.client.post('/directives', own)).body;
        await worker.until(directiveId, 'executed');
        const approved = await worker.handInReady({ text: DOCUMENT });
        await worker.approve(approved.approvalId);
        await worker.until(approved.directiveId, 'executed');
        const rejected = await worker.handInReady({ text: DOCUMENT });
        await worker.reject(rejected.approvalId);
        const revised = await worker.handInReady({ text: DOCUMENT });
        await worker.reject(revised.approvalId, { feedback: 'Shorter.', revise: true });
        const { directiveId: cancelled } = await worker.handInReady({ text: DOCUMENT });
        await worker.client.post(`/directives/${cancelled}/cancel`);
        await worker.handIn({ text: DOCUMENT });
        await worker.client.post('/revenue-events', { amount: 12.34, currency: 'USD', source: 'shop' });
        await worker.client.post('/revenue-events', { amount: 99, currency: 'EUR', source: 'shop' });
        await worker.client.post('/evals/run', SKILL);
        await kpi.fold(7);
      }
      // Drafts that are still being made would come between two looks.
      await eventually(
        async () =>
          (
            await test.rows(
              `select 1 from approvals where status = 'pending' and not ready and workspace_id = $1`,
              [workspaceId],
            )
          ).length,
        (drafting) => drafting === 0,
      );
      await expectCounted();

      await desk.kill();
      await expectCounted();
      await desk.revert();
      await desk.client.post('/guardian/revert', { mode: 'compensate', checkpointId });
      await eventually(
        async () => (await desk.client.get('/guardian')).body.mode,
        (mode) => mode === 'guardrailed',
      );
      const undone = await test.rows(
        `select 1 from work_packets where status = 'reverted' and workspace_id = $1`,
        [workspaceId],
      );
      expect(undone.length).toBeGreaterThan(0);
      await expectCounted();

      const moved = await desk.client.post(`/teams/${one}/archive`, { moveTo: two });
      expect(moved.status, moved.text).toBe(200);
      readers.splice(3, 2);
      await test.app.get(Worker).beforeApplicationShutdown();
      await expectCounted();
      await kpi.fold();
      await expectCounted();
      const { tiles } = (await owner.get('/kpi')).body;
      expect(tiles.packetsExecuted.value).toBeGreaterThanOrEqual(6);
      expect(tiles.approvalsPending.value).toBeGreaterThanOrEqual(2);
      expect(tiles.revenueThisWeek).toMatchObject({ value: 37.02, byCurrency: { EUR: 297 } });
      // The skills are none; the order that became active passed.
      expect(tiles.evalPassRate.value).toBe(25);
    },
  );
});
