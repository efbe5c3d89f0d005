import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectMcp, REVISIONS, type Revision } from '../support/mcp-connection.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { FixturesModule } from './mcp-fixtures.js';

const CONFORMANCE = join(import.meta.dirname, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const INSPECTOR = join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);

const TIKTOKEN = join(import.meta.dirname, 'node_modules/js-tiktoken/dist/index.js');
const STDIO = join(import.meta.dirname, '../clients/mcp/stdio-server.mjs');

/** Asks for tools, resources and prompts of its own, by names such as `test_simple_text`. */
const BY_NAME = [
  'completion-complete',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
];

/** What does not pass on the product's own server; it fails as soon as one of these does. */
const WITHOUT_FIXTURES: Record<Revision, string[]> = {
  '2026-07-28': [
    ...BY_NAME,
    // Four checks call tools of their own; the others pass.
    'server-stateless:sep-2575-server-rejects-undeclared-capability',
    'server-stateless:sep-2575-missing-capability-http-400',
    'server-stateless:sep-2575-http-server-no-independent-requests-on-stream',
    'server-stateless:sep-2575-server-no-log-without-loglevel',
    ...[
      'basic-elicitation',
      'basic-sampling',
      'basic-list-roots',
      'request-state',
      'multiple-input-requests',
      'multi-round',
      'missing-input-response',
      'non-tool-request',
      'result-type',
      'tampered-state',
      'capability-check',
      'ignore-extra-params',
    ].map((name) => `input-required-result-${name}`),
  ],
  '2025-11-25': [
    ...BY_NAME,
    'tools-call-with-logging',
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    // Optional, and not offered: log levels, subscriptions, sessions.
    'logging-set-level',
    'resources-subscribe',
    'resources-unsubscribe',
    'server-sse-multiple-streams',
  ],
};

/** What no revision requires, and does not pass even with the fixtures; it fails as soon as one of these does pass. */
const NOT_REQUIRED = [
  // The extension for tasks: `@modelcontextprotocol/server` has none, and the server offers none.
  ...[
    'lifecycle',
    'capability-negotiation',
    'wire-fields',
    'request-state-removal',
    'mrtr-input',
    'request-headers',
    'dispatch-and-envelope',
    'required-task-error',
    'mrtr-composition',
  ].map((name) => `tasks-${name}`),
  // A stream that the server ends, for the client to ask again: ours stay open until they have the answer.
  'server-sse-polling',
];

let test: TestApp;
let folder: string;
let token: string;
let forwarder: Server;
/** Adds the token, which the suite cannot send; Host and Origin pass as they are. */
let url: string;

beforeAll(async () => {
  test = await startTestApp({}, [FixturesModule]);
  ({ token } = await test.createMember(test.workspaceId, 'admin'));
  folder = await mkdtemp(join(tmpdir(), 'consigliere-mcp-'));
  let sent = 0;
  forwarder = createServer((incoming, outgoing) => {
    const { method, headers } = incoming;
    // Each request from an address of its own: limits are tested elsewhere.
    const address = `10.0.${(++sent >> 8) & 255}.${sent & 255}`;
    const target = request(
      test.url + incoming.url,
      { method, headers: { ...headers, 'x-service-token': token, 'x-forwarded-for': address } },
      (answer) => {
        outgoing.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(outgoing);
      },
    );
    target.on('error', () => outgoing.destroy());
    outgoing.on('close', () => target.destroy());
    incoming.pipe(target);
  });
  await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}`;
}, 120_000);

afterAll(async () => {
  forwarder?.closeAllConnections();
  forwarder?.close();
  await test?.close();
  await rm(folder, { recursive: true, force: true });
});

function run(script: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: 2 ** 26, env: { ...process.env, HOME: folder, NO_COLOR: '1' } };
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 1) : 0, output: `${stdout}\n${stderr}` }),
    );
  });
}

/** Ends with 0 where all pass but those named, and each of those fails. */
async function conformance(
  path: string,
  revision: Revision,
  failing: string[],
  scenarios = ['--requirements', revision],
): Promise<{ code: number; output: string }> {
  const baseline = join(folder, `${revision}-${failing.length}.yml`);
  await writeFile(
    baseline,
    `server:${failing.length === 0 ? ' []' : ''}\n${failing.map((name) => `  - ${name}\n`).join('')}`,
  );
  return run(CONFORMANCE, [
    'server',
    ...['--url', url + path, ...scenarios, '--expected-failures', baseline],
    ...['--output-dir', join(folder, 'results')],
  ]);
}

/** With what was printed, where something else was. */
const PASSED = { code: 0, output: expect.stringContaining('SUMMARY') as string };

describe.each(REVISIONS)('the conformance suite for %s', { timeout: 300_000 }, (revision) => {
  it('passes whole where its fixtures are there', async () => {
    expect(await conformance('/fixtures', revision, [])).toMatchObject(PASSED);
  });

  it("passes on the product's own server, but for what asks for fixtures by name", async () => {
    expect(await conformance('/mcp?names=portable', revision, WITHOUT_FIXTURES[revision])).toMatchObject(
      PASSED,
    );
  });

  it('warns of nothing else where the names have the slashes of the specification', async () => {
    expect(
      await conformance('/mcp', revision, ['tools-list:tools-name-format', ...WITHOUT_FIXTURES[revision]]),
    ).toMatchObject(PASSED);
  });
});

it(
  'passes of all that the suite has, for any revision, but what none requires',
  { timeout: 300_000 },
  async () => {
    const all = ['--suite', 'all'];
    expect(await conformance('/fixtures', '2026-07-28', NOT_REQUIRED, all)).toMatchObject(PASSED);
  },
);

describe('the inspector', { timeout: 120_000 }, () => {
  const inspect = async (...args: string[]) => {
    const { code, output } = await run(INSPECTOR, ['--cli', ...args]);
    expect({ code, output: code === 0 ? '' : output }).toEqual({ code: 0, output: '' });
    return output;
  };

  it.each([
    ['http', 'modern'],
    ['http', 'legacy'],
    ['stdio', 'modern'],
  ])('finds nothing to complain of over %s, in the %s era', async (over, era) => {
    const server =
      over === 'http'
        ? [`${test.url}/mcp?names=portable`, '--transport', 'http', '--header', `x-service-token: ${token}`]
        : [
            process.execPath,
            STDIO,
            'portable',
            '-e',
            `CONSIGLIERE_TOKEN=${token}`,
            '-e',
            `CONSIGLIERE_BASE_URL=${test.url}`,
          ];
    const ask = (...args: string[]) => inspect(...server, '--protocol-era', era, '--method', ...args);
    const listed = await ask('tools/list', '--strict');
    expect(listed).toContain('service_get-context');
    expect(listed).not.toMatch(/portab.*(problem|issue)/i);
    expect(await ask('tools/call', '--tool-name', 'service_guardian_status')).toContain('guardrailed');
    expect(await ask('resources/list')).toContain('consigliere://context');
    expect(await ask('prompts/list')).toContain('morning-brief');
  });
});

describe('the definitions of the tools', () => {
  it('take at most 6,000 tokens', async () => {
    const tiktoken = (await import(TIKTOKEN)) as {
      encodingForModel(model: string): { encode(text: string): number[] };
    };
    const client = await connectMcp({ url: test.url, token, over: 'http', revision: '2026-07-28' });
    const { tools } = await client.listTools();
    await client.close();
    const tokens = tiktoken.encodingForModel('gpt-4o').encode(JSON.stringify(tools)).length;
    console.log(`${tools.length} tools, ${tokens} tokens`);
    expect(tokens).toBeLessThanOrEqual(6_000);
  });
});
