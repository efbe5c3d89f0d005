import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplication } from '../../../src/application.js';
import { loadConfig } from '../../../src/platform/config/config.js';
import { publicKeyOf, signLicence } from '../../../src/features/subscription/licence.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp } from '../../support/test-app.js';
import { DAY, LicenceDesk, newIssuer } from './licence-desk.js';

let desk: LicenceDesk;
beforeAll(async () => {
  desk = await LicenceDesk.open();
});
afterAll(() => desk.test.close());

describe('POST /subscription/verify 200 without a key', () => {
  it('says that no licence is installed, and changes nothing', async () => {
    const { workspaceId } = await desk.workspace('pro');
    const viewer = await desk.test.createMember(workspaceId, 'viewer');
    const before = await desk.stored(workspaceId);
    const { status, body } = await desk.verify(viewer);
    expect(status).toBe(200);
    expect(body).toEqual({
      valid: false,
      tier: 'pro',
      status: 'none',
      entitlements: [],
      expiresAt: null,
      graceUntil: null,
      limits: { requestsPerMinute: 120, requestsPerDay: 10_000 },
      reason: 'no_licence',
      message: 'No licence is installed; the workspace has the tier that it was set up with.',
    });
    expect(await desk.stored(workspaceId)).toBe(before);
  });

  it('checks the installed one again, for any member', async () => {
    const { workspaceId, owner } = await desk.workspace('pro');
    const licence = desk.licence(workspaceId, { entitlements: ['skill-packs', 'sso'] });
    const installed = await desk.verify(owner, signLicence(licence, desk.issuer));
    const viewer = await desk.test.createMember(workspaceId, 'viewer');
    const before = await desk.stored(workspaceId);
    const { body } = await desk.verify(viewer);
    expect(body).toEqual({
      valid: true,
      tier: 'enterprise',
      status: 'active',
      entitlements: ['skill-packs', 'sso'],
      expiresAt: licence.expiresAt,
      graceUntil: licence.expiresAt + 14 * DAY,
      limits: { requestsPerMinute: null, requestsPerDay: null },
      reason: null,
      message: expect.stringMatching(/^The licence is valid until \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/),
    });
    expect(body).toEqual(installed.body);
    expect(await desk.stored(workspaceId)).toBe(before);
  });

  it('notices an installed licence that was changed in the database', async () => {
    const { workspaceId, owner } = await desk.workspace();
    await desk.verify(owner, desk.issue(workspaceId));
    await desk.test.rows(
      `update licences set licence_key = overlay(licence_key placing 'A' from 40 for 1) where workspace_id = $1`,
      [workspaceId],
    );
    const { body } = await desk.verify(owner);
    expect(body.valid).toBe(false);
    expect(['malformed', 'bad_signature', 'unsupported_algorithm']).toContain(body.reason);
  });
});

