import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RevenueEvents } from '../../../src/features/revenue/revenue-events.repository.js';
import type { Actor } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Desk } from '../directives/desk.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const SALE = { amount: 1250.5, currency: 'EUR', source: 'stripe' };

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

describe('what the program records itself', () => {
  const CAPO: Actor = { type: 'capo', id: 'capo_revenue', name: 'Capo Revenue', via: 'policy' };

  it('is one event per work packet, with the capo on its receipt', async () => {
    const workPacketId = newId('pkt');
    const record = () =>
      test.app.get(Db).transaction({ workspaceId: test.workspaceId, teamIds: 'all' }, () =>
        test.app.get(RevenueEvents).record({
          ...SALE,
          teamId: null,
          description: null,
          externalId: null,
          workPacketId,
          recordedBy: CAPO,
        }),
      );
    const first = await record();
    const second = await record();
    expect(first.isNew).toBe(true);
    expect(second).toEqual({ event: first.event, isNew: false });
    const bodies = await test.rows<{ body: string }>('select body from receipts where entity_id = $1', [
      first.event.eventId,
    ]);
    expect(bodies.map(({ body }) => JSON.parse(body))).toMatchObject([{ capo: 'capo_revenue', actor: CAPO }]);
  });

  it('is the words of the team whose work packet it was: its event and receipt are seen by the team, its sum by all', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const [sales, press] = [
      await test.createTeam(workspaceId, 'Sales'),
      await test.createTeam(workspaceId, 'Press'),
    ];
    const record = (teamId: string | null, minutesAgo: number) =>
      test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, async () => {
        const occurredAt = test.clock.now() - minutesAgo * 60_000;
        const workPacketId = newId('pkt');
        const by = { externalId: null, workPacketId, recordedBy: CAPO };
        await test.app
          .get(RevenueEvents)
          .record({ ...SALE, currency: 'USD', teamId, description: null, occurredAt, ...by });
      });
    // One in the hour that the last 24 begin in, of which the events themselves are counted, and one now.
    for (const minutesAgo of [0, 24 * 60 - 1])
      for (const teamId of [null, sales]) await record(teamId, minutesAgo);
    const sum = (await owner.get('/metrics')).body.revenue.h24;
    expect(sum).toBe(4 * SALE.amount);
    for (const [teams, events, receipts] of [
      [[sales], 4, 2],
      [[press], 2, 0],
      [[], 2, 2],
    ] as const) {
      const member = await test.createMember(workspaceId, 'viewer', [...teams]);
      expect((await member.get('/revenue-events')).body.total).toBe(events);
      expect((await member.get('/audit-feed?action=revenue.recorded')).body.items).toHaveLength(receipts);
      expect((await member.get('/metrics')).body.revenue.h24).toBe(sum);
    }
  });

  it('is reported by an operator of the workspace who is in a team, too', async () => {
    const { workspaceId } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Sales');
    const seller = await test.createMember(workspaceId, 'operator', [teamId]);
    const answer = await seller.post('/revenue-events', {
      ...SALE,
      currency: 'USD',
      externalId: 'inv-18',
    });
    expect(answer.status, answer.text).toBe(201);
    expect((await seller.get('/metrics')).body.revenue.h24).toBe(SALE.amount);
  });

  it('is not in the way of a reported event whose external id is the id of a packet, nor the other way round', async () => {
    const desk = new Desk(test);
    const { directiveId, approvalId } = await desk.handInReady({
      text: 'Record 1,200 EUR from Acme.',
      capo: 'capo_revenue',
    });
    const [packet] = await desk.packets(directiveId);
    expect(packet.action.type).toBe('revenue.record');
    const report = () =>
      desk.client.post('/revenue-events', { ...SALE, amount: 7, externalId: packet.workPacketId });
    const reported = await report();
    expect(reported.status, reported.text).toBe(201);

    expect((await desk.approve(approvalId)).status).toBe(200);
    await desk.until(directiveId, 'executed');
    const events = await test.rows<{
      amount: string;
      external_id: string | null;
      work_packet_id: string | null;
    }>(
      `select amount, external_id, work_packet_id from revenue_events
       where $1 in (external_id, work_packet_id) order by amount`,
      [packet.workPacketId],
    );
    expect(events).toEqual([
      { amount: '7.0000', external_id: packet.workPacketId, work_packet_id: null },
      { amount: '1200.0000', external_id: null, work_packet_id: packet.workPacketId },
    ]);
    expect((await report()).body.eventId).toBe(reported.body.eventId);
  });
});
