import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually, startTestApp } from '../../support/test-app.js';
import { startMailServer } from '../mail/mail-server.js';
import { TeamDesk } from './team-desk.js';

let desk: TeamDesk;
beforeAll(async () => {
  desk = await TeamDesk.open();
});
afterAll(() => desk.test.close());

const row = async (inviteId: string) =>
  (await desk.test.rows('select * from invites where invite_id = $1', [inviteId]))[0]!;

describe('the mail of an invite', () => {
  it('goes to the one invited, with a link and nothing that names could have made of it', async () => {
    const [{ display_name: _name, member_id: memberId }] = (await desk.test.rows(
      `select * from members join users using (user_id) where workspace_id = $1 and role = 'owner'`,
      [desk.workspaceId],
    )) as [Record<string, string>];
    await desk.test.rows(
      `update users set display_name = 'Eve [click](https://evil.example) evil.example' where user_id = (select user_id from members where member_id = $1)`,
      [memberId],
    );
    const { inviteId, email } = await desk.invite('mail@example.com');
    const mail = await desk.mail(inviteId);
    expect(mail.to).toMatchObject([{ address: email }]);
    expect(mail.text).toContain(`${desk.test.url}/invites/`);
    const links = [...mail.html!.matchAll(/href="([^"]+)"/g)].map(([, link]) => link);
    expect(new Set(links)).toEqual(new Set([`${desk.test.url}/invites/${await desk.token(inviteId)}`]));
    await eventually(async () => (await row(inviteId))['mail_status'] === 'sent');
    expect((await row(inviteId))['sealed_token']).toBeNull();
  });

  it('is tried again while the mail server is away, and sent once', { timeout: 30_000 }, async () => {
    let away = true;
    const server = await startMailServer({
      mail: () => Promise.resolve(away ? { code: 451, text: 'later' } : undefined),
      recipient: (address) =>
        address.startsWith('refused') ? { code: 550, text: 'no such user' } : undefined,
    });
    const test = await startTestApp({ SMTP_URL: server.url, MAIL_FROM: 'ops@acme.example' });
    try {
      const there = await TeamDesk.open(test);
      const { inviteId } = await there.invite('later@example.com');
      await eventually(
        () => test.rows('select failures from work_items where id = $1', [inviteId]),
        ([item]) => Number(item?.['failures']) > 0,
      );
      const attempted = server.received.length;
      away = false;
      await test.rows('update work_items set due_at = now() where id = $1', [inviteId]);
      await eventually(
        () => there.receipts(inviteId),
        (actions) => actions.includes('invite.mailed'),
      );
      expect(server.received.length).toBe(attempted + 1);

      const refused = await there.invite('refused@example.com');
      await eventually(
        () => there.receipts(refused.inviteId),
        (actions) => actions.includes('invite.mail_failed'),
      );
      const { items } = (await there.owner.get('/invites')).body;
      expect(items.find((one: any) => one.inviteId === refused.inviteId).mail).toEqual({
        status: 'failed',
        error: expect.stringContaining('550'),
      });
    } finally {
      await test.close();
      await server.close();
    }
  });
});

describe('an invite with a name', () => {
  it.each([
    ['to a team', () => `/teams/${desk.teamA}/members`],
    ['to the workspace', () => '/members'],
  ])('%s shows it in lists, and fills it in where the invite is accepted', async (where, path) => {
    const body = {
      email: `${where.replaceAll(' ', '-')}@example.com`,
      name: ' Ann "A" <Lee> ',
      role: 'viewer',
    };
    const answer = await desk.owner.post(path(), body);
    expect(answer.status, answer.text).toBe(201);
    const { inviteId, name } = answer.body.invite ?? answer.body;
    expect(name).toBe('Ann "A" <Lee>');
    const { items } = (await desk.owner.get('/invites')).body;
    expect(items[0]).toMatchObject({ inviteId, name });
    const page = await (await fetch(`${desk.test.url}/invites/${await desk.token(inviteId)}`)).text();
    expect(page).toContain(
      'name="displayName" autocomplete="name" required maxlength="80" value="Ann &quot;A&quot; &lt;Lee&gt;"',
    );
  });

  it('is refused where nobody may be called that', async () => {
    for (const name of ['', 'Guardian', 'a\u0007b', 'x'.repeat(81), null]) {
      const body = { email: 'nobody@example.com', name, role: 'viewer' };
      const answers = [
        await desk.owner.post('/members', body),
        await desk.owner.post(`/teams/${desk.teamA}/members`, body),
      ];
      for (const { status, text } of answers) {
        expect(status, `${name}`).toBe(422);
        expect(text).toContain('"path":"name"');
      }
    }
  });
});

