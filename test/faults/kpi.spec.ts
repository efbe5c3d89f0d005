import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FullCount } from '../e2e/kpi/full-count.js';
import { countedOf, KpiRows } from '../e2e/kpi/kpi-rows.js';
import { type Service, type ServiceProcess, startService } from '../support/processes.js';

const KILLS = 12;
const CLIENTS = 6;
const ALLOW = { name: 'Documents', effect: 'allow', match: { actionTypes: ['document.file'] } };
const MEMO = 'File this memo for the board: The delivery delays end on Friday.';

describe('processes killed among acts', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(2, { RATE_LIMIT_STORE: 'memory' });
  }, 90_000);
  afterAll(() => service.close());

  it('leave the tiles as every row counts', { timeout: 600_000 }, async () => {
    const kpi = new KpiRows(service.rows, service.workspaceId);
    await kpi.setZone('Asia/Kathmandu');
    await service.client().post('/standing-orders', ALLOW);
    let [victim, other] = service.processes as [ServiceProcess, ServiceProcess];
    for (let kill = 0; kill < KILLS; kill++) {
      const successor = service.start();
      let acting = true;
      const acts = Array.from({ length: CLIENTS }, async (_, client) => {
        // What a killed process did not answer may or may not have been done.
        while (acting) await act(service, client % 3 === 0 ? other : victim).catch(() => undefined);
      });
      await pause(randomInt(100, 500));
      await victim.kill();
      acting = false;
      await Promise.all(acts);
      [victim, other] = [other, await successor];
    }
    const now = Date.now();
    const counted = () => new FullCount(service.rows, service.workspaceId, 'all').at(now);
    // Work goes on beside, so the two are read until nothing came between them.
    for (let tries = 0; ; tries++) {
      const before = await counted();
      const { status, body } = await service.client(victim).get('/kpi');
      const after = await counted();
      expect(status).toBe(200);
      if (JSON.stringify(before) !== JSON.stringify(after) && tries < 100) {
        await pause(200);
        continue;
      }
      expect(countedOf(body)).toEqual(after);
      expect(after.packetsExecuted.value).toBeGreaterThan(0);
      expect(after.revenueThisWeek.value).toBeGreaterThan(0);
      break;
    }
  });
});

async function act(service: Service, process: ServiceProcess): Promise<void> {
  const client = service.client(process);
  switch (randomInt(5)) {
    case 0:
      await client.post('/revenue-events', {
        amount: randomInt(1, 9_999) / 100,
        currency: 'USD',
        source: 'shop',
      });
      break;
    case 1:
      await client.post('/directives', { directive: MEMO, capo: 'capo_ops', requiresApproval: false });
      break;
    case 2:
      await client.post('/directive', { text: MEMO });
      break;
    case 3: {
      const { body } = await client.get('/approvals?limit=3');
      const [approval] = body.items;
      if (approval) await client.post(`/approvals/${approval.approvalId}/reject`, { feedback: 'No.' });
      break;
    }
    default:
      await client.post('/evals/run', {
        name: 'Of the test',
        targetEntityType: 'skill',
        targetEntityId: 'quote',
        definition: {},
      });
  }
}
