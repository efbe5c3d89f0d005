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
