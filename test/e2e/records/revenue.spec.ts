import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BriefingReader } from '../../../src/features/capos/briefing.reader.js';
import { RevenueEvents } from '../../../src/features/records/revenue-events.repository.js';
import type { Actor } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Desk } from '../directives/desk.js';
import type { Client } from '../../support/client.js';
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

  it('is seen by its team alone, in the list and in every sum', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const [red, blue] = [
      await test.createTeam(workspaceId, 'Red'),
      await test.createTeam(workspaceId, 'Blue'),
    ];
    const record = (amount: number, teamId: string | null, minutesAgo: number) =>
      test.app.get(Db).transaction({ workspaceId, teamIds: 'all' }, () => {
        const occurredAt = test.clock.now() - minutesAgo * 60_000;
        const by = { externalId: null, workPacketId: newId('pkt'), recordedBy: CAPO };
        const event = { ...SALE, amount, currency: 'USD', teamId, description: null, occurredAt, ...by };
        return test.app.get(RevenueEvents).record(event);
      });
    // One in the hour that the last 24 begin in, of which the events themselves are summed, and one now.
    for (const minutesAgo of [0, 24 * 60 - 1]) {
      await record(1, null, minutesAgo);
      await record(10, red, minutesAgo);
      await record(100, blue, minutesAgo);
    }
    const readers = [
      ['owner', owner, 6, 222],
      ['Red', await test.createMember(workspaceId, 'viewer', [red]), 2, 20],
      ['Blue', await test.createMember(workspaceId, 'operator', [blue]), 2, 200],
      ['both', await test.createMember(workspaceId, 'viewer', [red, blue]), 4, 220],
      ['none', await test.createMember(workspaceId, 'viewer'), 2, 2],
    ] as const;
    const seen = async (reader: Pick<Client, 'get' | 'post'>) => ({
      events: (await reader.get('/revenue-events')).body.total,
      metrics: (await reader.get('/metrics')).body.revenue.h24,
      context: (await reader.get('/context')).body.metrics.revenue24h,
    });
    const all = async () => {
      for (const [who, reader, events, sum] of readers)
        expect([who, await seen(reader)]).toEqual([who, { events, metrics: sum, context: sum }]);
    };
    await all();
    // The same once what was added has been summed up, and once everything has been counted anew.
    await test.rows('select app.fold_tallies(10000)');
    await all();
    await test.rows('select app.recount_tallies()');
    await all();
    const { body } = await readers[2][1].post('/api/local/hydrate', { deviceId: 'laptop' });
    expect(body.context.metrics.revenue24h).toBe(200);
  });

  it('is in no figure that the draft of another team is told', async () => {
    const { workspaceId } = await test.createWorkspace();
    const [red, blue] = [
      await test.createTeam(workspaceId, 'Red'),
      await test.createTeam(workspaceId, 'Blue'),
    ];
    const sellers = [
      await test.createMember(workspaceId, 'operator', [red]),
      await test.createMember(workspaceId, 'operator', [blue]),
    ];
    for (const [index, seller] of sellers.entries()) {
      const sale = { ...SALE, amount: 10 ** (index + 1), currency: 'USD' };
      expect((await seller.post('/revenue-events', sale)).status).toBe(201);
    }
    const told = async (teamId: string | null) => {
      const directive = { text: 'Report revenue of this week.', capo: 'capo_ops', teamId, context: {} };
      const by = { directiveId: newId('dir'), priority: 'normal', deadline: null, feedback: [] };
      const briefing = await test.app
        .get(BriefingReader)
        .read({ workspaceId, teamIds: 'all' }, { ...directive, ...by, createdBy: CAPO } as never);
      const days = briefing.figures!.days.map(({ revenue }) => revenue);
      return [briefing.metrics.revenue24h, days];
    };
    expect(await told(red)).toEqual([10, [{ USD: 10 }]]);
    expect(await told(blue)).toEqual([100, [{ USD: 100 }]]);
    expect(await told(null)).toEqual([0, []]);
  });

  it('is reported for the team of its reporter, or one that is named', async () => {
    const { workspaceId, owner } = await test.createWorkspace();
    const teamId = await test.createTeam(workspaceId, 'Sales');
    const other = await test.createTeam(workspaceId, 'Press');
    const seller = await test.createMember(workspaceId, 'operator', [teamId]);
    const both = await test.createMember(workspaceId, 'operator', [teamId, other]);
    const sale = { ...SALE, currency: 'USD' };
    const reported = async (by: Pick<Client, 'post'>, change: object = {}) => {
      const { status, body } = await by.post('/revenue-events', { ...sale, ...change });
      return [status, body.teamId];
    };
    expect(await reported(seller)).toEqual([201, teamId]);
    expect(await reported(owner)).toEqual([201, null]);
    expect(await reported(owner, { teamId })).toEqual([201, teamId]);
    expect(await reported(both, { teamId: other })).toEqual([201, other]);
    expect((await reported(both))[0]).toBe(422);
    expect((await reported(seller, { teamId: other }))[0]).toBe(404);
    expect((await seller.get('/metrics')).body.revenue.h24).toBe(2 * SALE.amount);
    // One name of an event is one event of the workspace, and nothing is said of another team's.
    const externalId = 'inv-18';
    expect(await reported(both, { teamId: other, externalId })).toEqual([201, other]);
    const again = await seller.post('/revenue-events', { ...sale, externalId });
    expect([again.status, again.body.error.details]).toEqual([409, { externalId }]);
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
