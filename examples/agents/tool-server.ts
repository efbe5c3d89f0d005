/**
 * The tool's side: holds the credential of the tool, and acts with a fresh permit for exactly these parameters alone.
 *
 *   npx node examples/agents/tool-server.ts
 */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import canonicalize from 'canonicalize';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const {
  CONSIGLIERE_URL = 'http://127.0.0.1:3000',
  PORT = '4000',
  USED_PERMITS = 'used-permits',
  WORKSPACE_ID,
} = process.env;

type Params = Record<string, unknown>;

/** What this server can do. The audience of a permit is the name of its tool. */
const TOOLS = new Map<string, (params: Params) => object>([
  [
    'crm.refund',
    (params) => {
      console.log(`refund ${JSON.stringify(params)}`);
      return { refunded: params['order'] };
    },
  ],
]);

/** At this address alone, whatever a permit says. */
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', CONSIGLIERE_URL));
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
mkdirSync(USED_PERMITS, { recursive: true });

async function takePermit(permit: string, tool: string, params: Params): Promise<void> {
  const { payload } = await jwtVerify(permit, keys, {
    algorithms: ['EdDSA'],
    typ: 'consigliere-permit+jwt',
    issuer: CONSIGLIERE_URL,
    audience: tool,
    requiredClaims: ['exp', 'jti'],
    maxTokenAge: 60,
    clockTolerance: 5,
  });
  const hash = sha256(canonicalize({ tool, params })!);
  const { tool: permitted, params_sha256, workspace_id } = payload;
  if (permitted !== tool || params_sha256 !== hash || workspace_id !== WORKSPACE_ID)
    throw new Error('The permit is for another call.');
  // Fails where the file exists, so a permit is taken once, by whichever process, and after a restart too.
  writeFileSync(`${USED_PERMITS}/${sha256(payload.jti!)}`, '', { flag: 'wx' });
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<unknown> {
  const answer = (status: number, body: object) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  const tool = request.url!.slice(1);
  const act = TOOLS.get(tool);
  if (!act || request.method !== 'POST') return answer(404, { error: 'There is no such tool.' });
  if (!(Number(request.headers['content-length']) <= 100_000)) return answer(413, { error: 'Too large.' });
  let params: Params;
  try {
    params = (await json(request)) as Params;
    await takePermit(request.headers.authorization?.replace(/^Permit /, '') ?? '', tool, params);
  } catch (error) {
    // Taken before: the call may have been made then, so this is no refusal.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return answer(500, { error: 'Used before.' });
    return answer(403, { error: `Refused: ${(error as Error).message}` });
  }
  return answer(200, act(params));
}

const server = createServer((request, response) => {
  serve(request, response).catch(() => response.writeHead(500).end('{}'));
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`The tool listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
