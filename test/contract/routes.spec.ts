import { Controller, Get, Module } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { routeReference } from '../../src/platform/http/documentation.js';
import { isAdminPath } from '../../src/platform/http/admin-path.js';
import { Route } from '../../src/platform/http/route.js';
import { type RouteEntry, RouteTable } from '../../src/platform/http/route-table.js';
import { Client } from '../support/client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { SPECIFIED, type SpecifiedRoute, UNNUMBERED } from './specification.js';

let test: TestApp;
let entries: readonly RouteEntry[];
beforeAll(async () => {
  test = await startTestApp();
  ({ entries } = test.app.get(RouteTable));
});
afterAll(() => test.close());

/** What a parameter is called is no part of a path. */
const shape = (path: string) => path.replace(/\{[^}]+\}|:[^/]+/g, '{}');

function entryOf({ method, paths }: SpecifiedRoute): RouteEntry | undefined {
  return entries.find(
    (entry) => entry.method === method && entry.paths.some((path) => shape(path) === shape(paths[0])),
  );
}

function limitOf({ method, limit }: SpecifiedRoute): readonly [number, number] {
  return limit ?? (method === 'GET' ? UNNUMBERED.read : UNNUMBERED.mutation);
}

const name = ({ method, paths }: SpecifiedRoute) => `${method} ${paths.join(' and ')}`;

/** Calls without a token: refused, but counted, and the headers of limits are on every response. */
function stranger(client: Client, method: string, path: string) {
  return client.send(method, path.replace(/\{[^}]+\}/g, 'x'));
}

describe.each(SPECIFIED.map((route) => [name(route), route] as const))('%s', (_name, specified) => {
  it('exists in every spelling, under its kind of authentication', () => {
    const entry = entryOf(specified);
    expect(entry?.paths.map(shape)).toEqual(expect.arrayContaining(specified.paths.map(shape)));
    expect(entry?.policy.auth).toBe(specified.signed ? 'signature' : 'member');
  });

  it('has its limit', async () => {
    test.clock.stopAtMinute();
    onTestFinished(() => test.clock.goOn());
    const [limit, windowSeconds] = limitOf(specified);
    expect(entryOf(specified)?.limit).toMatchObject({ limit, windowSeconds });
    const client = new Client(test.url, undefined);
    for (const [index, path] of specified.paths.entries()) {
      const answer = await stranger(client, specified.method, path);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('x-ratelimit-limit')).toBe(String(limit));
      // The spellings share one bucket, so the second finds one less.
      expect(answer.headers.get('x-ratelimit-remaining')).toBe(String(limit - 1 - index));
      const left = Number(answer.headers.get('x-ratelimit-reset')) - test.clock.now() / 1000;
      expect(left).toBeGreaterThan(-1);
      expect(left).toBeLessThanOrEqual(windowSeconds + 1);
    }
  });
});

describe('the table of routes of the specification', () => {
  it('is there as a whole', () => {
    expect(SPECIFIED.filter((specified) => entryOf(specified) === undefined).map(name)).toEqual([]);
  });
});

