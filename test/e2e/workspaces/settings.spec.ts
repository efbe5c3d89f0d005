import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Role } from '../../../src/platform/auth/caller.js';
import { Db } from '../../../src/platform/database/db.js';
import { Workspaces } from '../../../src/features/workspaces/workspaces.repository.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

const DEFAULTS = {
  timezone: 'UTC',
  locale: 'en',
  currency: 'USD',
  presence: 'present',
  quietHours: null,
  notifications: { approvals: 'all', escalations: 'all', reports: 'all' },
  sender: { name: null, signature: null, replyTo: null },
  modelBudget: null,
  retention: { deliveries: 30, signals: 365, withdrawnDocuments: 365, partnerUpdates: 400 },
  secondFactor: 'optional',
};

let test: TestApp;
let workspaceId: string;
let admin: TestMember;
beforeAll(async () => {
  test = await startTestApp();
});
beforeEach(async () => {
  ({ workspaceId } = await test.createWorkspace());
  admin = await test.createMember(workspaceId, 'admin');
});
afterAll(() => test.close());

const receipts = async () =>
  (
    await test.rows<{ body: string }>(
      `select body from receipts where workspace_id = $1 and action = 'settings.changed' order by seq`,
      [workspaceId],
    )
  ).map(({ body }) => JSON.parse(body) as { details: unknown; summary: string });

describe('GET /settings 200', () => {
  it('answers the settings to every role', async () => {
    for (const role of ['viewer', 'operator', 'admin', 'owner'] as const) {
      const { status, body } = await (await test.createMember(workspaceId, role)).get('/settings');
      expect([status, body]).toEqual([200, DEFAULTS]);
    }
  });
});

describe('GET /settings 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).get('/settings')).status).toBe(401);
  });
});

describe('PUT /settings 200', () => {
  it('changes what it names, leaves the rest, and keeps a receipt with old and new', async () => {
    const first = await admin.put('/settings', { timezone: 'Europe/Berlin' });
    expect([first.status, first.body]).toEqual([200, { ...DEFAULTS, timezone: 'Europe/Berlin' }]);
    const quietHours = { from: '22:00', to: '07:30' };
    const second = await admin.put('/settings', {
      timezone: 'Europe/Berlin',
      presence: 'away',
      modelBudget: null,
      quietHours,
      notifications: { approvals: 'digest', reports: 'none' },
    });
    const now = {
      ...DEFAULTS,
      timezone: 'Europe/Berlin',
      locale: 'en',
      currency: 'USD',
      presence: 'away',
      quietHours,
      notifications: { approvals: 'digest', escalations: 'all', reports: 'none' },
      sender: DEFAULTS.sender,
    };
    expect(second.body).toEqual(now);
    expect((await admin.get('/settings')).body).toEqual(now);
    const [row] = await test.rows('select * from workspaces where workspace_id = $1', [workspaceId]);
    expect(row).toMatchObject({ timezone: 'Europe/Berlin', presence: 'away', quiet_hours: quietHours });
    expect(await receipts()).toEqual([
      expect.objectContaining({
        actor: expect.objectContaining({ id: admin.memberId }),
        entity: { type: 'workspace', id: workspaceId },
        summary: expect.stringContaining('changed the settings: timezone.'),
        details: { old: { timezone: 'UTC' }, new: { timezone: 'Europe/Berlin' } },
        requestId: first.headers.get('x-request-id'),
      }),
      expect.objectContaining({
        details: {
          old: { presence: 'present', quietHours: null, notifications: DEFAULTS.notifications },
          new: {
            presence: 'away',
            quietHours,
            notifications: { approvals: 'digest', escalations: 'all', reports: 'none' },
          },
        },
      }),
    ]);
  });

  it('takes quiet hours away with null, and changes of the notifications only what it names', async () => {
    await admin.put('/settings', {
      quietHours: { from: '22:00', to: '07:00' },
      notifications: { approvals: 'urgent', escalations: 'none' },
    });
    const { body } = await admin.put('/settings', { quietHours: null, notifications: { approvals: null } });
    expect(body).toEqual({ ...DEFAULTS, notifications: { ...DEFAULTS.notifications, escalations: 'none' } });
    const [row] = await test.rows(
      'select quiet_hours is null as gone from workspaces where workspace_id = $1',
      [workspaceId],
    );
    expect(row).toEqual({ gone: true });
  });

  it('leaves no receipt where nothing changed', async () => {
    expect((await admin.put('/settings', {})).body).toEqual(DEFAULTS);
    expect((await admin.put('/settings', DEFAULTS)).body).toEqual(DEFAULTS);
    expect(await receipts()).toEqual([]);
  });

  it.each([
    ['de-at', 'de-AT'],
    ['EN', 'en'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['sr-Latn-RS', 'sr-Latn-RS'],
  ])('keeps the language tag %s as %s', async (locale, kept) => {
    expect((await admin.put('/settings', { locale })).body.locale).toBe(kept);
  });

  it.each(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])(
    'takes the zone %s',
    async (timezone) => {
      expect((await admin.put('/settings', { timezone })).body.timezone).toBe(timezone);
    },
  );

  it('takes a currency', async () => {
    const { body } = await admin.put('/settings', { currency: 'EUR' });
    expect(body).toEqual({ ...DEFAULTS, currency: 'EUR' });
    expect((await receipts()).at(-1)).toMatchObject({
      details: { old: { currency: 'USD' }, new: { currency: 'EUR' } },
    });
  });

  it('changes of the sender only what it names, and goes back to the default with null', async () => {
    const signature = 'Acme Customer Care\n+43 1 234 5678';
    const first = await admin.put('/settings', { sender: { name: 'Mira Novák', signature } });
    expect([first.status, first.body]).toEqual([
      200,
      { ...DEFAULTS, sender: { name: 'Mira Novák', signature, replyTo: null } },
    ]);
    const second = await admin.put('/settings', { sender: { name: null, replyTo: 'care@acme.example' } });
    const sender = { name: null, signature, replyTo: 'care@acme.example' };
    expect(second.body.sender).toEqual(sender);
    expect((await admin.get('/settings')).body.sender).toEqual(sender);
    const [row] = await test.rows('select * from workspaces where workspace_id = $1', [workspaceId]);
    expect(row).toMatchObject({
      sender_name: null,
      sender_signature: signature,
      sender_reply_to: 'care@acme.example',
    });
    expect((await receipts()).at(-1)).toMatchObject({
      summary: expect.stringContaining('changed the settings: sender.'),
      details: { old: { sender: { name: 'Mira Novák', signature, replyTo: null } }, new: { sender } },
    });
  });

  it('takes each of many changes at the same time, and each receipt begins where the one before it ended', async () => {
    const zones = [
      'Europe/Berlin',
      'Asia/Tokyo',
      'America/Lima',
      'Africa/Cairo',
      'Australia/Perth',
      'Pacific/Apia',
    ];
    await Promise.all(zones.map((timezone) => admin.put('/settings', { timezone })));
    let before: unknown = 'UTC';
    const steps = new Map(
      (await receipts()).map(({ details }) => {
        const { old, new: now } = details as { old: { timezone: string }; new: { timezone: string } };
        return [old.timezone, now.timezone];
      }),
    );
    for (let step = 0; step < zones.length; step++) before = steps.get(before as string);
    expect(before).toBe((await admin.get('/settings')).body.timezone);
  });
});

