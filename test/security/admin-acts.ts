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

/** What the admin area has alone, with a valid request for it. */
const OWN: Acts = {
  'GET /session': ANYONE,
  'DELETE /session': { ...ANYONE, after: openAgain },
  'POST /operator-token': ANYONE,
  'GET /sessions': ANYONE,
  'DELETE /sessions/:id': [
    session('of a viewer', 'token of a viewer', 'admin'),
    session('of an owner', 'token of an owner', 'owner'),
  ],
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
export const ADMIN_ACTS: Acts = { ...ACTS, ...OWN };
