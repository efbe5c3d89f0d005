import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SubscriptionService } from '../../../src/features/subscription/subscription.service.js';
import { Client } from '../../support/client.js';
import { eventually } from '../../support/test-app.js';
import { DAY, LicenceDesk } from './licence-desk.js';

let desk: LicenceDesk;
beforeAll(async () => {
  desk = await LicenceDesk.open();
});
afterAll(() => desk.test.close());

/** A licence that ends in a day. */
async function endingTomorrow(tierBefore: 'free' | 'pro' = 'free') {
  const workspace = await desk.workspace(tierBefore);
  const licence = { expiresAt: desk.test.clock.now() + DAY, entitlements: ['sso'] };
  await desk.verify(workspace.owner, desk.issue(workspace.workspaceId, licence));
  return workspace;
}

describe('a licence that has ended', () => {
  it('has a grace of 14 days: everything stays, and one signal says until when', async () => {
    const { workspaceId, owner } = await endingTomorrow();
    desk.test.clock.advance(DAY);
    await desk.end();
    const { body } = await desk.verify(owner);
    expect(body).toMatchObject({
      valid: true,
      tier: 'enterprise',
      status: 'grace',
      entitlements: ['sso'],
      reason: null,
    });
    expect(body.graceUntil - body.expiresAt).toBe(14 * DAY);
    expect(body.message).toMatch(
      /^The licence ended at .* UTC\. The tier stays until .* UTC: install a new licence before then\.$/,
    );
    const { workspace } = (await owner.get('/bootstrap')).body;
    expect(workspace).toMatchObject({ tier: 'enterprise', subscription: { status: 'grace' } });
    await desk.end();
    expect(await desk.signals(workspaceId)).toMatchObject([
      {
        type: 'policy',
        severity: 'warning',
        title: expect.stringContaining('the tier stays enterprise until'),
      },
    ]);
    expect(await desk.changes(workspaceId)).toHaveLength(1);
  });

  it('gives the workspace back the tier that it had, once, however many processes look', async () => {
    const { workspaceId, owner } = await endingTomorrow('free');
    desk.test.clock.advance(DAY);
    await desk.end();
    desk.test.clock.advance(14 * DAY - 60_000);
    await desk.end();
    expect(await desk.tier(workspaceId)).toBe('enterprise');
    desk.test.clock.advance(60_000);
    await Promise.all(Array.from({ length: 8 }, () => desk.end()));
    expect(await desk.tier(workspaceId)).toBe('free');
    expect((await desk.changes(workspaceId)).slice(1)).toMatchObject([
      {
        actor: { type: 'system' },
        details: { old: { tier: 'enterprise' }, new: { tier: 'free', licenceId: null } },
      },
    ]);
    expect((await desk.signals(workspaceId)).map(({ severity }) => severity)).toEqual([
      'warning',
      'critical',
    ]);
    expect((await desk.verify(owner)).body).toMatchObject({
      valid: false,
      tier: 'free',
      status: 'expired',
      entitlements: [],
      limits: { requestsPerMinute: 10, requestsPerDay: 100 },
      reason: 'expired',
    });
    expect((await owner.get('/bootstrap')).body.workspace.subscription.status).toBe('expired');
  });

  it('is told once when no process ran through its grace', async () => {
    const { workspaceId } = await endingTomorrow('pro');
    desk.test.clock.advance(30 * DAY);
    await Promise.all([desk.end(), desk.end()]);
    expect(await desk.tier(workspaceId)).toBe('pro');
    expect((await desk.signals(workspaceId)).map(({ severity }) => severity)).toEqual(['critical']);
  });

  it('leaves alone a tier that was set since by whoever runs the service', async () => {
    const { workspaceId } = await endingTomorrow('free');
    await desk.test.rows(`update workspaces set tier = 'pro' where workspace_id = $1`, [workspaceId]);
    desk.test.clock.advance(30 * DAY);
    await desk.end();
    expect(await desk.tier(workspaceId)).toBe('pro');
  });

  it('is followed by the next one, and does not come back', async () => {
    const { workspaceId, owner } = await desk.workspace('free');
    const old = desk.issue(workspaceId, { expiresAt: desk.test.clock.now() + 40 * DAY });
    const short = desk.issue(workspaceId, { tier: 'pro', expiresAt: desk.test.clock.now() + DAY });
    await desk.verify(owner, short);
    desk.test.clock.advance(20 * DAY);
    await desk.end();
    expect(await desk.tier(workspaceId)).toBe('free');
    // An older licence that has not ended yet is no way back up.
    expect((await desk.verify(owner, old)).body.reason).toBe('superseded');
    expect((await desk.verify(owner, short)).body.reason).toBe('expired');
    expect((await desk.verify(owner, desk.issue(workspaceId))).body).toMatchObject({
      valid: true,
      tier: 'enterprise',
      status: 'active',
    });
    await desk.end();
    expect(await desk.tier(workspaceId)).toBe('enterprise');
    const [row] = await desk.test.rows('select tier_before from licences where workspace_id = $1', [
      workspaceId,
    ]);
    expect(row).toEqual({ tier_before: 'free' });
  });

  it('renewed in its grace keeps the tier without a break', async () => {
    const { workspaceId, owner } = await endingTomorrow('free');
    desk.test.clock.advance(10 * DAY);
    await desk.end();
    await desk.verify(owner, desk.issue(workspaceId));
    desk.test.clock.advance(30 * DAY);
    await desk.end();
    expect(await desk.tier(workspaceId)).toBe('enterprise');
    const [row] = await desk.test.rows(
      'select tier_before, told_status from licences where workspace_id = $1',
      [workspaceId],
    );
    expect(row).toEqual({ tier_before: 'free', told_status: 'active' });
  });

  it('renewed while the grace ends has the new tier, whoever comes first', async () => {
    for (let round = 0; round < 5; round++) {
      const { workspaceId, owner } = await endingTomorrow('free');
      desk.test.clock.advance(15 * DAY);
      const key = desk.issue(workspaceId);
      await Promise.all([desk.end(), desk.verify(owner, key), desk.end()]);
      expect(await desk.tier(workspaceId)).toBe('enterprise');
      const [row] = await desk.test.rows('select tier_before from licences where workspace_id = $1', [
        workspaceId,
      ]);
      expect(row).toEqual({ tier_before: 'free' });
    }
  });

  it('keeps nobody from stopping work', async () => {
    const { workspaceId, owner } = await endingTomorrow('free');
    desk.test.clock.advance(16 * DAY);
    desk.test.clock.stopAtMinute();
    await desk.end();
    const statuses = [];
    for (let n = 0; n < 11; n++) statuses.push((await owner.get('/guardian')).status);
    expect(statuses.at(-1)).toBe(429);
    expect((await owner.post('/guardian/kill-switch')).status).toBe(200);
    const again = new Client(desk.test.url, owner.token);
    expect((await again.post('/guardian/kill-switch')).body.mode).toBe('killed');
    desk.test.clock.goOn();
    expect(await desk.tier(workspaceId)).toBe('free');
  });
});

