import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { exportJWK, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson, sha256 } from '../../../src/platform/kernel/canonical-json.js';
import { newId } from '../../../src/platform/kernel/ids.js';
import { Client } from '../../support/client.js';
import { allFound } from '../../support/programs.js';
import { eventually, startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';
import { endExamples, Example, EXAMPLES } from './example-process.js';

const run = promisify(execFile);

/** A Python that has PyJWT with the algorithms of permits, as `apt install python3-jwt python3-cryptography` brings it. */
async function pythonWithJwt(): Promise<string | undefined> {
  for (const program of ['python3', '/usr/bin/python3']) {
    const found = await run(program, ['-c', 'import jwt, cryptography']).catch(() => undefined);
    if (found) return program;
  }
  return undefined;
}
const python = await pythonWithJwt();
const hasPython = allFound('examples/agents in Python', { 'Python with PyJWT and cryptography': python });

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

let test: TestApp;
let admin: TestMember;
let agent: Client;
let token: string;
let folder: string;

/** Between the guard and the service. `around` may act before and after what is forwarded, or lose the answer. */
let proxy: Server;
let proxyUrl: string;
let around: (path: string, forwarded: () => Promise<Response>) => Promise<Response | 'lost'>;
const direct: typeof around = (_path, forwarded) => forwarded();
around = direct;

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
/** Where a tool's server finds keys by which the tests can sign whatever they like. */
let issuer: Server;
let issuerUrl: string;

async function forward(request: IncomingMessage, body: Buffer): Promise<Response> {
  const headers = request.headers as Record<string, string>;
  return fetch(test.url + request.url, {
    method: request.method!,
    headers: { 'x-service-token': headers['x-service-token']!, 'Content-Type': 'application/json' },
    ...(body.length > 0 && { body }),
  });
}

beforeAll(async () => {
  test = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'consigliere-examples-'));
  admin = await test.createMember(test.workspaceId, 'admin');
  const made = await admin.post('/tokens', { name: 'Refunds', agent: { name: 'Refunds' }, tools: ['crm.*'] });
  expect(made.status, made.text).toBe(201);
  ({ token } = made.body);
  agent = new Client(test.url, token);
  const names = ['order', 'amount', 'note', 'tiny', 'large', '🙂'];
  const properties = Object.fromEntries(names.map((name) => [name, {}]));
  const paramsSchema = { type: 'object', properties };
  const tool = { name: 'crm.refund', paramsSchema, reversibility: 'irreversible', risk: 'high' };
  expect((await admin.post('/tools', tool)).status).toBe(201);
  proxy = createServer((request, response) => {
    const passOn = async () => {
      const body = await buffer(request);
      const answer = await around(request.url!, () => forward(request, body));
      if (answer === 'lost') response.destroy();
      else response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text());
    };
    passOn().catch(() => response.destroy());
  });
  proxyUrl = await listening(proxy);
  const jwk = { ...(await exportJWK(publicKey)), kid: 'test', alg: 'EdDSA', use: 'sig' };
  const keys = [jwk, { ...(await exportJWK(rsa.publicKey)), kid: 'rsa' }];
  issuer = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  issuerUrl = await listening(issuer);
});
afterEach(() => {
  around = direct;
});

/** The record of what was asked for with this id. */
async function requestOf(externalId: string): Promise<any> {
  const { actionRequestId } = await eventually(
    async () =>
      (await agent.get('/action-requests?limit=100')).body.items.find(
        (one: any) => one.externalId === externalId,
      ),
    (one) => one !== undefined,
  );
  return (await agent.get(`/action-requests/${actionRequestId}`)).body;
}

async function waiting(externalId: string): Promise<{ approvalId: string; contentHash: string }> {
  return (await admin.get(`/approvals/${(await requestOf(externalId)).approvalId}`)).body;
}

const approve = async (externalId: string) =>
  admin.post(`/approvals/${(await waiting(externalId)).approvalId}/approve`);
afterAll(async () => {
  await endExamples();
  for (const server of [proxy, issuer]) server.closeAllConnections();
  proxy.close();
  issuer.close();
  await test.close();
  await rm(folder, { recursive: true, force: true });
});

