import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Browser, type Page } from '../../support/browser.js';
import { CLIENT_SECRET, OidcIssuer } from '../../support/oidc-issuer.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { OidcDesk, SESSION_COOKIE, START } from './oidc-desk.js';

const METADATA = '/.well-known/openid-configuration';

let desk: OidcDesk;
/** All applications of one process write to the log of the first. */
let log: TestApp['logs'] | undefined;
let told: number;
beforeEach(async () => {
  desk = await OidcDesk.open();
  log ??= desk.test.logs;
  told = log.length;
});
afterEach(() => desk.close());

/** Answers at this path in the provider's place. */
function at(path: string, answer: (request: IncomingMessage, response: ServerResponse) => void): void {
  desk.issuer.intercept = (request, response) => {
    if (new URL(request.url!, desk.issuer.url).pathname !== path) return false;
    answer(request, response);
    return true;
  };
}

function expectUnavailable(
  page: Page,
  sentence = /cannot be reached at the moment; try again in a minute/,
): void {
  expect(page.status, page.text).toBe(503);
  expect(page.headers.get('retry-after')).toBe('30');
  expect(page.text).toMatch(sentence);
  expect(page.headers.getSetCookie().join()).not.toContain(SESSION_COOKIE);
}

const lines = () => log!.slice(told);
const logged = () =>
  lines()
    .filter(({ msg }) => msg === 'a sign-in by OpenID Connect failed')
    .map(({ oidc }) => oidc);

describe('a provider that is not there', () => {
  it('keeps nothing from starting, and is asked again at the next sign-in', async () => {
    const issuer = await OidcIssuer.start();
    const test = await startTestApp(issuer.environment);
    try {
      const browser = new Browser();
      expectUnavailable(await browser.open(test.url + START));
      expect(logged()).toEqual([{ why: `${issuer.url} answered with status 503` }]);
      issuer.serve(`${test.url}/api/admin/oidc/callback`);
      const page = await browser.open(test.url + START);
      expect(page.url.origin).toBe(issuer.url);
    } finally {
      await test.close();
      await issuer.stop();
    }
  });

  it('that goes away between the beginning and the return says so, and its metadata are kept', async () => {
    const { subject } = desk.person();
    expect((await desk.signIn(subject)).status).toBe(200);
    at('/token', (request) => request.socket.destroy());
    expectUnavailable(await desk.signIn(subject));
    at(METADATA, (request) => request.socket.destroy());
    desk.test.clock.advance(3_600_001);
    expect((await desk.signIn(subject)).status).toBe(200);
    desk.test.clock.goOn();
  });

  it('is asked once by however many sign in at that moment', async () => {
    await Promise.all(Array.from({ length: 20 }, () => desk.begin(new Browser())));
    expect(desk.issuer.asked(METADATA)).toHaveLength(1);
  });
});

