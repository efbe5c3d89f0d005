import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { permits } from '@consigliere/sdk';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AgentDesk, TOOL } from './agent-desk.js';

const PARAMS = { order: 'permit', amount: 20 };

let desk: AgentDesk;
let genuine: string;
let server: Server;
let issuer: string;
let key: Awaited<ReturnType<typeof generateKeyPair>>['privateKey'];
let fetched = 0;

beforeAll(async () => {
  desk = await AgentDesk.open();
  const ran = await desk.agent.actions.run(TOOL, PARAMS, (_params, { permit }) => permit);
  genuine = ran.isDone ? ran.result : '';
  // An issuer whose key the test has, so that it can sign whatever it likes.
  const pair = await generateKeyPair('EdDSA', { extractable: true });
  key = pair.privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'test', alg: 'EdDSA', use: 'sig' };
  server = createServer((_request, response) => {
    fetched++;
    response.end(JSON.stringify({ keys: [jwk] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server?.close();
  await desk?.close();
});

const expected = (more: object = {}) => ({
  issuer: desk.test.url,
  workspaceId: desk.test.workspaceId,
  tool: TOOL,
  params: PARAMS,
  ...more,
});
const verdict = (permit: unknown, more: object = {}) =>
  permits.verify(permit as string, expected(more)).then(
    () => 'taken',
    (error: unknown) => (error instanceof permits.PermitRefused ? error.message : error),
  );
const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());

/** A permit for exactly this call by the key of the test, with these claims instead. */
function signed(claims: JWTPayload = {}, header: object = {}): Promise<string> {
  const iat = Math.floor(Date.now() / 1_000);
  const payload = {
    ...decoded(genuine.split('.')[1]!),
    iss: issuer,
    iat,
    exp: iat + 60,
    jti: crypto.randomUUID(),
  };
  return new SignJWT({ ...payload, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'consigliere-permit+jwt', kid: 'test', ...header })
    .sign(key);
}

it('takes a genuine permit once, whatever the order of the parameters', async () => {
  const claims = await permits.verify(genuine, expected({ params: { amount: 20, order: 'permit' } }));
  expect(claims).toMatchObject({ tool: TOOL, aud: TOOL, workspace_id: desk.test.workspaceId, edited: false });
  expect(await verdict(genuine)).toBe('The permit has been used before.');
  expect(await verdict(await signed(), { issuer })).toBe('taken');
});

it('refuses what was tampered with', async () => {
  const [head = '', payload = '', signature = ''] = genuine.split('.');
  const other = `${payload.slice(0, -2)}${payload.endsWith('A') ? 'B' : 'A'}${payload.at(-1)}`;
  const now = Math.floor(Date.now() / 1_000);
  const cases: [string, unknown, object?][] = [
    ['no permit', undefined],
    ['something else', 'not.a.permit'],
    ['a part more', `${genuine}.${signature}`],
    ['a header that is no object', `${encoded(null)}.${payload}.${signature}`],
    ['a changed payload', `${head}.${other}.${signature}`],
    [
      'a changed signature',
      `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`,
    ],
    ['a signature of no length', `${head}.${payload}.A`],
    ['no algorithm', `${encoded({ ...decoded(head), alg: 'none' })}.${payload}.`],
    ['another algorithm', `${encoded({ ...decoded(head), alg: 'HS256' })}.${payload}.${signature}`],
    ['another type', await signed({}, { typ: 'JWT' }), { issuer }],
    ['a key of somebody else', await signed({ iss: desk.test.url }, { kid: decoded(head).kid })],
    ['an unknown key', await signed({}, { kid: 'unknown' }), { issuer }],
    ['another issuer', await signed({ iss: 'https://elsewhere.example' }), { issuer }],
    ['another audience', await signed({ aud: 'shop.other' }), { issuer }],
    ['another workspace', await signed({ workspace_id: 'wks_other' }), { issuer }],
    ['another tool', await signed({ tool: 'shop.other', aud: TOOL }), { issuer }],
    ['other parameters', await signed(), { issuer, params: { ...PARAMS, amount: 21 } }],
    ['expired', await signed({ iat: now - 70, exp: now - 10 }), { issuer }],
    ['from the future', await signed({ iat: now + 30, exp: now + 90 }), { issuer }],
    ['valid for too long', await signed({ exp: now + 3_600 }), { issuer }],
    ['without a time', await signed({ exp: undefined }), { issuer }],
    ['without an id', await signed({ jti: undefined }), { issuer }],
  ];
  for (const [name, permit, more] of cases) {
    const said = await verdict(permit, more);
    expect([name, said]).toEqual([name, expect.stringMatching(/permit/i)]);
  }
});

it('refuses where the key cannot be had, and fetches keys no more often than need be', async () => {
  const away = await verdict(await signed({ iss: 'http://127.0.0.1:9' }), { issuer: 'http://127.0.0.1:9' });
  expect(away).toBe('The key of permits cannot be fetched from http://127.0.0.1:9.');
  for (let n = 0; n < 5; n++) await verdict(await signed({}, { kid: `unknown ${n}` }), { issuer });
  expect(fetched).toBe(1);
});

it('asks the store of the tool whether a permit was taken', async () => {
  const taken: [string, number][] = [];
  const takeOnce = (jti: string, until: number) => taken.push([jti, until]) === 1;
  const permit = await signed();
  expect(await verdict(permit, { issuer, takeOnce })).toBe('taken');
  expect(await verdict(permit, { issuer, takeOnce })).toBe('The permit has been used before.');
  const { jti, exp } = decoded(permit.split('.')[1]!);
  expect(taken[0]).toEqual([jti, exp + 5]);
});
