import { afterAll, describe, expect, it } from 'vitest';
import { csrfTokenOf } from '../../src/platform/auth/session-cookie.js';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { Client, cookieOf, sessionHeaders } from '../support/client.js';
import { startTestApp } from '../support/test-app.js';
import { ADMIN_ACTS, leaveSessions } from './admin-acts.js';
import { describeMatrix, type Outsider, turnedAway } from './matrix.js';
import { OUTBOUND_ALLOW } from './matrix-acts.js';

/**
 * Every route of the admin area against every role, and against whoever is not signed in to it: generated from the route
 * table, each cell a request, the rows of all tables compared before and after.
 */
const test = await startTestApp({ OUTBOUND_ALLOW });
afterAll(() => test.close());

/** The secret of a session of an owner of this workspace, changed by an SQL assignment. */
async function sessionWith(workspaceId: string, change: string): Promise<string> {
  const { memberId } = await test.createMember(workspaceId, 'owner');
  const { secret } = await test.signIn(memberId);
  await test.rows(`update sessions set ${change} where member_id = $1`, [memberId]);
  return secret;
}

const refused = (status: 401 | 403, reason: string, credentials: Record<string, string>): Outsider => ({
  credentials,
  status,
  reason,
});

/** Valid in every way, for what must be refused all the same. */
let owner: { secret: string; token: string };
let another: string;

const matrix = describeMatrix({
  test,
  prefixes: ['/api/admin'],
  acts: ADMIN_ACTS,
  besideThePoint: { sessions: ['last_seen_at'] },
  credentialsOf: async ({ memberId }) => sessionHeaders((await test.signIn(memberId)).secret),
  async outsiders({ workspaceId }) {
    await leaveSessions(test);
    const member = await test.createMember(workspaceId, 'owner');
    const removed = await test.createMember(workspaceId, 'owner');
    const { secret: ofRemoved } = await test.signIn(removed.memberId);
    await test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
    const { secret } = await test.signIn(member.memberId);
    owner = { secret, token: member.token };
    another = (await test.signIn(member.memberId)).secret;
    const token = { 'x-service-token': member.token };
    return {
      'no cookie': refused(401, 'missing_session', {}),
      'an empty cookie': refused(401, 'missing_session', sessionHeaders('')),
      'a cookie that nobody has': refused(401, 'invalid_session', sessionHeaders('guessed')),
      'the CSRF token of a session without its cookie': refused(401, 'missing_session', {
        'X-CSRF-Token': csrfTokenOf(secret),
      }),
      'the cookie by the name that it has on https alone': refused(401, 'missing_session', {
        ...sessionHeaders(secret),
        Cookie: `__Host-consigliere_session=${secret}`,
      }),
      'the cookie of a session that was ended': refused(
        401,
        'ended_session',
        sessionHeaders(await sessionWith(workspaceId, 'ended_at = now()')),
      ),
      'the cookie of a session that is twelve hours old': refused(
        401,
        'expired_session',
        sessionHeaders(await sessionWith(workspaceId, `expires_at = now() - interval '1 second'`)),
      ),
      'the cookie of a session without a request for half an hour': refused(
        401,
        'expired_session',
        sessionHeaders(await sessionWith(workspaceId, `last_seen_at = now() - interval '31 minutes'`)),
      ),
      'the cookie of a removed member': refused(401, 'ended_session', sessionHeaders(ofRemoved)),
      'an operator token': refused(401, 'missing_session', token),
      'an operator token as Bearer': refused(401, 'missing_session', {
        Authorization: `Bearer ${member.token}`,
      }),
      'an operator token in the cookie': refused(401, 'invalid_session', sessionHeaders(member.token)),
      'an operator token beside a cookie that nobody has': refused(401, 'invalid_session', {
        ...sessionHeaders('guessed'),
        ...token,
      }),
    };
  },
});

const changes = matrix.targets.filter(({ route }) => route.method !== 'GET');

describe.each(changes.map((target) => [target.name, target] as const))('%s', (_name, target) => {
  it('is a 403 without the CSRF token of this very session, and from a page of another site; nothing changes', async () => {
    const forged: Record<string, Outsider> = {
      'no CSRF token': refused(403, 'csrf_token', cookieOf(owner.secret)),
      'an empty one': refused(403, 'csrf_token', { ...cookieOf(owner.secret), 'X-CSRF-Token': '' }),
      'one of another session of the same member': refused(403, 'csrf_token', {
        ...cookieOf(owner.secret),
        'X-CSRF-Token': csrfTokenOf(another),
      }),
      'the secret itself': refused(403, 'csrf_token', {
        ...cookieOf(owner.secret),
        'X-CSRF-Token': owner.secret,
      }),
      'no CSRF token, but an operator token': refused(403, 'csrf_token', {
        ...cookieOf(owner.secret),
        'x-service-token': owner.token,
      }),
      'a page of another site': refused(403, 'foreign_origin', {
        ...sessionHeaders(owner.secret),
        Origin: 'https://evil.example',
        'Sec-Fetch-Site': 'cross-site',
      }),
    };
    expect(await matrix.turnAway(target, forged)).toEqual(turnedAway(target, forged));
  });
});

describe('whoever is signed in to another workspace', () => {
  it('finds nothing of this one: each row is a 404, and nothing changes', async () => {
    const { workspaceId } = await test.createWorkspace();
    const stranger = await test.createMember(workspaceId, 'owner');
    const credentials = sessionHeaders((await test.signIn(stranger.memberId)).secret);
    const named = matrix.targets.filter(({ path }) => path.includes(':'));
    expect(named.length).toBeGreaterThan(20);
    const strangers = { 'an owner of another': { credentials, status: 404, reason: 'not_found' } };
    for (const target of named) {
      const refusal = await matrix.turnAway(target, strangers);
      expect(refusal, target.name).toEqual(turnedAway(target, strangers));
    }
  });
});

describe('every route outside of the admin area', () => {
  it('is a 401 to a cookie without an operator token, whatever CSRF token comes with it; nothing changes', async () => {
    const paths = test.app
      .get(RouteTable)
      .entries.filter(({ policy }) => policy.auth === 'member')
      .flatMap(({ method, paths: all }) => all.map((path) => ({ method, path })))
      .filter(({ path }) => !isAdminPath(path));
    expect(paths.length).toBeGreaterThan(50);
    const before = await matrix.snapshot();
    for (const { method, path } of paths) {
      const client = new Client(test.url, undefined);
      const target = path.replace(/:role\b/, 'ceo').replace(/:[^/]+/g, newId('tok'));
      const answer = await client.send(method, target, undefined, sessionHeaders(owner.secret));
      expect(answer.status, `${method} ${path}`).toBe(401);
      expect(answer.body.reason, `${method} ${path}`).toBe('missing_token');
    }
    expect(await matrix.snapshot()).toEqual(before);
  });
});