describe('an invite to an international address', () => {
  it('is mailed there, and is one invite in either spelling of the domain', async () => {
    const invite = await desk.invite('MÜLLER@Bücher.example');
    expect(invite.email).toBe('müller@xn--bcher-kva.example');
    const { to } = await desk.mail(invite.inviteId);
    expect(to).toMatchObject([{ address: 'müller@bücher.example' }]);
    const path = `/teams/${desk.teamA}/members`;
    const again = await desk.owner.post(path, { email: 'müller@bücher.example', role: 'operator' });
    expect([again.status, again.body.error.code]).toEqual([409, 'ALREADY_EXISTS']);
    expect((await desk.accept(await desk.token(invite.inviteId))).status).toBe(201);
  });
});

describe('GET /invites', () => {
  it('200: shows the admin of a team its invites alone, owner and admin all', async () => {
    const a = await desk.invite('list-a@example.com');
    const b = await desk.invite('list-b@example.com', { teamId: desk.teamB });
    const { body: c } = await desk.owner.post('/members', { email: 'list-c@example.com', role: 'viewer' });
    const admin = await desk.member('viewer', { [desk.teamA]: 'admin', [desk.teamB]: 'operator' });
    const seen = (await admin.get('/invites?limit=100')).text;
    expect([a, b, c].map(({ inviteId }) => seen.includes(inviteId))).toEqual([true, false, false]);
    const all = (await desk.owner.get('/invites?limit=100')).text;
    expect([a, b, c].every(({ inviteId }) => all.includes(inviteId))).toBe(true);
    expect(all).not.toMatch(/token/i);
  });

  it('200: knows one that is late as expired', async () => {
    const { inviteId, expiresAt } = await desk.invite('old@example.com');
    desk.test.clock.stop(expiresAt);
    const ids = async (status: string) =>
      (await desk.owner.get(`/invites?limit=100&status=${status}`)).body.items.map(
        (one: any) => one.inviteId,
      );
    expect(await ids('expired')).toContain(inviteId);
    expect(await ids('pending')).not.toContain(inviteId);
    // It makes room for another.
    const again = await desk.owner.post(`/teams/${desk.teamA}/members`, {
      email: 'old@example.com',
      role: 'viewer',
    });
    expect(again.status).toBe(201);
    desk.test.clock.goOn();
  });

  it('403: for an operator, whom receipts do not tell the addresses either', async () => {
    const operator = await desk.member('viewer', { [desk.teamA]: 'operator' });
    expect((await operator.get('/invites')).status).toBe(403);
    const [accepted, withdrawn] = [
      await desk.invite('read@example.com'),
      await desk.invite('unread@example.com'),
    ];
    await desk.owner.post(`/invites/${accepted.inviteId}/resend`);
    expect((await desk.accept(await desk.token(accepted.inviteId, 2))).status).toBe(201);
    await desk.owner.delete(`/invites/${withdrawn.inviteId}`);
    for (const { inviteId } of [accepted, withdrawn])
      expect((await desk.receipts(inviteId)).length).toBeGreaterThan(1);
    for (const path of ['/audit-feed?limit=100', '/audit-feed?format=csv', '/feed'])
      expect((await operator.get(path)).text, path).not.toContain('read@example.com');
  });
});

describe('POST /invites/{id}/resend', () => {
  it('200: sends another link for seven more days, and the first opens nothing any more', async () => {
    const { inviteId } = await desk.invite('resend@example.com');
    const first = await desk.token(inviteId);
    const { status, body } = await desk.owner.post(`/invites/${inviteId}/resend`);
    expect([status, body.status, body.mail.status]).toEqual([200, 'pending', 'queued']);
    const second = await desk.token(inviteId, 2);
    expect((await desk.accept(first)).status).toBe(404);
    expect((await desk.accept(second)).status).toBe(201);
    expect(await desk.receipts(inviteId)).toEqual(
      expect.arrayContaining(['invite.created', 'invite.resent', 'invite.mailed', 'invite.accepted']),
    );
  });

  it('409: for one that was accepted or withdrawn', async () => {
    const { inviteId } = await desk.invite('ended@example.com');
    await desk.owner.delete(`/invites/${inviteId}`);
    const answer = await desk.owner.post(`/invites/${inviteId}/resend`);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'INVALID_TRANSITION']);
  });

  it('429: after ten mails in a day', async () => {
    const { inviteId } = await desk.invite('often@example.com');
    for (let n = 0; n < 9; n++)
      expect((await desk.owner.post(`/invites/${inviteId}/resend`)).status).toBe(200);
    const answer = await desk.owner.post(`/invites/${inviteId}/resend`);
    expect([answer.status, answer.body.error.details.policy]).toEqual([429, 'invite-mails']);
  });
});