describe('a provider that answers something else', () => {
  it.each([
    [
      'another issuer',
      (metadata: Record<string, unknown>) => ({ ...metadata, issuer: 'https://evil.example' }),
    ],
    ['no token endpoint', ({ token_endpoint: _endpoint, ...rest }: Record<string, unknown>) => rest],
    [
      'a token endpoint by plain http that nobody listed',
      (metadata: Record<string, unknown>) => ({ ...metadata, token_endpoint: 'http://127.0.0.1:9/token' }),
    ],
  ])('as its metadata (%s) signs nobody in', async (_case, change) => {
    const metadata = (await (await fetch(desk.issuer.url + METADATA)).json()) as Record<string, unknown>;
    at(METADATA, (_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(change(metadata)));
    });
    const browser = new Browser();
    const first = await desk.begin(browser);
    const page =
      first.url.origin === desk.issuer.url
        ? await browser.submit(first, { login: desk.person().subject })
        : first;
    expectUnavailable(page);
    expect(await desk.test.rows('select * from sessions')).toEqual([]);
    expect(desk.issuer.asked('/token')).toEqual([]);
  });

  it('to the question for its metadata, in whatever way, cannot be reached', async () => {
    const json = { 'Content-Type': 'application/json' };
    const answers: [string, (response: ServerResponse) => void][] = [
      ['an error', (response) => response.writeHead(500).end()],
      ['not found', (response) => response.writeHead(404).end('{}')],
      ['a page', (response) => response.writeHead(200).end('<html>')],
      ['no JSON', (response) => response.writeHead(200, json).end('{')],
      ['a megabyte', (response) => response.writeHead(200, json).end(`{"a":"${'x'.repeat(1_000_000)}"}`)],
      [
        'something packed',
        (response) => response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(Buffer.alloc(9)),
      ],
    ];
    for (const [index, [what, answer]] of answers.entries()) {
      at(METADATA, (_request, response) => answer(response));
      expectUnavailable(await desk.begin(new Browser()));
      expect(logged(), what).toHaveLength(index + 1);
    }
  });

  it('is left after five seconds when it answers nothing', { timeout: 20_000 }, async () => {
    const hanging: ServerResponse[] = [];
    at(METADATA, (_request, response) => void hanging.push(response));
    expectUnavailable(await desk.begin(new Browser()));
    expect(hanging).toHaveLength(1);
    for (const response of hanging) response.end();
  });

  it('is followed nowhere: neither for its metadata nor with the secret of the client', async () => {
    const target = await OidcIssuer.start();
    const redirect = (_request: IncomingMessage, response: ServerResponse) =>
      void response.writeHead(307, { Location: `${target.url}/elsewhere` }).end();
    try {
      at(METADATA, redirect);
      expectUnavailable(await desk.begin(new Browser()));
      at('/token', redirect);
      expectUnavailable(await desk.signIn(desk.person().subject));
      expect(target.received).toEqual([]);
    } finally {
      await target.stop();
    }
  });
});

describe('a provider that refuses', () => {
  it('says that it cannot sign anybody in now: 503', async () => {
    const page = await desk.signIn(desk.person().subject, { error: 'temporarily_unavailable' });
    expectUnavailable(page, /cannot sign anybody in at the moment/);
  });

  it('the secret of the client: 503, and the log says why without the secret', async () => {
    at('/token', (_request, response) => {
      const said = { error: 'invalid_client', error_description: 'client authentication failed' };
      response.writeHead(401, { 'Content-Type': 'application/json' }).end(JSON.stringify(said));
    });
    expectUnavailable(await desk.signIn(desk.person().subject), /does not accept this service/);
    expect(logged()).toEqual([
      expect.objectContaining({ code: 'invalid_client', said: 'client authentication failed' }),
    ]);
    expect(JSON.stringify(lines())).not.toContain(CLIENT_SECRET);
  });
});

describe('the log', () => {
  it('holds neither codes nor tokens nor what they say about a person', async () => {
    const { subject, email } = desk.person();
    const secrets: string[] = [];
    desk.issuer.tamper = (answer) => {
      secrets.push(String(answer['access_token']), String(answer.id_token));
      return answer;
    };
    const browser = new Browser();
    await desk.signIn(subject, { browser });
    desk.issuer.people.set(subject, { email, email_verified: false });
    expect((await desk.signIn(subject)).status).toBe(403);
    desk.issuer.tamper = (answer) => ({
      ...answer,
      id_token: desk.issuer.forge(answer.id_token, { claims: { nonce: 'another' } }),
    });
    expect((await desk.signIn(subject)).status).toBe(401);
    const codes = browser.visited.flatMap(({ searchParams }) => searchParams.get('code') ?? []);
    expect(codes).toHaveLength(1);
    expect(logged()).toHaveLength(1);
    const written = JSON.stringify(lines());
    for (const secret of [...secrets, ...codes, email, subject]) expect(written).not.toContain(secret);
  });
});

describe('OIDC_WORKSPACE', () => {
  it('that is not there: 503, whoever signs in', async () => {
    const other = await OidcDesk.open({ environment: { OIDC_WORKSPACE: newId('wks') } });
    try {
      const before = await other.stored();
      const page = await other.signIn(other.person().subject);
      expect(page.status).toBe(503);
      expect(page.text).toContain('The workspace for sign-in does not exist');
      expect(await other.stored()).toBe(before);
    } finally {
      await other.close();
    }
  });
});
