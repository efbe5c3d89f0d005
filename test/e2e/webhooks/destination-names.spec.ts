import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import { Client } from '../../support/client.js';
import { type EventReceiver, startEventReceiver } from '../../support/event-receiver.js';
import { draftPacket, ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { Desk } from '../directives/desk.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { causeEvent, deliveriesOf, notifyWorkers } from './delivery-desk.js';

/** Of a destination only its name is for everybody: its host may be the secret of the receiver. */
let test: TestApp;
let receiver: EventReceiver;
let runner: ScriptedRunner;
let members: Record<Exclude<Role, 'owner'>, TestMember>;
let answered: number;

beforeAll(async () => {
  receiver = await startEventReceiver((_, response) => response.writeHead(answered).end());
  test = await startTestApp({ OUTBOUND_ALLOW: receiver.hostPort });
  runner = new ScriptedRunner(test);
  const member = (role: Role) => test.createMember(test.workspaceId, role);
  members = {
    viewer: await member('viewer'),
    operator: await member('operator'),
    admin: await member('admin'),
  };
});
afterAll(async () => {
  await test.close();
  await receiver.close();
});
beforeEach(() => {
  answered = 200;
});

/** The same member from another address, so that no limit of a route is met. */
const as = (role: keyof typeof members) => new Client(test.url, members[role].token);

const EVENTS = { events: ['revenue.recorded'] };
let addresses = 0;
const address = () => `${receiver.url}/${++addresses}?key=topsecret`;

async function described(description: string): Promise<string> {
  const answer = await as('admin').post('/partner/webhooks', { description, url: address(), ...EVENTS });
  expect(answer.status, answer.text).toBe(201);
  return answer.body.destinationId;
}

async function undescribed(): Promise<string> {
  const body = { url: address(), secret: 'a secret of Acme 2026', ...EVENTS };
  const answer = await as('admin').post('/webhooks', body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body.destinationId;
}

async function changed(method: 'POST' | 'DELETE', path: string): Promise<void> {
  const answer = await as('admin').send(method, path);
  expect(answer.status, answer.text).toBeLessThan(300);
}

const stateOf = async (destinationId: string) => {
  const [row] = await test.rows<{ status: string; fault: string | null }>(
    'select status, fault from webhook_destinations where destination_id = $1',
    [destinationId],
  );
  return row!;
};

/** Lets the waits of its deliveries pass. */
async function hurry(destinationId: string): Promise<void> {
  await test.rows(
    `update work_items set due_at = now() where queue = $1 and not claimed and due_at > now()`,
    [destinationId],
  );
  await test.rows('update work_breakers set opens_at = now() where queue = $1', [destinationId]);
  notifyWorkers(test, destinationId);
}

/** Its deliveries are attempted at once, until the destination is so. */
async function attemptedUntil(
  destinationId: string,
  is: (state: { status: string; fault: string | null }) => boolean,
): Promise<void> {
  await causeEvent(test);
  await eventually(
    async () => {
      await hurry(destinationId);
      return stateOf(destinationId);
    },
    is,
    20,
  );
}

async function paused(destinationId: string): Promise<void> {
  await arrived(destinationId);
  answered = 500;
  await test.rows('update webhook_destinations set consecutive_failures = 19 where destination_id = $1', [
    destinationId,
  ]);
  await attemptedUntil(destinationId, (state) => state.status === 'paused');
  answered = 200;
}

/** Everything that waited has been delivered; answers the first delivery. */
async function arrived(destinationId: string): Promise<string | undefined> {
  const rows = await eventually(
    async () => {
      await hurry(destinationId);
      return deliveriesOf(test, destinationId);
    },
    (all) => all.every((row) => row.status === 'delivered' || row.status === 'dead'),
    20,
  );
  return rows[0]?.delivery_id;
}

/** All that can befall a destination. */
async function lived(destinationId: string): Promise<void> {
  await changed('POST', `/webhooks/${destinationId}/test`);
  const deliveryId = await arrived(destinationId);
  await changed('POST', `/deliveries/${deliveryId}/redeliver`);
  await changed('POST', `/webhooks/${destinationId}/rotate-secret`);

  await paused(destinationId);
  const people = new EscalationDesk(test).as(as('admin'));
  const { id } = await people.opened(destinationId, 'connector_red');
  await people.decided(id, 'resume');
  await paused(destinationId);
  await attemptedUntil(destinationId, (state) => state.status === 'active');
  await paused(destinationId);
  await changed('POST', `/webhooks/${destinationId}/resume`);

  const [row] = await test.rows<{ sealed_secret: string }>(
    `update webhook_destinations d set sealed_secret = 'v1.AAAA.AAAA', former_secrets = '[]'
     from webhook_destinations old where d.destination_id = $1 and old.destination_id = $1 returning old.sealed_secret`,
    [destinationId],
  );
  await attemptedUntil(destinationId, ({ fault }) => fault === 'secret');
  await test.rows('update webhook_destinations set sealed_secret = $2 where destination_id = $1', [
    destinationId,
    row!.sealed_secret,
  ]);
  answered = 410;
  await attemptedUntil(destinationId, (state) => state.status === 'gone');
  answered = 200;
}

/** The summaries of the receipts about a destination and its deliveries, without who acted. */
async function summaries(destinationId: string): Promise<string[]> {
  const rows = await test.rows<{ summary: string }>(
    `select body::jsonb->>'summary' as summary from receipts
     where entity_id = $1 or entity_id in (select delivery_id from webhook_deliveries where destination_id = $1)
     order by seq`,
    [destinationId],
  );
  return [...new Set(rows.map(({ summary }) => summary.replace(/^admin \S+ /, 'An admin ')))];
}

describe('what becomes of a destination', () => {
  it.each([
    ['its description', () => described('ERP of Acme'), () => '"ERP of Acme"'],
    ['its id where it has none', undescribed, (id: string) => id],
  ])('is told with %s', { timeout: 60_000 }, async (_what, register, nameOf) => {
    const destinationId = await register();
    await lived(destinationId);
    await changed('DELETE', `/webhooks/${destinationId}`);
    const name = `the webhook destination ${nameOf(destinationId)}`;
    const beginning = name.replace('the', 'The');
    expect((await summaries(destinationId)).toSorted()).toEqual(
      [
        `An admin registered ${name} for events.`,
        `An admin sent a test to ${name}.`,
        `An admin had webhook.test delivered to ${name} again.`,
        `An admin rotated the secret of ${name}.`,
        `${beginning} is paused: 20 deliveries in a row failed at every try.`,
        `An admin resumed ${name}.`,
        `${beginning} receives events again.`,
        `The event revenue.recorded was not received by ${name} at any attempt. An admin can send it again.`,
        `The event revenue.recorded could not be sent to ${name}. The secret that signs them cannot be opened with the SECRETS_KEY of this service.`,
        `${beginning} answered 410 (Gone): no more events are sent to it.`,
        `An admin deleted ${name}.`,
      ].toSorted(),
    );
    const signals = await test.rows<{ title: string }>(
      `select distinct title from signals where entity->>'id' = $1`,
      [destinationId],
    );
    expect(signals.map(({ title }) => title).toSorted()).toEqual(
      [
        `Events for ${name} cannot be sent.`,
        `${beginning} answered 410 (Gone): no more events are sent to it.`,
        `${beginning} is paused: 20 deliveries in a row failed at every try.`,
      ].toSorted(),
    );
    const escalations = await test.rows<{ outcome: string }>(
      'select outcome from escalations where entity_id = $1 order by created_at, escalation_id',
      [destinationId],
    );
    expect(escalations.map(({ outcome }) => outcome.replace(/^admin \S+ /, 'An admin '))).toEqual([
      `An admin resumed ${name}.`,
      `${beginning} receives events again.`,
      `An admin resumed ${name}.`,
    ]);
  });

  it('is told in whole sentences, however long the description is', { timeout: 60_000 }, async () => {
    const destinationId = await described('🎩'.repeat(200));
    await paused(destinationId);
    const [signal] = await test.rows<{ title: string }>(
      `select title from signals where entity->>'id' = $1`,
      [destinationId],
    );
    expect(signal!.title).toMatch(/^The webhook destination "🎩{40,}…" is paused: .* at every try\.$/u);
  });
});

describe('a post to a destination', () => {
  it('shows its address to whoever may decide, and to viewers its name', { timeout: 60_000 }, async () => {
    const named = await described('CRM of Acme');
    const unnamed = await undescribed();
    const text = 'Post the new orders';
    const packets = [named, unnamed].map((destinationId) =>
      draftPacket({ type: 'webhook.post', params: { destinationId, data: { order: 42 } } }),
    );
    runner.answer(text, { packets });
    const { approvalId, approval, directiveId } = await new Desk(test, members.operator.token).handInReady({
      text,
      capo: 'capo_ops',
    });
    const [first, second] = approval.packets;
    expect(first.action).toEqual({
      type: 'webhook.post',
      target: 'CRM of Acme',
      params: {
        destinationId: named,
        destination: expect.stringMatching(/^CRM of Acme \(http:\/\/[^?]+\?[0-9a-f]{8}\)$/),
        data: { order: 42 },
      },
    });
    expect(first.action.params.destination).toContain(receiver.hostPort);
    expect(second.action.target).toBe(`Webhook destination ${unnamed}`);
    expect(second.action.params.destination).toContain(receiver.hostPort);
    const shown = (await as('viewer').get(`/approvals/${approvalId}`)).body;
    expect(shown.contentHash).toBe(approval.contentHash);
    expect(shown.packets.map((packet: typeof first) => packet.action.params.destination)).toEqual([
      'CRM of Acme',
      `Webhook destination ${unnamed}`,
    ]);
    expect(shown.summary).toBe(
      `An event for the webhook destination "CRM of Acme". An event for the webhook destination ${unnamed}.`,
    );

    // Whoever edits a parameter leaves what only we write, which is nobody's earlier text.
    const edit = { workPacketId: first.workPacketId, params: { destinationId: named, data: { order: 43 } } };
    const desk = new Desk(test, members.operator.token);
    const edited = await desk.edit(approvalId, { packets: [edit] }, approval.contentHash);
    expect(edited.status, edited.text).toBe(200);
    expect((await desk.approve(approvalId)).status).toBe(200);
    await desk.until(directiveId, 'executed', 20);
    const packet = async (role: 'viewer' | 'operator') =>
      (await as(role).get(`/work-packets/${first.workPacketId}`)).body.action;
    expect((await packet('operator')).params.destination).toContain(receiver.hostPort);
    expect((await packet('viewer')).params).toEqual({
      destinationId: named,
      destination: 'CRM of Acme',
      data: { order: 43 },
    });
  });
});

const RECORDS: Readonly<Record<string, string>> = {
  apr: '/approvals',
  pkt: '/work-packets',
  dir: '/directives',
  sig: '/signals',
  esc: '/escalations',
  evl: '/evals',
};

/** What a viewer is answered at every route that lists something, and the single records behind the lists. */
async function readByViewer(): Promise<Map<string, string>> {
  const { body } = await as('viewer').get('/openapi.json');
  const lists = Object.entries<Record<string, unknown>>(body.paths)
    .filter(([path, methods]) => 'get' in methods && !path.includes('{') && !path.endsWith('/stream'))
    .map(([path]) => path);
  const read = new Map<string, string>();
  const readAt = async (path: string) => {
    const answer = await as('viewer').get(path);
    if (answer.status === 200) read.set(path, answer.text);
  };
  for (const path of [...lists, '/audit-feed?format=jsonl', '/audit-feed?format=csv']) await readAt(path);
  for (const status of ['approved', 'rejected', 'pending']) await readAt(`/approvals?status=${status}`);
  const ids = new Set(
    [...read.values()].join('\n').match(/\b(?:apr|pkt|dir|sig|esc|evl|con)_[0-9a-z]{26}\b/g),
  );
  for (const id of ids) {
    const [prefix = ''] = id.split('_');
    await readAt(prefix === 'con' ? `/connectors/${id}/checks` : `${RECORDS[prefix]}/${id}`);
  }
  return read;
}

describe('whoever may only read', () => {
  it('finds no host of a destination anywhere', { timeout: 120_000 }, async () => {
    const destinationId = await described('Shop of Acme');
    await lived(destinationId);
    const read = await readByViewer();
    const paths = [...read.keys()];
    for (const path of [
      'signals',
      'escalations',
      'audit-feed',
      'feed',
      'context',
      'connectors',
      'work-packets',
    ])
      expect(paths).toContain(`/api/pro/${path}`);
    for (const record of [...Object.values(RECORDS).filter((path) => path !== '/evals'), '/connectors'])
      expect(
        paths.some((path) => path.startsWith(`${record}/`)),
        record,
      ).toBe(true);
    expect([...read.values()].join('\n')).toContain('Shop of Acme');
    const found = [...read].filter(([, text]) => text.includes(receiver.hostPort)).map(([path]) => path);
    expect(found).toEqual([]);
    expect((await as('viewer').get('/webhooks')).status).toBe(403);
    expect((await as('operator').get('/webhooks')).status).toBe(403);
    expect((await as('admin').get('/webhooks')).text).toContain(receiver.hostPort);
  });
});
