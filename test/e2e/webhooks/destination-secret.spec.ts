import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormerSecret } from '../../../src/features/webhooks/destination.entity.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { CHOSEN_SECRET, faultPaths, GENERATED, SPELLINGS, WebhookDesk } from './webhook-desk.js';

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

/** The secrets that were rotated out, the newest first. */
function formerSecrets(row: Record<string, unknown>): string[] {
  return (row['former_secrets'] as FormerSecret[]).map(({ sealed }) =>
    desk.opened(row['destination_id'] as string, sealed),
  );
}

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
    expect(row['former_secrets']).toEqual([{ sealed: before['sealed_secret'], until: previousSecretUntil }]);
    expect((await desk.receipts(destinationId)).at(-1)).toMatchObject({
      action: 'webhook.secret_rotated',
      details: { previousSecretUntil },
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
    expect(formerSecrets(row)).toEqual([CHOSEN_SECRET]);
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
    const { destinationId, secret } = await desk.registerPartner();
    await desk.becomes(destinationId, 'paused');
    const answers = await Promise.all([
      desk.client.post(`${path}/${destinationId}/rotate-secret`),
      desk.client.post(`${path}/${destinationId}/rotate-secret`),
    ]);
    const row = await desk.row(destinationId);
    const [former, first] = formerSecrets(row);
    const current = desk.opened(destinationId, row['sealed_secret']);
    expect([current, former].toSorted()).toEqual(answers.map(({ body }) => body.secret).toSorted());
    expect(first).toBe(secret);
  });

  it('200: keeps each former secret until its own 24 hours end, and lets go of those that are over', async () => {
    const { destinationId, secret } = await desk.registerPartner();
    const rotate = async () => (await desk.client.post(`${path}/${destinationId}/rotate-secret`)).body;
    const [first, second] = [await rotate(), await rotate()];
    const row = await desk.row(destinationId);
    expect(formerSecrets(row)).toEqual([first.secret, secret]);
    expect((row['former_secrets'] as FormerSecret[]).map(({ until }) => until)).toEqual([
      second.previousSecretUntil,
      first.previousSecretUntil,
    ]);
    await test.rows(
      `update webhook_destinations set former_secrets = jsonb_set(former_secrets, '{1,until}', '1') where destination_id = $1`,
      [destinationId],
    );
    await rotate();
    expect(formerSecrets(await desk.row(destinationId))).toEqual([second.secret, first.secret]);
  });

  it('200: replaces a secret that cannot be opened, which signs nothing any more', async () => {
    const destinationId = await desk.register();
    await test.rows(
      `update webhook_destinations set sealed_secret = 'v1.AAAA.AAAA', fault = 'secret' where destination_id = $1`,
      [destinationId],
    );
    const answer = await desk.client.post(`${path}/${destinationId}/rotate-secret`, {
      secret: CHOSEN_SECRET,
    });
    expect(answer.status, answer.text).toBe(200);
    const row = await desk.row(destinationId);
    expect(row).toMatchObject({ former_secrets: [], fault: null });
    expect(desk.opened(destinationId, row['sealed_secret'])).toBe(CHOSEN_SECRET);
  });

  it('409: refuses a sixth rotation within 24 hours, says when the next one can be, and changes nothing', async () => {
    const destinationId = await desk.register();
    const rotate = () => desk.client.post(`${path}/${destinationId}/rotate-secret`);
    const { previousSecretUntil } = (await rotate()).body;
    for (let count = 2; count <= 5; count++) expect((await rotate()).status).toBe(200);
    const before = [await desk.row(destinationId), await desk.receiptCount()];
    const { status, body } = await rotate();
    expect([status, body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
    expect(body.error.message).toContain(new Date(previousSecretUntil).toISOString());
    expect([await desk.row(destinationId), await desk.receiptCount()]).toEqual(before);
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
