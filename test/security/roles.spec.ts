import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../src/platform/auth/caller.js';
import { type RouteEntry, RouteTable } from '../../src/platform/http/route-table.js';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { Client } from '../support/client.js';
import { startTestApp, type TestMember } from '../support/test-app.js';

/**
 * Every route of the program against every role, generated from the route table: a route that is added is tested
 * here without a line. Without a worker, so that what changes is changed by the requests alone.
 */
const test = await startTestApp({ PROCESS_ROLE: 'api' });
afterAll(() => test.close());

/** What an operator token opens; the admin area has a matrix of its own (admin-matrix.spec.ts). */
const routes = test.app
  .get(RouteTable)
  .entries.filter(({ policy }) => policy.auth === 'member')
  .map((route) => ({ ...route, paths: route.paths.filter((path) => !isAdminPath(path)) }))
  .filter(({ paths }) => paths.length > 0);
const named = routes.map((route) => [`${route.method} ${route.paths[0]}`, route] as const);

/** Times of last use are written now and then by the program itself. */
const BESIDE_THE_POINT: Record<string, string[]> = { tokens: ['last_used_at'], members: ['last_seen_at'] };

let snapshotStatement: string;
const members = {} as Record<Role, TestMember>;
const strangers: Record<string, { token: string | undefined; reason: string }> = {};

beforeAll(async () => {
  const { workspaceId } = await test.createWorkspace();
  for (const role of ROLES) members[role] = await test.createMember(workspaceId, role);
  const expired = await test.createMember(workspaceId, 'owner');
  const revoked = await test.createMember(workspaceId, 'owner');
  const removed = await test.createMember(workspaceId, 'owner');
  await test.rows(`update tokens set expires_at = now() - interval '1 second' where member_id = $1`, [
    expired.memberId,
  ]);
  await test.rows('update tokens set revoked_at = now() where member_id = $1', [revoked.memberId]);
  await test.rows(`update members set status = 'removed' where member_id = $1`, [removed.memberId]);
  Object.assign(strangers, {
    'no token': { token: undefined, reason: 'missing_token' },
    'an empty token': { token: '', reason: 'missing_token' },
    'a malformed token': { token: 'cons_nothing', reason: 'invalid_token' },
    'a well-formed token that nobody has': { token: newOperatorToken(), reason: 'invalid_token' },
    'an expired token': { token: expired.token, reason: 'expired_token' },
    'a revoked token': { token: revoked.token, reason: 'revoked_token' },
    'the token of a removed member': { token: removed.token, reason: 'revoked_token' },
  });
  const tables = await test.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
  );
  expect(tables.length).toBeGreaterThan(10);
  snapshotStatement = tables
    .map(({ name }) => {
      const row = [`to_jsonb(t)`, ...(BESIDE_THE_POINT[name] ?? []).map((column) => `'${column}'`)].join(
        ' - ',
      );
      return `select '${name}' as name, count(*), md5(coalesce(string_agg(r, ',' order by r), '')) as content
        from (select (${row})::text as r from "${name}" t) rows`;
    })
    .join(' union all ');
});

/** How many rows each table has, and what is in them. */
const snapshot = () => test.rows(snapshotStatement);

/** An answer's status and body; of a stream only that it began. Each call has an address, and so limits, of its own. */
async function call(token: string | undefined, { method, paths }: RouteEntry, spelling = 0) {
  const path = paths[spelling]!.replace(/:role\b/, 'ceo').replace(
    /:[^/]+/g,
    'none_00000000000000000000000000',
  );
  const response = await fetch(test.url + path, {
    method,
    headers: {
      'X-Forwarded-For': new Client(test.url, token).address,
      ...(token !== undefined && { 'x-service-token': token }),
    },
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, body: undefined };
  }
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

describe('the routes', () => {
  it('are many, and of each role some', () => {
    expect(routes.length).toBeGreaterThan(20);
    expect(routes.map(({ role }) => role)).toEqual(expect.arrayContaining(['viewer', 'operator', 'admin']));
  });

  it('would be seen to change something', async () => {
    const before = await snapshot();
    expect((await members.owner.put('/guardian/mode', { mode: 'supervised' })).status).toBe(200);
    const changed = (await snapshot()).filter(
      (table, index) => table['content'] !== before[index]!['content'],
    );
    expect(changed.map(({ name }) => name)).toEqual(['guardians', 'receipt_heads', 'receipts']);
  });

  it('let a viewer change nothing', () => {
    const mutations = routes.filter(({ method, roles }) => method !== 'GET' && roles.includes('viewer'));
    expect(mutations.map(({ method, paths }) => `${method} ${paths[0]}`)).toEqual([
      // Notes the own device, and nothing else (test/e2e/hydrate/hydrate.spec.ts).
      'POST /api/local/hydrate',
      // Only checks, unless it is given a key (test/e2e/subscription/verify.spec.ts).
      'POST /api/pro/subscription/verify',
    ]);
  });
});

const refusedBy = (route: RouteEntry) => ROLES.filter((role) => !route.roles.includes(role));
const guarded = named.filter(([, route]) => refusedBy(route).length > 0);

describe.each(guarded)('%s', (_name, route) => {
  const refused = refusedBy(route);

  it(`403 for ${refused.join(', ')}, and nothing changes`, async () => {
    const before = await snapshot();
    for (const role of refused) {
      for (const spelling of route.paths.keys()) {
        const answer = await call(members[role].token, route, spelling);
        expect(answer.status, role).toBe(403);
        expect(answer.body.error).toMatchObject({
          code: 'FORBIDDEN',
          details: { requiredRoles: route.roles },
        });
      }
    }
    expect(await snapshot()).toEqual(before);
  });
});

describe.each(named)('%s', (_name, route) => {
  it('401 for whoever has no valid token, with the reason, and nothing changes', async () => {
    const before = await snapshot();
    for (const [who, { token, reason }] of Object.entries(strangers)) {
      for (const spelling of route.paths.keys()) {
        const answer = await call(token, route, spelling);
        expect(answer.status, who).toBe(401);
        expect(answer.body, who).toMatchObject({ error: { code: 'UNAUTHORIZED', status: 401 }, reason });
      }
    }
    expect(await snapshot()).toEqual(before);
  });

  it(`admits ${route.roles.join(', ')}`, async () => {
    for (const role of route.roles) {
      const { status } = await call(members[role].token, route);
      expect([401, 403, 405, 415], role).not.toContain(status);
      expect(status, role).toBeLessThan(500);
    }
  });
});