describe('PUT /settings 200: retention', () => {
  it('keeps what it names for so many days, and goes back to the default with null', async () => {
    const changed = await admin.put('/settings', { retention: { deliveries: 90, signals: 30 } });
    expect([changed.status, changed.body.retention]).toEqual([
      200,
      { ...DEFAULTS.retention, deliveries: 90, signals: 30 },
    ]);
    const back = await admin.put('/settings', { retention: { deliveries: null } });
    expect(back.body.retention).toEqual({ ...DEFAULTS.retention, signals: 30 });
    expect((await receipts()).map(({ summary }) => summary)).toEqual([
      expect.stringContaining('changed the settings: retention.'),
      expect.stringContaining('changed the settings: retention.'),
    ]);
  });

  it('shows what holds where a stored value is none', async () => {
    await test.rows(`update workspaces set retention = $2 where workspace_id = $1`, [
      workspaceId,
      '{"deliveries": "soon", "signals": 1e300, "partnerUpdates": -1, "withdrawnDocuments": 7}',
    ]);
    const { status, body } = await admin.get('/settings');
    expect([status, body.retention]).toEqual([200, { ...DEFAULTS.retention, withdrawnDocuments: 7 }]);
  });
});

describe('PUT /settings 401', () => {
  it('answers nobody without a token', async () => {
    expect((await new Client(test.url, undefined).put('/settings', {})).status).toBe(401);
  });
});

describe('PUT /settings 403', () => {
  it.each<Role>(['viewer', 'operator'])('refuses a %s', async (role) => {
    const member = await test.createMember(workspaceId, role);
    expect((await member.put('/settings', { presence: 'away' })).status).toBe(403);
    expect((await admin.get('/settings')).body).toEqual(DEFAULTS);
  });
});

