import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAdminPath } from '../../../src/platform/http/admin-path.js';
import { RouteTable } from '../../../src/platform/http/route-table.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
beforeAll(async () => {
  test = await startTestApp();
});
afterAll(() => test.close());

const caller = () => new Client(test.url, test.owner.token);

/** The owner as the path wants it, in a session of its own each time: some routes end theirs. */
const callerOf = async (path: string): Promise<Client> => (isAdminPath(path) ? test.signIn() : caller());

/** The routes of members that change something and have no body of their own. */
const bodiless = () =>
  test.app
    .get(RouteTable)
    .entries.filter(
      ({ method, policy, takesBody }) => policy.auth === 'member' && method !== 'GET' && !takesBody,
    )
    .flatMap(({ method, paths }) =>
      paths.map((path) => ({ method, path: path.replace(/:\w+/g, newId('apr')) })),
    );

describe('a route without a documented body', () => {
  it('refuses a body with 422, and names what is in it', async () => {
    expect(bodiless().length).toBeGreaterThan(10);
    for (const { method, path } of bodiless()) {
      const answer = await (
        await callerOf(path)
      ).send(method, path, { output: { body: 'Mine' }, force: true });
      expect(answer.status, `${method} ${path} ${answer.text}`).toBe(422);
      expect(
        answer.body.error.details.map(({ path: at, rule }: { path: string; rule: string }) => [at, rule]),
      ).toEqual([
        ['output', 'unknownProperty'],
        ['force', 'unknownProperty'],
      ]);
    }
  });

  it('takes no body, none in chunks, and an empty object', async () => {
    for (const { method, path } of bodiless()) {
      for (const body of [undefined, {}, ' {} ']) {
        const { status } = await (await callerOf(path)).send(method, path, body);
        expect([401, 422], `${method} ${path}`).not.toContain(status);
      }
    }
  });

  it('approves nothing in another wording than the draft has', async () => {
    const text = 'File this memo for the board: The release is on Friday.';
    const { approvalId } = (await caller().post('/directive', { text })).body;
    await eventually(
      async () => (await caller().get(`/approvals/${approvalId}?wait=10`)).body,
      ({ ready }) => ready === true,
    );
    const approve = (body?: unknown) => caller().post(`/approvals/${approvalId}/approve`, body);
    expect((await approve({ output: { body: 'Another text' } })).status).toBe(422);
    expect((await caller().get(`/approvals/${approvalId}`)).body.status).toBe('pending');
    expect((await approve()).status).toBe(200);
  });
});

describe.each(['GET', 'HEAD'])('%s', (method) => {
  /** `fetch` sends no body with these. */
  async function send(body: string, headers: Record<string, string | number>): Promise<number> {
    const request = httpRequest(`${test.url}/api/pro/guardian`, {
      method,
      headers: { 'x-service-token': test.owner.token!, 'X-Forwarded-For': caller().address, ...headers },
    });
    request.end(body);
    const [response] = await once(request, 'response');
    response.resume();
    return response.statusCode;
  }

  it('refuses a body with 422, whatever its size is declared as', async () => {
    const type = { 'Content-Type': 'application/json' };
    expect(await send('{"a":1}', { ...type, 'Content-Length': 7 })).toBe(422);
    expect(await send('{"a":1}', { ...type, 'Transfer-Encoding': 'chunked' })).toBe(422);
    expect(await send('', { ...type, 'Content-Length': 0 })).toBe(200);
    expect(await send('', { ...type, 'Transfer-Encoding': 'chunked' })).toBe(200);
  });
});