const LANGUAGES = [
  {
    language: 'TypeScript',
    program: process.execPath,
    guardFile: 'guard.ts',
    serverFile: 'tool-server.ts',
    isHere: true,
  },
  {
    language: 'Python',
    program: python ?? '',
    guardFile: 'guard.py',
    serverFile: 'tool_server.py',
    isHere: hasPython,
  },
];

describe.each(LANGUAGES.filter(({ isHere }) => isHere))(
  'the examples in $language',
  ({ language, program, guardFile, serverFile }) => {
    let tool: Example;
    let toolUrl: string;

    async function startTool(consigliereUrl: string): Promise<[Example, string]> {
      const server = new Example(program, serverFile, [], {
        CONSIGLIERE_URL: consigliereUrl,
        WORKSPACE_ID: test.workspaceId,
        USED_PERMITS: join(folder, `${language} ${new URL(consigliereUrl).port}`),
        PORT: '0',
      });
      const [line] = await eventually(
        async () => server.lines,
        ({ length }) => length > 0,
      );
      return [server, line!.replace('The tool listens on ', '')];
    }
    beforeAll(async () => {
      [tool, toolUrl] = await startTool(test.url);
    });

    const ask = (order: string, params: object = {}, at = toolUrl) =>
      new Example(
        program,
        guardFile,
        [order, 'crm.refund', JSON.stringify({ order, ...params }), 'It came back.'],
        {
          CONSIGLIERE_URL: proxyUrl,
          CONSIGLIERE_TOKEN: token,
          TOOL_URL: at,
        },
      );
    const doneBy = ({ lines }: Example, order: string): object[] =>
      lines
        .filter((line) => line.startsWith('refund '))
        .map((line) => JSON.parse(line.slice('refund '.length)))
        .filter((params) => params.order === order);
    /** The tool answers before its line has come through the pipe. */
    const doneOnce = (example: Example, order: string) =>
      eventually(
        async () => doneBy(example, order),
        (done) => done.length > 0,
      );
    const call = (url: string, permit: string | undefined, params: unknown, name = 'crm.refund') =>
      fetch(`${url}/${name}`, {
        method: 'POST',
        headers: permit === undefined ? {} : { Authorization: `Permit ${permit}` },
        body: JSON.stringify(params),
      });

    it('lets what a person made of the parameters reach the tool, once, and tells its result', async () => {
      const order = newId('req');
      const guard = ask(order, { amount: 900, note: 'Grüße 🙂' });
      const { approvalId, contentHash } = await waiting(order);
      const params = {
        order,
        amount: 90.5,
        tiny: 1e-7,
        large: -9007199254740991,
        note: 'Zoë 🙂 \u2028 "so"',
        '🙂': [true, null, -0.0001],
      };
      const edited = await admin.send(
        'PATCH',
        `/approvals/${approvalId}`,
        { params },
        { 'If-Match': `"${contentHash}"` },
      );
      expect(edited.status, edited.text).toBe(200);
      await admin.post(`/approvals/${approvalId}/approve`, undefined, {
        'If-Match': `"${edited.body.contentHash}"`,
      });
      expect(await guard.ended).toEqual({ code: 0, output: 'completed' });
      expect(await doneOnce(tool, order)).toEqual([params]);
      expect(await requestOf(order)).toMatchObject({
        status: 'completed',
        decision: { params, decidedBy: { id: admin.memberId } },
        result: { outcome: 'succeeded', output: { refunded: order } },
      });
      expect(await ask(order, { amount: 900, note: 'Grüße 🙂' }).ended).toEqual({
        code: 0,
        output: 'completed',
      });
      expect(doneBy(tool, order)).toHaveLength(1);
    });

    it('tell the beginning of an output that no result takes', async () => {
      for (const output of [{ rows: ['"ü🙂'.repeat(5_000)] }, ['done']]) {
        const large = createServer((_request, response) => response.end(JSON.stringify(output)));
        const order = newId('req');
        const guard = ask(order, {}, await listening(large));
        await approve(order);
        expect(await guard.ended).toEqual({ code: 0, output: 'completed' });
        large.close();
        const { beginning } = (await requestOf(order)).result.output;
        expect(beginning.slice(0, 7)).toMatch(/^\{"rows"|^\["done"/);
      }
    });

    it('act on no rejection', async () => {
      const order = newId('req');
      const guard = ask(order);
      await admin.post(`/approvals/${(await waiting(order)).approvalId}/reject`, { feedback: 'No.' });
      expect(await guard.ended).toEqual({ code: 1, output: 'rejected' });
      expect(doneBy(tool, order)).toEqual([]);
    });

    it('act on nothing when the kill switch comes between the approval and the consume', async () => {
      const order = newId('req');
      around = async (path, forwarded) => {
        if (path.endsWith('/consume')) await test.owner.post('/guardian/kill-switch', { reason: 'Stop.' });
        return forwarded();
      };
      const guard = ask(order);
      await approve(order);
      const { code, output } = await guard.ended;
      expect([code, output.includes('GUARDIAN_HALTED')]).toEqual([1, true]);
      await test.owner.post('/guardian/revert', { reason: 'Go on.' });
      await eventually(
        () => test.owner.get('/guardian'),
        ({ body }) => body.mode === 'guardrailed',
      );
      expect(await ask(order).ended).toEqual({ code: 1, output: 'cancelled' });
      expect(doneBy(tool, order)).toEqual([]);
    });

    it('act once when the answer of the consume is lost', async () => {
      const order = newId('req');
      let lost = 0;
      around = async (path, forwarded) => {
        const answer = await forwarded();
        return path.endsWith('/consume') && lost++ === 0 ? 'lost' : answer;
      };
      const guard = ask(order);
      await approve(order);
      expect(await guard.ended).toEqual({ code: 0, output: 'completed' });
      expect([lost, doneBy(tool, order).length]).toEqual([2, 1]);
    });

    it('never act on what another attempt has consumed, nor after dying between consume and act', async () => {
      const [taken, died] = [newId('req'), newId('req')];
      around = async (path, forwarded) => {
        if (!path.endsWith('/consume')) return forwarded();
        const { paramsHash } = await requestOf(taken);
        await agent.post(path, { attempt: randomBytes(16).toString('hex'), paramsHash });
        return forwarded();
      };
      const late = ask(taken);
      await approve(taken);
      const { code, output } = await late.ended;
      expect([code, output.includes('ALREADY_CONSUMED')]).toEqual([1, true]);

      around = async (path, forwarded) => {
        const answer = await forwarded();
        if (path.endsWith('/consume')) await dying.kill();
        return answer;
      };
      const dying = ask(died);
      await approve(died);
      expect((await dying.ended).code).toBeNull();
      for (const order of [taken, died]) {
        expect(await ask(order).ended).toEqual({ code: 1, output: 'consumed' });
        expect(doneBy(tool, order)).toEqual([]);
      }
    });

    it('take a permit once, for exactly its parameters, also after the tool has started again', async () => {
      const order = newId('req');
      const params = { order, amount: 25 };
      const { actionRequestId, paramsHash, approvalId } = (
        await agent.post('/action-requests', { tool: 'crm.refund', params })
      ).body;
      await admin.post(`/approvals/${approvalId}/approve`);
      const attempt = `${randomBytes(16).toString('hex')}/../x`;
      const { permit } = (
        await agent.post(`/action-requests/${actionRequestId}/consume`, { attempt, paramsHash })
      ).body;
      const statusOf = async (...args: Parameters<typeof call>) => (await call(...args)).status;
      expect(await statusOf(toolUrl, undefined, params)).toBe(403);
      expect(await statusOf(toolUrl, permit, { ...params, amount: 26 })).toBe(403);
      expect(await statusOf(toolUrl, permit, { ...params, more: 1 })).toBe(403);
      expect(await statusOf(toolUrl, permit, { ...params, amount: 2 ** 53 + 2 })).toBe(403);
      expect(await statusOf(toolUrl, permit, params, 'crm.other')).toBeGreaterThan(400);
      expect(doneBy(tool, order)).toEqual([]);
      const both = await Promise.all([
        call(toolUrl, permit, params),
        call(toolUrl, permit, { amount: 25, order }),
      ]);
      expect(both.map(({ status }) => status).toSorted(), await both[0]!.text()).toEqual([200, 500]);
      expect(await doneOnce(tool, order)).toEqual([params]);
      const [again, againUrl] = await startTool(test.url);
      expect(await statusOf(againUrl, permit, params)).toBe(500);
      expect(doneBy(again, order)).toEqual([]);
    });

    it('refuse what is stale, for another audience, of another issuer, type, algorithm or key', async () => {
      const [pinned, url] = await startTool(issuerUrl);
      const params = { order: newId('req') };
      const now = Math.floor(Date.now() / 1_000);
      const claims = {
        ...{ iss: issuerUrl, aud: 'crm.refund', iat: now, exp: now + 60, tool: 'crm.refund' },
        params_sha256: sha256(canonicalJson({ tool: 'crm.refund', params })),
        workspace_id: test.workspaceId,
      };
      const header = { alg: 'EdDSA', typ: 'consigliere-permit+jwt', kid: 'test' };
      const sign = (
        changed: JWTPayload,
        changedHeader: object = {},
        key: Parameters<SignJWT['sign']>[0] = privateKey,
      ) =>
        new SignJWT({ ...claims, jti: newId('req'), ...changed })
          .setProtectedHeader({ ...header, ...changedHeader })
          .sign(key);
      const own = generateKeyPairSync('ed25519').privateKey;
      const publicText = new TextEncoder().encode((await exportJWK(publicKey)).x);
      const refused = {
        stale: await sign({ iat: now - 120, exp: now - 60 }),
        'another audience': await sign({ aud: 'crm.delete' }),
        'another issuer': await sign({ iss: 'http://127.0.0.1:1' }),
        'another workspace': await sign({ workspace_id: newId('wks') }),
        'no workspace': await sign({ workspace_id: undefined }),
        'another tool': await sign({ tool: 'crm.delete' }),
        'other parameters': await sign({ params_sha256: '0'.repeat(64) }),
        'another type': await sign({}, { typ: 'JWT' }),
        'no id': await sign({ jti: undefined }),
        'no end': await sign({ exp: undefined }),
        'another key': await sign({}, {}, own),
        'a key at its own address': await sign({}, { jku: `${proxyUrl}/keys`, kid: 'other' }, own),
        'another algorithm': await sign({}, { alg: 'RS256', kid: 'rsa' }, rsa.privateKey),
        'the public key as a secret': await sign({}, { alg: 'HS256' }, publicText),
        'no signature': new UnsecuredJWT({ ...claims, jti: newId('req') }).encode(),
      };
      for (const [what, permit] of Object.entries(refused)) {
        expect((await call(url, permit, params)).status, what).toBe(403);
      }
      expect(doneBy(pinned, params.order)).toEqual([]);
      expect((await call(url, await sign({}), params)).status).toBe(200);
      expect(await doneOnce(pinned, params.order)).toEqual([params]);
    });
  },
);

describe.runIf(hasPython)('the canonical JSON of the tool in Python', () => {
  it('is that of the service, for every double and text', async () => {
    const text = fc.string({ unit: 'grapheme' });
    const number = fc.double({
      min: -(2 ** 53),
      max: 2 ** 53,
      minExcluded: true,
      maxExcluded: true,
      noNaN: true,
    });
    const small = fc.double({ min: -0.001, max: 0.001, noNaN: true });
    const leaves = [number, small, fc.maxSafeInteger(), text, fc.boolean(), fc.constant(null)];
    const sampled = fc.sample(fc.object({ key: text, values: leaves }), { numRuns: 300, seed: 19 });
    const values = [1e-6, 9.99e-7, 5e-324, 100, 25.5, -0, { '\ufffd': 1, '😀': 2 }, ...sampled];
    const driver =
      'import json, sys; from tool_server import canonical; print(json.dumps([canonical(v) for v in json.load(sys.stdin)]))';
    const child = spawn(python!, ['-c', driver], {
      cwd: EXAMPLES,
      env: { PATH: process.env.PATH, PYTHONDONTWRITEBYTECODE: '1', WORKSPACE_ID: test.workspaceId },
    });
    child.stdin.end(JSON.stringify(values));
    const written = JSON.parse((await buffer(child.stdout)).toString());
    expect(written).toEqual(values.map((value) => canonicalJson(JSON.parse(JSON.stringify(value)))));
  });
});
