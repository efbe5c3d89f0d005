import { newId } from '../../src/platform/kernel/ids.js';
import { rotateSecret } from '../e2e/partner/partner-desk.js';
import type { TestApp } from '../support/test-app.js';
import type { Act, Acts } from './matrix.js';
import { ACTS } from './matrix-acts.js';
import { ofWorkspace, type Place } from './matrix-rights.js';
import type { MatrixRows, RowKind } from './matrix-rows.js';

const WHOLE: readonly Place[] = ['the workspace'];
const WHOLE_OR_FOREIGN: readonly Place[] = ['the workspace', 'other workspace'];

/** What every member who is signed in may do. */
const ANYONE: Act = { right: ofWorkspace('viewer'), places: WHOLE };
const ADMINISTER: Act = { right: ofWorkspace('admin'), places: WHOLE };

/** Sessions go by the tokens of their members: under the same id but for its prefix. */
const sessionOf = (tokenId: string) => tokenId.replace('tok_', 'ses_');

/** The sessions that acts are about: one beside each token that the matrix made. */
export async function leaveSessions({ rows }: TestApp): Promise<void> {
  await rows(
    `insert into sessions (session_id, workspace_id, member_id, user_id, secret_hash, method, second_factor, address,
       created_at, last_seen_at, expires_at)
     select replace(t.token_id, 'tok_', 'ses_'), m.workspace_id, m.member_id, m.user_id, md5(t.token_id), 'password', false,
       '127.0.0.1', now(), now(), now() + interval '12 hours'
     from tokens t join members m on m.member_id = t.member_id`,
  );
}

const openAgain = ({ test }: MatrixRows) => test.rows('update sessions set ended_at = null');

/** A session of somebody else; to whoever may not end it there is none. */
const session = (what: string, row: RowKind, least: 'admin' | 'owner'): Act => ({
  what,
  right: ofWorkspace(least, 'viewer'),
  isHidden: true,
  row,
  places: WHOLE_OR_FOREIGN,
  request: ({ id }) => ({ params: { id: sessionOf(id) } }),
  after: openAgain,
});

/** Members of the matrix have no password and no authenticator: this is as far as they come with their own account. */
const ofOwnAccount = (lacks: string, body: object): Act => ({ ...ANYONE, lacks, request: () => ({ body }) });
const PASSWORD = 'correct horse battery staple';

/** What no statement of the program can do: the first workspace stays the first. */
const makeFirst = ({ rows }: TestApp, workspaceId: string) =>
  rows(`
    begin;
    set local session_replication_role = replica;
    update workspaces set is_first = false where is_first;
    update workspaces set is_first = true where workspace_id = '${workspaceId}';
    commit`);

/** Makes the workspace of the matrix the first of the service, and the one that it was before. */
const asFirst: Pick<Act, 'alone' | 'before' | 'after'> = {
  alone: true,
  before: ({ test, workspaceId }) => makeFirst(test, workspaceId),
  after: ({ test }) => makeFirst(test, test.workspaceId),
};

const OWN_IT: Act = { right: ofWorkspace('owner'), places: WHOLE };

/** A workspace that nobody has joined. */
const UNJOINED = 'wks_01m8000000000000000000000a';
const MATRIX_NAME = 'Matrix';

const TENANCY: Acts = {
  'GET /workspaces': { ...OWN_IT, ...asFirst },
  'POST /workspaces': {
    ...OWN_IT,
    ...asFirst,
    request: () => ({ body: { name: newId('wks'), ownerEmail: `${newId('usr')}@example.com` } }),
  },
  'POST /workspaces/:workspaceId/invite': {
    ...OWN_IT,
    ...asFirst,
    before: async (rows) => {
      await rows.test.rows(
        `insert into workspaces (workspace_id, name, tier) values ($1, 'Unjoined', 'pro') on conflict do nothing`,
        [UNJOINED],
      );
      await asFirst.before!(rows);
    },
    request: () => ({
      params: { workspaceId: UNJOINED },
      body: { ownerEmail: `${newId('usr')}@example.com` },
    }),
  },
  'GET /workspace/export': { ...OWN_IT, alone: true },
  'GET /workspace/deletion': OWN_IT,
  'POST /workspace/deletion': {
    ...OWN_IT,
    before: async ({ test, workspaceId }) => {
      await test.rows('update workspaces set name = $2 where workspace_id = $1', [workspaceId, MATRIX_NAME]);
      await test.rows(
        `insert into workspace_exports (export_id, workspace_id, asked_by, started_at, completed_at, sha256, head_seq, head_hash)
         values ($2, $1, '{}', now(), now(), '', 0, '')`,
        [workspaceId, newId('exp')],
      );
    },
    request: () => ({ body: { name: MATRIX_NAME, confirm: MATRIX_NAME } }),
    after: async ({ test, workspaceId, desk }) => {
      await test.rows('delete from workspace_deletions where workspace_id = $1', [workspaceId]);
      await test.rows('update receipt_heads set read_only = false where workspace_id = $1', [workspaceId]);
      await desk.revert();
    },
  },
  'DELETE /workspace/deletion': {
    ...OWN_IT,
    before: ({ test, workspaceId }) =>
      test.rows(`insert into workspace_deletions values ($1, '{}', now(), 'infinity', false)`, [workspaceId]),
  },
};

/** What the admin area has alone, with a valid request for it. */
const OWN: Acts = {
  'GET /session': ANYONE,
  'DELETE /session': { ...ANYONE, after: openAgain },
  'POST /session/workspace': ofOwnAccount('NOT_FOUND', { workspaceId: `wks_${'0'.repeat(26)}` }),
  'POST /operator-token': ANYONE,
  'GET /sessions': ANYONE,
  'DELETE /sessions/:id': [
    session('of a viewer', 'token of a viewer', 'admin'),
    session('of an owner', 'token of an owner', 'owner'),
  ],
  'PUT /password': ofOwnAccount('WRONG_PASSWORD', {
    currentPassword: PASSWORD,
    newPassword: 'nineteen pears on a slow train',
  }),
  'GET /second-factor': ANYONE,
  'POST /second-factor': ofOwnAccount('WRONG_PASSWORD', { password: PASSWORD }),
  'POST /second-factor/confirm': ofOwnAccount('NO_SECOND_FACTOR', { code: '123456' }),
  'POST /second-factor/verify': ofOwnAccount('NO_SECOND_FACTOR', { code: '123456' }),
  'POST /second-factor/recovery-codes': ofOwnAccount('WRONG_PASSWORD', {
    password: PASSWORD,
    code: '123456',
  }),
  'DELETE /second-factor': ofOwnAccount('WRONG_PASSWORD', { password: PASSWORD, code: '123456' }),
  'GET /workspace': ANYONE,
  'PATCH /workspace': {
    right: ofWorkspace('owner'),
    places: WHOLE,
    request: () => ({ body: { name: newId('wks') } }),
  },
  'GET /partner-secret': {
    ...ADMINISTER,
    before: ({ test, workspaceId }) => rotateSecret(test, workspaceId),
  },
  'POST /partner-secret/rotate': ADMINISTER,
};

/** Every act of `/api/admin`: those that it shares with `/api/pro` are the same. */
export const ADMIN_ACTS: Acts = { ...ACTS, ...OWN, ...TENANCY };
