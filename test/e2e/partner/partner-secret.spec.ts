import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import type { AdminClient } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { PartnerDesk } from './partner-desk.js';

const DAY_MS = 24 * 3_600_000;

let test: TestApp;
let workspaceId: string;
let admin: AdminClient;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
});
beforeEach(async () => {
  ({ workspaceId } = await test.createWorkspace());
  admin = await as('admin');
});
afterAll(() => test.close());

const as = async (role: Role): Promise<AdminClient> =>
  test.signIn((await test.createMember(workspaceId, role)).memberId);

const rotate = async (headers: Record<string, string> = {}) =>
  admin.post('/partner-secret/rotate', undefined, headers);

/** The partner, who signs with this secret. */
const partner = (secret: string) => new PartnerDesk(test.url, workspaceId, secret);

const statusOf = async (secret: string) => {
  const desk = partner(secret);
  return (await desk.send(desk.update())).status;
};

const receipts = async () =>
  (
    await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and entity_type = 'partner_secret' order by seq`,
      [workspaceId],
    )
  ).map(({ body }) => JSON.parse(body) as { action: string; actor: object; details: object });

describe('GET /api/admin/partner-secret 200', () => {
  it('shows the secret that is in force, with a receipt each time that says who looked', async () => {
    const { secret } = (await rotate()).body;
    for (let n = 0; n < 2; n++) {
      const answer = await admin.get('/partner-secret', { 'Idempotency-Key': 'look' });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.body).toEqual({ secret, setAt: expect.any(Number), previousUntil: null });
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    expect(await statusOf(secret)).toBe(202);
    const kept = await receipts();
    expect(kept.map(({ action }) => action)).toEqual([
      'partner_secret.created',
      'partner_secret.shown',
      'partner_secret.shown',
    ]);
    expect(kept[1]).toMatchObject({ actor: { type: 'member', via: 'dashboard' }, details: {} });
    expect(JSON.stringify([kept, test.logs])).not.toContain(secret);
  });

  it('says until when the one before is accepted, and no longer than it is', async () => {
    await rotate();
    const { setAt, previousUntil } = (await rotate()).body;
    expect(previousUntil).toBe(setAt + DAY_MS);
    expect((await admin.get('/partner-secret')).body).toMatchObject({ setAt, previousUntil });
    const later = await as('admin');
    await test.rows(
      `update partner_secrets set previous_until = now() - interval '1 second' where workspace_id = $1`,
      [workspaceId],
    );
    expect((await later.get('/partner-secret')).body.previousUntil).toBeNull();
  });
});

describe('GET /api/admin/partner-secret 403', () => {
  it('is for viewer and operator, and leaves no receipt', async () => {
    await rotate();
    for (const role of ['viewer', 'operator'] as const) {
      expect((await (await as(role)).get('/partner-secret')).status).toBe(403);
    }
    expect(await receipts()).toHaveLength(1);
  });
});

describe('GET /api/admin/partner-secret 404', () => {
  it('says that there is none yet, and how to make one', async () => {
    const answer = await admin.get('/partner-secret');
    expect(answer.status).toBe(404);
    expect(answer.body.error.message).toBe(
      'This workspace has no partner secret yet; rotate it to make one.',
    );
    expect(await receipts()).toEqual([]);
  });
});

describe('GET /api/admin/partner-secret 409', () => {
  it('says of a secret that cannot be decrypted what to do; a rotation mends it', async () => {
    await rotate();
    await test.rows(`update partner_secrets set sealed_secret = 'v1.x.y' where workspace_id = $1`, [
      workspaceId,
    ]);
    const answer = await admin.get('/partner-secret');
    expect(answer.status).toBe(409);
    expect(answer.body.error.message).toContain('SECRETS_KEY');
    const { secret } = (await rotate()).body;
    expect((await admin.get('/partner-secret')).body.secret).toBe(secret);
    expect(await statusOf(secret)).toBe(202);
  });
});

describe('POST /api/admin/partner-secret/rotate 200', () => {
  it('makes another secret, and the one before it is accepted as well', async () => {
    const first = (await rotate()).body;
    const second = (await rotate()).body;
    expect(first).toEqual({
      secret: expect.stringMatching(/^[\w-]{43}$/),
      setAt: expect.any(Number),
      previousUntil: null,
    });
    expect(second.secret).not.toBe(first.secret);
    expect([await statusOf(first.secret), await statusOf(second.secret)]).toEqual([202, 202]);
    expect((await receipts()).map(({ action }) => action)).toEqual([
      'partner_secret.created',
      'partner_secret.rotated',
    ]);
  });

  it('rotates once when it is sent again under its key, so that the partner keeps a secret that is accepted', async () => {
    const first = (await rotate()).body.secret;
    const key = { 'Idempotency-Key': 'rotate' };
    const [one, two] = [await rotate(key), await rotate(key)];
    expect(two.text).toBe(one.text);
    expect(two.headers.get('idempotent-replayed')).toBe('true');
    expect(await statusOf(first)).toBe(202);
    const [stored] = await test.rows<{ body: string }>(
      'select body from idempotency_keys where workspace_id = $1',
      [workspaceId],
    );
    expect(stored!.body).not.toContain(one.body.secret);
  });

  it('makes one after the other when two ask at the same moment: what is in force is one of them', async () => {
    const answers = await Promise.all([rotate(), rotate()]);
    const secrets = answers.map(({ body }) => body.secret);
    expect(secrets).toContain((await admin.get('/partner-secret')).body.secret);
    for (const secret of secrets) expect(await statusOf(secret)).toBe(202);
  });
});

describe('POST /api/admin/partner-secret/rotate 403', () => {
  it('is for viewer and operator, and changes nothing', async () => {
    const { secret } = (await rotate()).body;
    for (const role of ['viewer', 'operator'] as const) {
      expect((await (await as(role)).post('/partner-secret/rotate')).status).toBe(403);
    }
    expect((await admin.get('/partner-secret')).body.secret).toBe(secret);
  });
});