describe('POST /subscription/verify 200 with a key', () => {
  it('installs a valid licence: the row, the tier, one receipt with the old tier and the new', async () => {
    const { workspaceId, owner } = await desk.workspace('free');
    const licence = desk.licence(workspaceId, { tier: 'pro', entitlements: ['sso'] });
    const key = signLicence(licence, desk.issuer);
    const { status, body } = await desk.verify(owner, ` ${key}\n`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: true, tier: 'pro', status: 'active', reason: null });
    expect(await desk.tier(workspaceId)).toBe('pro');
    const [row] = await desk.test.rows('select * from licences where workspace_id = $1', [workspaceId]);
    expect(row).toMatchObject({
      licence_id: licence.licenceId,
      number: String(licence.number),
      licence_key: key,
      tier: 'pro',
      entitlements: ['sso'],
      tier_before: 'free',
      told_status: 'active',
      installed_by: { type: 'member', id: owner.memberId },
    });
    expect(await desk.changes(workspaceId)).toMatchObject([
      {
        actor: { type: 'member', id: owner.memberId },
        entity: { type: 'licence', id: licence.licenceId },
        details: {
          old: { tier: 'free', licenceId: null },
          new: { tier: 'pro', licenceId: licence.licenceId, expiresAt: licence.expiresAt },
        },
      },
    ]);
  });

  it('is done once, however often the same key is given', async () => {
    const { workspaceId, owner } = await desk.workspace();
    const key = desk.issue(workspaceId);
    const answers = await Promise.all(Array.from({ length: 10 }, () => desk.verify(owner, key)));
    expect(answers.filter(({ status, body }) => status === 200 && body.valid === true)).toHaveLength(10);
    expect(await desk.changes(workspaceId)).toHaveLength(1);
  });

  it('answers the first result again under an Idempotency-Key', async () => {
    const { workspaceId, owner } = await desk.workspace();
    const key = desk.issue(workspaceId);
    const headers = { 'Idempotency-Key': newId('req') };
    const first = await desk.verify(owner, key, headers);
    const again = await desk.verify(owner, key, headers);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  it('takes effect in every process within a second', async () => {
    const { workspaceId, owner } = await desk.workspace('pro');
    const config = loadConfig({
      NODE_ENV: 'test',
      DATA_DIR: desk.test.dataDir,
      DATABASE_URL: desk.test.database.url,
      RATE_LIMIT_STORE: 'memory',
      LOG_LEVEL: 'silent',
    });
    const other = await createApplication(config, desk.test.database.url);
    try {
      await other.listen(0, '127.0.0.1');
      const elsewhere = new Client(await other.getUrl(), owner.token);
      const tier = async () => (await elsewhere.get('/context')).body.operator.tier;
      expect(await tier()).toBe('pro');
      await desk.verify(owner, desk.issue(workspaceId));
      await eventually(tier, (value) => value === 'enterprise', 1);
      expect((await elsewhere.get('/bootstrap')).body).toMatchObject({
        workspace: { tier: 'enterprise', subscription: { status: 'active' } },
        limits: { requestsPerMinute: null },
        features: { licences: false },
      });
    } finally {
      await other.close();
    }
  });

  it('lets what waits for more of the model budget look again', async () => {
    const { workspaceId, owner } = await desk.workspace('free');
    const id = newId('req');
    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at, last_error)
       values ('test.wait', $2, $1, $1, now() + interval '1 hour', '{"code": "MODEL_BUDGET_EXCEEDED"}')`,
      [workspaceId, id],
    );
    await desk.verify(owner, desk.issue(workspaceId));
    const [item] = await desk.test.rows<{ due: boolean }>(
      'select due_at <= now() as due from work_items where id = $1',
      [id],
    );
    expect(item!.due).toBe(true);
  });

  it.each<[string, (workspaceId: string) => string | Promise<string>]>([
    ['malformed', () => 'not a licence'],
    ['malformed', (workspaceId) => desk.issue(workspaceId).slice(0, -4)],
    ['unsupported_version', (workspaceId) => desk.issue(workspaceId).replace('CLIC1', 'CLIC2')],
    ['unknown_key', (workspaceId) => signLicence(desk.licence(workspaceId), newIssuer())],
    [
      'bad_signature',
      (workspaceId) => {
        const [version, body] = desk.issue(workspaceId).split('.');
        return [version, body, desk.issue(workspaceId).split('.')[2]].join('.');
      },
    ],
    ['other_workspace', async () => desk.issue((await desk.workspace()).workspaceId)],
    [
      'not_yet_issued',
      (workspaceId) => desk.issue(workspaceId, { issuedAt: desk.test.clock.now() + 10 * 60_000 }),
    ],
    [
      'expired',
      (workspaceId) => {
        const expiresAt = desk.test.clock.now() - 15 * DAY;
        return desk.issue(workspaceId, { issuedAt: expiresAt - DAY, expiresAt });
      },
    ],
  ])('is not valid when it is %s, and nothing changes', async (reason, make) => {
    const { workspaceId, owner } = await desk.workspace('pro');
    await desk.verify(owner, desk.issue(workspaceId, { tier: 'enterprise', entitlements: ['own'] }));
    const before = await desk.stored(workspaceId);
    const { status, body } = await desk.verify(owner, await make(workspaceId));
    expect(status).toBe(200);
    // What is told beside it is the workspace's own, and nothing of the key.
    expect(body).toMatchObject({
      valid: false,
      reason,
      tier: 'enterprise',
      status: 'active',
      entitlements: ['own'],
    });
    expect(body.message).toMatch(/^[A-Z].*\.$/);
    expect(await desk.stored(workspaceId)).toBe(before);
  });

  it('takes a clock that is five minutes ahead for one that is right', async () => {
    const { workspaceId, owner } = await desk.workspace();
    const issuedAt = desk.test.clock.now() + 4 * 60_000;
    expect((await desk.verify(owner, desk.issue(workspaceId, { issuedAt }))).body.valid).toBe(true);
  });

  it('goes neither up nor down by an older licence', async () => {
    const { workspaceId, owner } = await desk.workspace('free');
    const oldest = desk.issue(workspaceId, { tier: 'enterprise' });
    const middle = desk.issue(workspaceId, { tier: 'free' });
    const newest = desk.issue(workspaceId, { tier: 'pro' });
    const twin = desk.issue(workspaceId, { tier: 'enterprise', number: 1_000 });
    await desk.verify(owner, oldest);
    await desk.verify(owner, newest);
    const before = await desk.stored(workspaceId);
    for (const key of [oldest, middle]) {
      expect((await desk.verify(owner, key)).body).toMatchObject({
        valid: false,
        reason: 'superseded',
        tier: 'pro',
      });
    }
    expect(await desk.stored(workspaceId)).toBe(before);
    // Another with the number of the installed one has to name itself by a higher number, too.
    await desk.verify(owner, twin);
    const rival = desk.issue(workspaceId, { tier: 'pro', number: 1_000 });
    expect((await desk.verify(owner, rival)).body.reason).toBe('superseded');
    expect(await desk.tier(workspaceId)).toBe('enterprise');
  });

  it('ends with the newest, in whatever order several arrive', async () => {
    for (let round = 0; round < 5; round++) {
      const { workspaceId, owner } = await desk.workspace('free');
      const keys = (['enterprise', 'free', 'enterprise', 'pro'] as const).map((tier) =>
        desk.issue(workspaceId, { tier }),
      );
      const answers = await Promise.all(keys.toReversed().map((key) => desk.verify(owner, key)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      expect(await desk.tier(workspaceId)).toBe('pro');
      const changes = await desk.changes(workspaceId);
      expect(changes.at(-1).details.new.tier).toBe('pro');
      for (const [index, change] of changes.entries()) {
        expect(change.details.old.tier).toBe(changes[index - 1]?.details.new.tier ?? 'free');
      }
    }
  });
});

describe('POST /api/admin/subscription/verify 200', () => {
  it('installs in the admin area what it installs by token, and refuses the same', async () => {
    const { workspaceId, owner } = await desk.workspace('free');
    const licenseKey = desk.issue(workspaceId, { tier: 'pro' });
    const viewer = await desk.test.createMember(workspaceId, 'viewer');
    const before = await desk.stored(workspaceId);
    const refused = await (
      await desk.test.signIn(viewer.memberId)
    ).post('/subscription/verify', { licenseKey });
    expect(refused.status).toBe(403);
    expect(await desk.stored(workspaceId)).toBe(before);
    const session = await desk.test.signIn(owner.memberId);
    const { status, body } = await session.post('/subscription/verify', { licenseKey });
    expect([status, body.valid]).toEqual([200, true]);
    expect(await desk.changes(workspaceId)).toMatchObject([
      { actor: { type: 'member', id: owner.memberId, via: 'dashboard' } },
    ]);
    // The session carries the new tier as soon as it is looked up again.
    desk.test.clock.advance(1_000);
    expect((await session.get('/workspace')).body).toMatchObject({ tier: 'pro', requestsPerMinute: 120 });
  });
});

describe('POST /subscription/verify 200 where no issuer is known', () => {
  it('says so in a sentence, and the tier stays what it is', async () => {
    const test = await startTestApp();
    try {
      const { workspaceId, owner } = await test.createWorkspace('pro');
      const licenseKey = desk.issue(workspaceId);
      for (const body of [{ licenseKey }, {}, undefined]) {
        const answer = await owner.post('/subscription/verify', body);
        expect(answer.status).toBe(200);
        expect(answer.body).toMatchObject({
          valid: false,
          tier: 'pro',
          status: 'none',
          reason: 'no_public_key',
          message: 'No licence can be checked here: LICENCE_PUBLIC_KEY is not set.',
        });
      }
      expect(await test.rows('select 1 from licences')).toEqual([]);
    } finally {
      await test.close();
    }
  });
});

describe('POST /subscription/verify 200 while one issuer follows another', () => {
  it('takes licences of both', async () => {
    const [old, next] = [newIssuer(), newIssuer()];
    const test = await startTestApp({
      LICENCE_PUBLIC_KEY: `${publicKeyOf(next)}, ${publicKeyOf(old)}`,
    });
    try {
      const { workspaceId, owner } = await test.createWorkspace('free');
      for (const issuer of [old, next]) {
        const licenseKey = signLicence(desk.licence(workspaceId), issuer);
        const { body } = await owner.post('/subscription/verify', { licenseKey });
        expect(body).toMatchObject({ valid: true, reason: null });
      }
    } finally {
      await test.close();
    }
  });
});

describe('POST /subscription/verify 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(desk.test.url, undefined).post('/subscription/verify')).status).toBe(401);
  });
});

describe('POST /subscription/verify 403', () => {
  it.each(['viewer', 'operator'] as const)('lets no %s install a licence', async (role) => {
    const { workspaceId } = await desk.workspace('pro');
    const member = await desk.test.createMember(workspaceId, role);
    const before = await desk.stored(workspaceId);
    const { status, body } = await desk.verify(member, desk.issue(workspaceId));
    expect(status).toBe(403);
    expect(body.error).toMatchObject({
      code: 'FORBIDDEN',
      message: 'Only an owner or an admin may install a licence.',
      details: { requiredRoles: ['admin', 'owner'] },
    });
    expect(await desk.stored(workspaceId)).toBe(before);
  });

  it('lets the admin of a team install none, and an admin of the workspace', async () => {
    const { workspaceId } = await desk.workspace('pro');
    const teamId = await desk.test.createTeam(workspaceId, 'Marketing');
    const member = await desk.test.createMember(workspaceId, 'viewer', [teamId]);
    await desk.test.rows(`update team_members set role = 'admin' where member_id = $1`, [member.memberId]);
    const key = desk.issue(workspaceId);
    expect((await desk.verify(member, key)).status).toBe(403);
    const admin = await desk.test.createMember(workspaceId, 'admin');
    expect((await desk.verify(admin, key)).body.valid).toBe(true);
  });
});

describe('POST /subscription/verify 422', () => {
  it.each([
    [{ licenseKey: 7 }, 'licenseKey'],
    [{ licenseKey: ['x'] }, 'licenseKey'],
    [{ licenseKey: null }, 'licenseKey'],
    [{ licenseKey: 'x'.repeat(8_001) }, 'licenseKey'],
    [{ licenceKey: 'x' }, 'licenceKey'],
  ])('refuses %j and names the fault', async (body, path) => {
    const { workspaceId, owner } = await desk.workspace();
    const before = await desk.stored(workspaceId);
    const answer = await owner.post('/subscription/verify', body);
    expect(answer.status).toBe(422);
    expect(answer.body.error.details).toMatchObject([{ path }]);
    expect(await desk.stored(workspaceId)).toBe(before);
  });
});

describe('POST /subscription/verify 429', () => {
  it('takes 60 calls an hour of one address', async () => {
    const { owner } = await desk.workspace('enterprise');
    const client = new Client(desk.test.url, owner.token);
    const answer = await client.post('/subscription/verify');
    expect(answer.headers.get('x-ratelimit-limit')).toBe('60');
    const left = Number(answer.headers.get('x-ratelimit-reset')) - desk.test.clock.now() / 1000;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(3_601);
  });
});