describe('the token of an invite that was never mailed', () => {
  const unmailed = async (email: string) => {
    const invite = await desk.invite(email);
    await eventually(async () => (await desk.receipts(invite.inviteId)).includes('invite.mailed'));
    await desk.test.rows(
      `update invites set mail_status = 'queued', sealed_token = 'x' where invite_id = $1`,
      [invite.inviteId],
    );
    return invite;
  };
  const stored = (inviteId: string) =>
    desk.test.rows('select sealed_token from invites where invite_id = $1', [inviteId]);

  it('is forgotten when another invite for the same address makes it expire', async () => {
    const { inviteId } = await unmailed('replaced@example.com');
    await desk.test.rows(`update invites set expires_at = now() - interval '1 s' where invite_id = $1`, [
      inviteId,
    ]);
    await desk.invite('replaced@example.com');
    expect(await stored(inviteId)).toEqual([{ sealed_token: null }]);
  });

  it('is forgotten when its mail comes up after it has expired, and the receipt says why', async () => {
    const { inviteId } = await unmailed('toolate@example.com');
    await desk.test.rows(`update invites set expires_at = now() - interval '1 s' where invite_id = $1`, [
      inviteId,
    ]);
    await desk.test.rows(
      `insert into work_items (kind, id, workspace_id, queue, due_at) values ('invite.mail', $1, $2, $2, now())`,
      [inviteId, desk.workspaceId],
    );
    await eventually(async () => (await stored(inviteId)).every(({ sealed_token: token }) => token === null));
    expect((await desk.receipts(inviteId)).at(-1)).toBe('invite.mail_failed');
  });
});

describe('DELETE /invites/{id}', () => {
  it('200: withdraws, once', async () => {
    const { inviteId } = await desk.invite('withdrawn@example.com');
    for (let n = 0; n < 2; n++)
      expect((await desk.owner.delete(`/invites/${inviteId}`)).body.status).toBe('withdrawn');
    expect((await desk.receipts(inviteId)).filter((action) => action === 'invite.withdrawn')).toHaveLength(1);
    expect(await desk.test.rows('select 1 from work_items where id = $1', [inviteId])).toEqual([]);
  });

  it('409: for one that was accepted', async () => {
    const { inviteId } = await desk.invite('accepted@example.com');
    await desk.accept(await desk.token(inviteId));
    expect((await desk.owner.delete(`/invites/${inviteId}`)).body.error.code).toBe('INVALID_TRANSITION');
  });

  it('403 for who is no admin of its team, 404 for who does not see it', async () => {
    const { inviteId } = await desk.invite('kept@example.com');
    const { body: whole } = await desk.owner.post('/members', { email: 'whole@example.com', role: 'admin' });
    const operator = await desk.member('viewer', { [desk.teamA]: 'operator', [desk.teamB]: 'admin' });
    const outsider = await desk.member('viewer', { [desk.teamB]: 'admin' });
    const other = await TeamDesk.open(desk.test);
    const before = await desk.stored();
    for (const path of [`/invites/${inviteId}`, `/invites/${inviteId}/resend`]) {
      const method = path.endsWith('resend') ? 'POST' : 'DELETE';
      expect((await operator.send(method, path)).status).toBe(403);
      expect((await outsider.send(method, path)).status).toBe(404);
      expect((await other.owner.send(method, path)).status).toBe(404);
      expect((await desk.owner.send(method, path.replace(inviteId, newId('inv')))).status).toBe(404);
    }
    // An admin may not touch an invite to a role that only an owner grants.
    expect((await (await desk.member('admin')).delete(`/invites/${whole.inviteId}`)).status).toBe(403);
    expect((await outsider.delete(`/invites/${whole.inviteId}`)).status).toBe(404);
    expect((await desk.stored()).length).toBeGreaterThan(before.length);
  });
});
