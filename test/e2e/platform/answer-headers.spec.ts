import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

let test: TestApp;
let secure: TestApp;
beforeAll(async () => {
  test = await startTestApp({ PROCESS_ROLE: 'api' });
  secure = await startTestApp({ PROCESS_ROLE: 'api', PUBLIC_URL: 'https://consigliere.example.com' });
});
afterAll(async () => {
  await test.close();
  await secure.close();
});

const caller = () => new Client(test.url, test.owner.token);

describe('Cache-Control', () => {
  it.each<[number, string, string, unknown?]>([
    [200, 'GET', '/context'],
    [200, 'GET', '/openapi.json'],
    [200, 'GET', '/health/live'],
    [201, 'POST', '/directive', { text: 'x' }],
    [400, 'POST', '/directive', '{'],
    [404, 'GET', '/directives/dir_00000000000000000000000000'],
    [404, 'GET', '/nowhere'],
    [405, 'PATCH', '/guardian'],
    [422, 'POST', '/directive', {}],
  ])('is no-store on a %i: %s %s', async (status, method, path, body) => {
    const answer = await caller().send(method, path, body);
    expect(answer.status, answer.text).toBe(status);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('is no-store for a stranger', async () => {
    const answer = await new Client(test.url, undefined).get('/context');
    expect(answer.status).toBe(401);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

describe('the page of the reference', () => {
  const policy = async ({ app }: TestApp) =>
    (await new Client(await app.getUrl(), undefined).get('/docs')).headers.get('content-security-policy')!;

  it('asks for its assets as it was asked for itself, where nothing says that there is https', async () => {
    expect(await policy(test)).not.toContain('upgrade-insecure-requests');
    expect(await policy(test)).toContain("script-src 'self'");
  });

  it('asks for them by https where PUBLIC_URL does', async () => {
    expect(await policy(secure)).toContain('upgrade-insecure-requests');
  });
});