describe('PUT /settings 422', () => {
  it.each([
    [{ timezone: '+05:30' }, 'timezone'],
    [{ timezone: 'EST' }, 'timezone'],
    [{ timezone: 'Europe/Nowhere' }, 'timezone'],
    [{ timezone: null }, 'timezone'],
    [{ timezone: 'US/Pacific-New' }, 'timezone'],
    [{ timezone: 'Canada/East-Saskatchewan' }, 'timezone'],
    [{ currency: 'eur' }, 'currency'],
    [{ currency: 'ZZZ' }, 'currency'],
    [{ currency: null }, 'currency'],
    [{ currency: ['EUR'] }, 'currency'],
    [{ locale: 'de_DE' }, 'locale'],
    [{ locale: '' }, 'locale'],
    [{ locale: ['en'] }, 'locale'],
    [{ locale: null }, 'locale'],
    [{ locale: `en-${'abcdefgh-'.repeat(12)}x` }, 'locale'],
    [{ presence: 'asleep' }, 'presence'],
    [{ presence: null }, 'presence'],
    [{ quietHours: {} }, 'quietHours.from'],
    [{ quietHours: { from: '24:00', to: '07:00' } }, 'quietHours.from'],
    [{ quietHours: { from: '22:00', to: '7:00' } }, 'quietHours.to'],
    [{ quietHours: { from: '22:00', to: '22:00' } }, 'quietHours.to'],
    [{ quietHours: { from: '22:00', to: '07:00', days: [] } }, 'quietHours.days'],
    [{ quietHours: '22-07' }, 'quietHours'],
    [{ quietHours: [] }, 'quietHours'],
    [{ quietHours: [{ from: '22:00', to: '07:00' }] }, 'quietHours'],
    [{ notifications: null }, 'notifications'],
    [{ notifications: [] }, 'notifications'],
    [{ notifications: { daily: 'all' } }, 'notifications.daily'],
    [{ notifications: { approvals: true } }, 'notifications.approvals'],
    [{ notifications: { approvals: 'All' } }, 'notifications.approvals'],
    [{ notifications: { escalations: ['all'] } }, 'notifications.escalations'],
    [{ notifications: { reports: 'digest' } }, 'notifications.reports'],
    [{ sender: null }, 'sender'],
    [{ sender: [] }, 'sender'],
    [{ sender: { name: '' } }, 'sender.name'],
    [{ sender: { name: ' ' } }, 'sender.name'],
    [{ sender: { name: 'x'.repeat(101) } }, 'sender.name'],
    [{ sender: { name: 'Ada\nBcc: eve@evil.example' } }, 'sender.name'],
    [{ sender: { name: 'Ada\u202egnp.exe' } }, 'sender.name'],
    [{ sender: { name: 'A\u200bda' } }, 'sender.name'],
    [{ sender: { name: 'Аda of Acme' } }, 'sender.name'],
    [{ sender: { name: 'https://evil.example' } }, 'sender.name'],
    [{ sender: { signature: 'x'.repeat(1_001) } }, 'sender.signature'],
    [{ sender: { signature: 'a\u0000b' } }, 'sender.signature'],
    [{ sender: { signature: ['a'] } }, 'sender.signature'],
    [{ sender: { replyTo: 'care' } }, 'sender.replyTo'],
    [{ sender: { replyTo: 'Care <care@acme.example>' } }, 'sender.replyTo'],
    [{ sender: { replyTo: 'a@acme.example, b@acme.example' } }, 'sender.replyTo'],
    [{ sender: { replyTo: 'a@acme.example\r\nBcc: eve@evil.example' } }, 'sender.replyTo'],
    [{ sender: { email: 'care@acme.example' } }, 'sender.email'],
    [{ retention: null }, 'retention'],
    [{ retention: 30 }, 'retention'],
    [{ retention: { deliveries: 0 } }, 'retention.deliveries'],
    [{ retention: { deliveries: 3651 } }, 'retention.deliveries'],
    [{ retention: { deliveries: 1.5 } }, 'retention.deliveries'],
    [{ retention: { deliveries: '30' } }, 'retention.deliveries'],
    [{ retention: { signals: 29 } }, 'retention.signals'],
    [{ retention: { partnerUpdates: 29 } }, 'retention.partnerUpdates'],
    [{ retention: { withdrawnDocuments: 1e12 } }, 'retention.withdrawnDocuments'],
    [{ retention: { receipts: 30 } }, 'retention.receipts'],
    [{ tier: 'enterprise' }, 'tier'],
  ])('refuses %j', async (body, path) => {
    const { status, body: answer } = await admin.put('/settings', body);
    expect(status).toBe(422);
    expect(answer.error.details.map((fault: { path: string }) => fault.path)).toContain(path);
    expect((await admin.get('/settings')).body).toEqual(DEFAULTS);
  });
});

describe('Workspaces.settings', () => {
  it('reads in one statement, and sees what the open transaction has changed', async () => {
    const workspaces = test.app.get(Workspaces);
    const scope = { workspaceId, teamIds: [] };
    const [before, within] = await test.app.get(Db).transaction(scope, async (unit) => {
      const trips = unit.roundTrips;
      const read = await workspaces.settings(scope);
      expect(unit.roundTrips).toBe(trips + 1);
      await workspaces.change(workspaceId, { presence: 'away' });
      return [read, await workspaces.settings(scope)];
    });
    expect(before).toEqual({ name: expect.any(String), tier: 'enterprise', ...DEFAULTS });
    expect(within).toEqual({ ...before, presence: 'away' });
  });
});
