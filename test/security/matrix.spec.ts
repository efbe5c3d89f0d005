import { afterAll, describe, expect, it } from 'vitest';
import { newOperatorToken } from '../../src/platform/kernel/operator-token.js';
import { startTestApp } from '../support/test-app.js';
import { describeMatrix } from './matrix.js';
import { ACTS, OUTBOUND_ALLOW, SKILL_PACK_PUBLISHERS } from './matrix-acts.js';

const test = await startTestApp({ OUTBOUND_ALLOW, SKILL_PACK_PUBLISHERS });
afterAll(() => test.close());

const bearing = (token: string) => ({ 'x-service-token': token });

const matrix = describeMatrix({
  test,
  prefixes: ['/api/pro', '/api/local'],
  acts: ACTS,
  credentialsOf: async ({ token }) => bearing(token),
  async outsiders({ workspaceId }) {
    const owners = await Promise.all([1, 2, 3].map(() => test.createMember(workspaceId, 'owner')));
    const [expired, revoked, removed] = owners.map(({ memberId }) => memberId);
    await test.rows(`update tokens set expires_at = now() - interval '1 second' where member_id = $1`, [
      expired,
    ]);
    await test.rows('update tokens set revoked_at = now() where member_id = $1', [revoked]);
    await test.rows(`update members set status = 'removed' where member_id = $1`, [removed]);
    const refused = (reason: string, credentials: Record<string, string>) => ({
      credentials,
      status: 401,
      reason,
    });
    return {
      'no token': refused('missing_token', {}),
      'an empty token': refused('missing_token', bearing('')),
      'a malformed token': refused('invalid_token', bearing('cons_nothing')),
      'a token that nobody has': refused('invalid_token', bearing(newOperatorToken())),
      'an expired token': refused('expired_token', bearing(owners[0]!.token)),
      'a revoked token': refused('revoked_token', bearing(owners[1]!.token)),
      'the token of a removed member': refused('revoked_token', bearing(owners[2]!.token)),
    };
  },
});

/**
 * One notes the own device, one says what oneself is mailed, one only checks unless it is given a key, and one pauses the
 * own token; none changes anything of others.
 */
const OPEN_TO_VIEWERS = [
  'POST /api/local/hydrate',
  'PUT /api/pro/profile/notifications',
  'POST /api/pro/subscription/verify',
  'POST /api/pro/tokens/:id/pause',
];

describe('a viewer', () => {
  it('may change nothing', () => {
    const changes = matrix.cells.filter(
      ({ target, member, expected }) =>
        target.route.method !== 'GET' &&
        !OPEN_TO_VIEWERS.includes(target.name) &&
        member.role === 'viewer' &&
        member.teamRole !== 'operator' &&
        member.teamRole !== 'admin' &&
        expected === 'may',
    );
    expect(changes.map(({ target, name }) => `${target.name}: ${name}`)).toEqual([]);
    const mutations = matrix.targets.filter(({ route }) => route.method !== 'GET');
    expect(mutations.filter(({ route }) => route.roles.includes('viewer')).map(({ name }) => name)).toEqual(
      OPEN_TO_VIEWERS,
    );
  });
});
