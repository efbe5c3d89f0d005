import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { causeEvent, deliveriesOf, register } from '../webhooks/delivery-desk.js';
import { EscalationDesk } from './escalation-desk.js';

/** What a person is asked about a destination that stopped receiving. */
let test: TestApp;
let receiver: EventReceiver;
let desk: EscalationDesk;
let isHealthy = false;
beforeAll(async () => {
  receiver = await startEventReceiver((_, response) => response.writeHead(isHealthy ? 200 : 500).end());
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  desk = new EscalationDesk(test);
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});
beforeEach(() => {
  isHealthy = false;
});

let paths = 0;

/** A destination that is paused because twenty deliveries in a row failed. */
async function paused() {
  const url = new URL(`/${++paths}`, receiver.url).href;
  const destinationId = await register(test, url, { events: ['revenue.recorded'] });
  await test.rows(`update webhook_destinations set consecutive_failures = 19 where destination_id = $1`, [
    destinationId,
  ]);
  await causeEvent(test);
  await eventually(
    async () => {
      await test.rows(
        `update work_items set due_at = now() where queue = $1 and not claimed and due_at > now()`,
        [destinationId],
      );
      return statusOf(destinationId);
    },
    (status) => status === 'paused',
  );
  return { destinationId, escalation: await desk.opened(destinationId, 'connector_red') };
}

const statusOf = async (destinationId: string) =>
  (
    await test.rows<{ status: string }>(`select status from webhook_destinations where destination_id = $1`, [
      destinationId,
    ])
  )[0]!.status;

describe('a destination that is paused because it failed', () => {
  it('is escalated to the workspace, once', async () => {
    const { destinationId, escalation } = await paused();
    expect(await desk.escalation(escalation.id)).toMatchObject({
      kind: 'connector_red',
      entity: { type: 'webhook_destination', id: destinationId },
      teamId: null,
      reason: expect.stringContaining('20 deliveries in a row'),
      options: ['resume', 'dismiss'],
    });
    expect(await desk.about(destinationId)).toHaveLength(1);
  });

  it('is resumed by an admin', async () => {
    const { destinationId, escalation } = await paused();
    const operator = await desk.member('operator');
    expect((await operator.decide(escalation.id, 'resume')).status).toBe(403);
    expect(await statusOf(destinationId)).toBe('paused');
    isHealthy = true;
    const admin = await desk.member('admin');
    const decided = await admin.decided(escalation.id, 'resume');
    expect(decided).toMatchObject({ status: 'resolved', decision: 'resume' });
    expect(await statusOf(destinationId)).toBe('active');
    expect(await desk.actionsAbout(destinationId)).toEqual(['webhook.paused', 'webhook.resumed']);
    expect(await desk.actionsAbout(escalation.id)).toEqual(['escalation.opened', 'escalation.decided']);
    await causeEvent(test);
    await eventually(
      () => deliveriesOf(test, destinationId),
      (rows) => rows.some(({ status }) => status === 'delivered'),
    );
  });

  it.each([
    ['resumed at its own route', (id: string, by: Client) => by.post(`/webhooks/${id}/resume`)],
    ['deleted', (id: string, by: Client) => by.delete(`/webhooks/${id}`)],
  ])('is resolved by itself once it is %s', async (_what, act) => {
    const { destinationId, escalation } = await paused();
    expect((await act(destinationId, new Client(test.url, test.owner.token))).status).toBe(200);
    expect(await desk.escalation(escalation.id)).toMatchObject({
      status: 'resolved',
      decision: null,
      decidedBy: { type: 'system' },
    });
    expect((await desk.decide(escalation.id, 'resume')).status).toBe(409);
  });

  it('is resolved by itself once a probe arrives', async () => {
    const { destinationId, escalation } = await paused();
    isHealthy = true;
    await causeEvent(test);
    await test.rows(`update work_breakers set opens_at = now() where queue = $1`, [destinationId]);
    await eventually(
      () => desk.escalation(escalation.id),
      ({ status }) => status === 'resolved',
    );
    expect(await statusOf(destinationId)).toBe('active');
  });

  it('stays paused when it is dismissed', async () => {
    const { destinationId, escalation } = await paused();
    await desk.decided(escalation.id, 'dismiss');
    expect(await statusOf(destinationId)).toBe('paused');
  });
});