describe('a limit', () => {
  beforeEach(() => test.clock.stopAtMinute());
  afterEach(() => test.clock.goOn());

  it('is shared by the two spellings of the kill switch, and reached through either', async () => {
    const client = new Client(test.url, undefined);
    const spellings = ['/guardian/kill-switch', '/guardian/killswitch'];
    for (let n = 0; n < 30; n++) expect((await client.post(spellings[n % 2]!)).status).toBe(401);
    for (const path of spellings) {
      const answer = await client.post(path);
      expect(answer.status).toBe(429);
      expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect((await client.get('/guardian')).status).toBe(401);
  });

  it('is shared by the methods of a path that the specification gives one number', async () => {
    const client = new Client(test.url, undefined);
    expect((await client.get('/approvals')).headers.get('x-ratelimit-remaining')).toBe('29');
    expect((await client.post('/approvals')).headers.get('x-ratelimit-remaining')).toBe('28');
  });

  it('is 60 reads or 30 mutations a minute where the specification has no number', () => {
    const numbered = new Set(SPECIFIED.filter(({ limit }) => limit).flatMap(({ paths }) => paths));
    const unnumbered = entries.filter(
      ({ policy, paths }) => policy.auth === 'member' && !paths.some((path) => numbered.has(path)),
    );
    expect(unnumbered.length).toBeGreaterThan(0);
    for (const { method, paths, limit, policy } of unnumbered) {
      // Each call that it carries is held to the limit of its own route.
      if (policy.carries) continue;
      // An export reads the whole workspace.
      if (paths[0] === '/api/admin/workspace/export') continue;
      // Agents ask, wait and take up without a person at the other end.
      if (paths[0]!.startsWith('/api/pro/action-requests')) {
        expect(limit).toMatchObject({ limit: 1_200, windowSeconds: 60, bucket: '/api/pro/action-requests' });
        continue;
      }
      // A proxy proposes each tool that its server lists.
      if (method === 'POST' && paths[0] === '/api/pro/tools') {
        expect(limit).toMatchObject({ limit: 300, windowSeconds: 60 });
        continue;
      }
      const [requests, windowSeconds] = method === 'GET' ? UNNUMBERED.read : UNNUMBERED.mutation;
      expect(limit, `${method} ${paths[0]}`).toMatchObject({ limit: requests, windowSeconds });
    }
  });
});

/** What somebody needs who is not signed in yet. */
const OPEN_IN_THE_ADMIN_AREA = new Set([
  'POST /api/admin/session',
  'GET /api/admin/oidc',
  'GET /api/admin/oidc/start',
  'GET /api/admin/oidc/callback',
  'POST /api/admin/password/forgotten',
  'POST /api/admin/password/reset',
]);

describe('the route table', () => {
  it('names no path and method twice', () => {
    const all = entries.flatMap(({ method, paths }) => paths.map((path) => `${method} ${shape(path)}`));
    expect(all.filter((route, index) => all.indexOf(route) !== index)).toEqual([]);
  });

  it('lets nobody in without a token but where it says so', () => {
    const open = entries.filter(({ policy }) => policy.auth !== 'member').flatMap(({ paths }) => paths);
    expect(open.filter((path) => path.startsWith('/api/pro/'))).toEqual([
      '/api/pro/invites/accept',
      '/api/pro/partner/induction',
    ]);
  });

  it('has in the admin area what an admin administers (docs/decisions/0052), and nothing else', () => {
    const paths = entries.flatMap((entry) => entry.paths).filter(isAdminPath);
    const administered = paths.map((path) => path.split('/')[3]);
    expect([...new Set(administered)].toSorted()).toEqual([
      'audit-feed',
      'deliveries',
      'invites',
      'members',
      'oidc',
      'operator-token',
      'partner-secret',
      'password',
      'second-factor',
      'session',
      'sessions',
      'settings',
      'subscription',
      'teams',
      'tokens',
      'webhooks',
      'workspace',
      'workspaces',
    ]);
  });

  it('has for each path of the admin area no credential but a session, and for no other path a session', () => {
    for (const line of routeReference(entries).trimEnd().split('\n')) {
      const [method, path, credential] = line.split(/ +/);
      expect(credential === 'session', line).toBe(
        isAdminPath(path!) && !OPEN_IN_THE_ADMIN_AREA.has(`${method} ${path}`),
      );
    }
  });

  it('is printed with a line for each spelling: method, path, credential, role, scope and limit', () => {
    const lines = routeReference(entries).trimEnd().split('\n');
    expect(lines).toHaveLength(entries.flatMap(({ paths }) => paths).length);
    for (const specified of SPECIFIED) {
      const [limit, windowSeconds] = limitOf(specified);
      for (const path of specified.paths) {
        const line = lines.find((each) => {
          const [method, printed] = each.split(/ +/);
          return method === specified.method && shape(printed!) === shape(path);
        });
        expect(line, name(specified)).toMatch(
          new RegExp(
            ` ${specified.signed ? 'signature +- +-' : 'token +(viewer|operator|admin|owner) +(read|request|operate|decide|admin)'} +${limit}/${windowSeconds}s$`,
          ),
        );
      }
    }
  });
});

describe('a handler without @Route', () => {
  @Controller('throw-away')
  class Undeclared {
    @Get('declared')
    @Route({ auth: 'public', returns: { 200: String } })
    declared(): string {
      return 'declared';
    }

    @Get('forgotten')
    forgotten(): string {
      return 'anyone could read this';
    }
  }

  @Module({ imports: [DiscoveryModule], controllers: [Undeclared], providers: [RouteTable] })
  class ThrowAway {}

  it('keeps the application from starting, and is named', async () => {
    const app = await NestFactory.create(ThrowAway, { logger: false, abortOnError: false });
    await expect(app.listen(0)).rejects.toThrow('handlers without @Route: Undeclared.forgotten');
    await app.close().catch(() => undefined);
  });
});
