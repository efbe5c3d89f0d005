import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RouteTable } from '../../src/platform/http/route-table.js';
import { startTestApp } from '../support/test-app.js';
import { ACTS } from './matrix-acts.js';

const test = await startTestApp();
afterAll(() => test.close());

const SCOPES = ['read', 'request', 'operate', 'decide', 'admin'] as const;
type Scope = (typeof SCOPES)[number];

/** As docs/guides/agents.md has it: what each scope opens. Nothing here is taken from the program. */
const OPENS: Record<Scope, readonly Scope[]> = {
  read: ['read'],
  request: ['request'],
  operate: ['read', 'request', 'operate'],
  decide: ['read', 'decide'],
  admin: ['read', 'request', 'operate', 'admin'],
};
/** What is not as its method and the roles of the matrix say. */
const DECLARED: Record<string, Scope | Scope[]> = {
  'GET /action-requests': ['read', 'request'],
  'GET /action-requests/:actionRequestId': ['read', 'request'],
  'GET /questions': ['read', 'request'],
  'GET /questions/:questionId': ['read', 'request'],
  'POST /hydrate': 'read',
  'POST /approvals': 'decide',
  'PATCH /approvals/:approvalId': 'decide',
  'POST /approvals/:approvalId/approve': 'decide',
  'POST /approvals/:approvalId/reject': 'decide',
  'POST /approvals/:approvalId/respond': 'decide',
  'POST /escalations/decide': 'decide',
  'POST /action-requests': 'request',
  'POST /action-requests/:actionRequestId/consume': 'request',
  'POST /action-requests/:actionRequestId/result': 'request',
  'POST /action-requests/:actionRequestId/cancel': 'request',
  'POST /questions': 'request',
  'POST /tools': 'request',
  'POST /questions/:questionId/cancel': 'request',
};
const ADMINS = ['admin', 'owner'];

/** Any of these opens it. */
function scopesOf(key: string): Scope[] {
  if (DECLARED[key]) return [DECLARED[key]].flat();
  if (key.startsWith('GET ')) return ['read'];
  const rights = [ACTS[key]!].flat().map(({ right }) => right.admits ?? right.least);
  return rights.every((least) => ADMINS.includes(least)) ? ['admin'] : ['operate'];
}

const routes = test.app
  .get(RouteTable)
  .entries.filter(({ policy }) => policy.auth === 'member')
  .flatMap(({ method, paths }) => paths.map((path) => ({ method, path })))
  .filter(({ path }) => /^\/api\/(?:pro|local)\//.test(path))
  .map(({ method, path }) => ({
    method,
    path,
    scopes: scopesOf(`${method} ${path.replace(/^\/api\/[a-z]+/, '')}`),
  }));

const tokens: Record<string, string> = {};
beforeAll(async () => {
  const make = async (body: object) => (await test.owner.post('/tokens', { name: 'x', ...body })).body.token;
  for (const scope of SCOPES) tokens[scope] = await make({ scopes: [scope] });
  tokens.agent = await make({ agent: { name: 'Robot' }, tools: ['crm.*'] });
});

/** Beyond admission it is refused for its body, so that whatever is let through does nothing. */
async function call(token: string, method: string, path: string) {
  const response = await fetch(test.url + path.replace(/:\w+/g, 'none'), {
    method,
    headers: {
      'x-service-token': token,
      'X-Forwarded-For': `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`,
      'Content-Type': 'application/json',
    },
    ...(method !== 'GET' && { body: JSON.stringify({ unknown: true }) }),
  });
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return { status: response.status, error: undefined };
  }
  const text = await response.text();
  const { requestId: _requestId, ...body } = JSON.parse(text);
  return { status: response.status, error: body.error as { details?: unknown } | undefined, body };
}

describe.each(SCOPES)('a token with the scope %s', (scope) => {
  it(`opens of ${routes.length} routes those of the table`, { timeout: 60_000 }, async () => {
    const before = await test.rows('select count(*) from receipts');
    const opened = await Promise.all(
      routes.map(async ({ method, path }) => {
        const { status } = await call(tokens[scope]!, method, path);
        return [`${method} ${path}`, status !== 403] as const;
      }),
    );
    const expected = routes.map(({ method, path, scopes }) => [
      `${method} ${path}`,
      scopes.some((needed) => OPENS[scope].includes(needed)),
    ]);
    expect(opened).toEqual(expected);
    expect(await test.rows('select count(*) from receipts')).toEqual(before);
  });
});

describe('a token with a scope that is not enough', () => {
  it('is told which are', async () => {
    const answer = await call(tokens.read!, 'POST', '/api/pro/ack');
    expect(answer.error).toMatchObject({
      code: 'FORBIDDEN',
      message: 'This token is limited to read, and this needs operate or admin.',
      details: { requiredScopes: ['operate', 'admin'] },
    });
  });
});

describe('the token of an agent', () => {
  it('is told the same of every route but those of its scope, whether or not there is one', async () => {
    const unknown = [
      { method: 'GET', path: '/api/pro/nowhere' },
      { method: 'DELETE', path: '/api/pro/agents' },
      { method: 'GET', path: '/nowhere' },
    ];
    const answers = await Promise.all(
      [...routes.filter(({ scopes }) => !scopes.includes('request')), ...unknown].map(
        async ({ method, path }) => [`${method} ${path}`, await call(tokens.agent!, method, path)] as const,
      ),
    );
    const [, first] = answers[0]!;
    expect([first.status, first.error]).toEqual([
      403,
      expect.not.objectContaining({ details: expect.anything() }),
    ]);
    for (const [name, answer] of answers) expect(answer, name).toEqual(first);
  });
});
