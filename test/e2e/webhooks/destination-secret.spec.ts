import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import {
  CHOSEN_SECRET,
  faultPaths,
  GENERATED,
  PUBLIC_PLACE,
  SPELLINGS,
  WebhookDesk,
} from './webhook-desk.js';

const KEY = 'Idempotency-Key';
const DAY_MS = 24 * 3_600_000;

let test: TestApp;
let desk: WebhookDesk;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
beforeEach(async () => {
  desk = await WebhookDesk.in(test);
});
afterAll(() => test.close());

describe.each(SPELLINGS)('POST %s/{id}/rotate-secret', (path) => {
  it('200: shows a new secret once; the one before it signs for 24 hours more', async () => {
    const { destinationId, secret: old } = await desk.registerPartner();
    const before = await desk.row(destinationId);
    const began = Date.now();
    const answer = await desk.client.post(`${path}/${destinationId}/rotate-secret`);
    expect(answer.status, answer.text).toBe(200);
    const { secret, previousSecretUntil, ...view } = answer.body;
    expect(secret).toMatch(GENERATED);
    expect(secret).not.toBe(old);
    expect(view).toMatchObject({ destinationId, status: 'active' });
    expect(previousSecretUntil).toBeGreaterThanOrEqual(began + DAY_MS);
    expect(previousSecretUntil).toBeLessThanOrEqual(Date.now() + DAY_MS);
    const row = await desk.row(destinationId);
    expect(desk.opened(destinationId, row['sealed_secret'])).toBe(secret);
    expect(row).toMatchObject({
      previous_sealed_secret: before['sealed_secret'],
      previous_until: new Date(previousSecretUntil),
    });
    expect((await desk.receipts(destinationId)).at(-1)).toMatchObject({
      action: 'webhook.secret_rotated',
      details: { url: PUBLIC_PLACE, previousSecretUntil },
    });
    expect((await desk.client.get('/webhooks?limit=100')).text).not.toContain(secret);
    const kept = await desk.everythingKept();
    for (const each of [old, secret]) expect(kept).not.toContain(each);
  });

  it('200: takes a secret that the customer chose, and does not show it', async () => {
    const destinationId = await desk.register();
    const chosen = 'another pass phrase';
    const answer = await desk.client.post(`${path}/${destinationId}/rotate-secret`, { secret: chosen });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.secret).toBeNull();
    const row = await desk.row(destinationId);
    expect(desk.opened(destinationId, row['sealed_secret'])).toBe(chosen);
    expect(desk.opened(destinationId, row['previous_sealed_secret'])).toBe(CHOSEN_SECRET);
    expect(answer.text + (await desk.everythingKept())).not.toContain(chosen);
  });

  it('200: shows the same secret again under the same key, and rotates once', async () => {
    const { destinationId } = await desk.registerPartner();
    const headers = { [KEY]: newId('req') };
    const first = await desk.client.post(`${path}/${destinationId}/rotate-secret`, undefined, headers);
    const again = await desk.client.post(`${path}/${destinationId}/rotate-secret`, undefined, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const actions = (await desk.receipts(destinationId)).map(({ action }) => action);
    expect(actions).toEqual(['webhook.created', 'webhook.secret_rotated']);
    expect(await desk.everythingKept()).not.toContain(first.body.secret);
  });

  it('200: rotates a paused one, and of two rotations at once keeps both new secrets', async () => {
    const { destinationId } = await desk.registerPartner();
    await desk.becomes(destinationId, 'paused');
    const answers = await Promise.all([
      desk.client.post(`${path}/${destinationId}/rotate-secret`),
      desk.client.post(`${path}/${destinationId}/rotate-secret`),
    ]);
    const row = await desk.row(destinationId);
    const inForce = [row['sealed_secret'], row['previous_sealed_secret']];
    expect(inForce.map((sealed) => desk.opened(destinationId, sealed)).toSorted()).toEqual(
      answers.map(({ body }) => body.secret).toSorted(),
    );
  });

  it('409: leaves one that is gone as it is', async () => {
    const destinationId = await desk.register();
    await desk.becomes(destinationId, 'gone');
    const before = await desk.row(destinationId);
    const { status, body } = await desk.client.post(`${path}/${destinationId}/rotate-secret`);
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    expect(await desk.row(destinationId)).toEqual(before);
  });

  it.each([
    ['too short', 'x'.repeat(15)],
    ['too long', 'x'.repeat(257)],
    ['null', null],
    ['loose base64', 'whsec_correct horse battery'],
    ['the one in force', CHOSEN_SECRET],
  ])('422: refuses a secret that is %s, and changes nothing', async (_case, secret) => {
    const destinationId = await desk.register();
    const before = [await desk.row(destinationId), await desk.receiptCount()];
    const answer = await desk.client.post(`${path}/${destinationId}/rotate-secret`, { secret });
    expect(answer.status, answer.text).toBe(422);
    expect(faultPaths(answer.body)).toEqual(['secret']);
    expect([await desk.row(destinationId), await desk.receiptCount()]).toEqual(before);
  });
});