describe('the look for licences that have ended', () => {
  it('is not that of a process that serves requests alone', async () => {
    const serving = await LicenceDesk.open({ PROCESS_ROLE: 'api' });
    try {
      const { workspaceId, owner } = await serving.workspace('free');
      const expiresAt = serving.test.clock.now() + DAY;
      await serving.verify(owner, serving.issue(workspaceId, { expiresAt }));
      serving.test.clock.advance(2 * DAY);
      await serving.test.app.get(SubscriptionService).inBackground();
      expect(await serving.signals(workspaceId)).toEqual([]);
    } finally {
      await serving.test.close();
    }
  });

  it('waits for the one before it', async () => {
    const { workspaceId } = await endingTomorrow();
    desk.test.clock.advance(2 * DAY);
    const client = await desk.test.database.owner.connect();
    const looks = desk.test.app.get(SubscriptionService);
    const waiting = () =>
      desk.test.rows(`select from pg_locks join pg_stat_activity using (pid)
        where not granted and locktype in ('tuple', 'transactionid') and datname = current_database()`);
    try {
      await client.query('begin');
      await client.query('select from workspaces where workspace_id = $1 for update', [workspaceId]);
      const first = looks.inBackground();
      await eventually(waiting, ({ length }) => length > 0);
      await looks.inBackground();
      expect(await waiting()).toHaveLength(1);
      await client.query('commit');
      await first;
    } finally {
      client.release(true);
    }
    await desk.end();
    expect(await desk.signals(workspaceId)).toHaveLength(1);
  });
});
