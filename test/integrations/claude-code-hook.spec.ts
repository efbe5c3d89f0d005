import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { installClaudeCodeHook } from '@consigliere/mcp';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Between } from '../clients/mcp/behind-proxy.js';
import { OrderDesk } from '../e2e/standing-orders/order-desk.js';
import type { Client } from '../support/client.js';
import { eventually, startTestApp, type TestApp } from '../support/test-app.js';

const BIN = join(import.meta.dirname, '../../clients/cli/bin.js');
const ANTHROPIC = join(import.meta.dirname, 'node_modules/@anthropic-ai');
const CLAUDE = join(ANTHROPIC, `claude-agent-sdk-${process.platform}-${process.arch}/claude`);

let test: TestApp;
let admin: Client;
let token: string;
let model: Server;
let modelUrl: string;
/** The command that the model wants to run. */
let command: string;
let home: string;

beforeAll(async () => {
  test = await startTestApp();
  admin = await test.createMember(test.workspaceId, 'admin');
  const made = await admin.post('/tokens', {
    name: 'C',
    agent: { name: 'claude' },
    tools: ['claude-code.*'],
  });
  ({ token } = made.body);
  model = createServer((request, response) => {
    const answer = async () => {
      if (!request.url!.startsWith('/v1/messages') || request.method !== 'POST')
        return response.writeHead(404).end('{}');
      const { messages, tools = [] } = (await json(request)) as {
        messages: object[];
        tools?: { name: string }[];
      };
      const isDone = JSON.stringify(messages).includes('"tool_result"');
      const wantsTool = !isDone && tools.some(({ name }) => name === 'Bash');
      response
        .writeHead(200, { 'Content-Type': 'text/event-stream' })
        .end(events(wantsTool ? command : undefined));
    };
    answer().catch(() => response.destroy());
  });
  model.listen(0, '127.0.0.1');
  await once(model, 'listening');
  modelUrl = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
});
afterAll(async () => {
  model?.closeAllConnections();
  model?.close();
  await test?.close();
});

/** A message of the model as Anthropic streams it: a call of Bash, or a word. */
function events(bash: string | undefined): string {
  const block = bash
    ? { type: 'tool_use', id: `toolu_${Date.now()}`, name: 'Bash', input: {} }
    : { type: 'text', text: '' };
  const delta = bash
    ? {
        type: 'input_json_delta',
        partial_json: JSON.stringify({ command: bash, description: 'Writes a file' }),
      }
    : { type: 'text_delta', text: 'Done.' };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [],
    usage,
  };
  const stop_reason = bash ? 'tool_use' : 'end_turn';
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
}

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'consigliere-claude-'));
  command = `echo asked > ${join(home, 'out')}`;
  return () => rm(home, { recursive: true, force: true });
});

/** Claude Code as somebody has it who lets it do everything, with the hook in the settings of the project. */
async function run(environment: Record<string, string> = {}): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    CLAUDE_CONFIG_DIR: join(home, 'config'),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
    CONSIGLIERE_TOKEN: token,
    CONSIGLIERE_BASE_URL: test.url,
    ...environment,
  };
  const args = [
    '-p',
    'Write the file.',
    '--output-format',
    'stream-json',
    '--verbose',
    '--dangerously-skip-permissions',
  ];
  const child = promisify(execFile)(CLAUDE, args, { cwd: home, env, timeout: 50_000 });
  child.child.stdin!.end();
  return (await child).stdout;
}
const HOOK: [string, ...string[]] = [process.execPath, BIN, 'hook', 'claude-code'];
const install = (program = HOOK) =>
  installClaudeCodeHook({ directory: home, claude: CLAUDE, command: program });
const made = () => existsSync(join(home, 'out'));
const newest = async () =>
  (
    await test.rows<{ status: string; approval_id: string; result: object }>(
      'select status, approval_id, result from action_requests order by created_at desc limit 1',
    )
  )[0];

describe('Claude Code with the hook', () => {
  it('does what a person approves, as they have changed it, although it may do everything', async () => {
    await install();
    const ran = run();
    const pending = await eventually(newest, (one) => one?.status === 'pending', 30);
    expect(made()).toBe(false);
    const { contentHash, approvalId } = (await admin.get(`/approvals/${pending!.approval_id}`)).body;
    const params = { command: `echo changed > ${join(home, 'out')}`, description: 'Writes a file' };
    const edited = await admin.send(
      'PATCH',
      `/approvals/${approvalId}`,
      { params },
      { 'If-Match': contentHash },
    );
    expect(edited.status, edited.text).toBe(200);
    await admin.post(`/approvals/${approvalId}/approve`);
    await ran;
    expect(await readFile(join(home, 'out'), 'utf8')).toBe('changed\n');
    expect(await newest()).toMatchObject({ status: 'completed', result: { summary: 'Bash: done.' } });
  });

  it('does not what a person rejects, and tells the model why', async () => {
    await install();
    const ran = run();
    const pending = await eventually(newest, (one) => one?.status === 'pending', 30);
    await admin.post(`/approvals/${pending!.approval_id}/reject`, { feedback: 'Not today.' });
    expect(await ran).toContain('Not today.');
    expect(made()).toBe(false);
  });

  it('does not what nobody has decided in time', async () => {
    await install();
    const ran = run();
    const pending = await eventually(newest, (one) => one?.status === 'pending', 30);
    const past = `update approvals set expires_at = now() - interval '1 second' where approval_id = $1`;
    await test.rows(past, [pending!.approval_id]);
    expect(await ran).toContain('It was not done.');
    expect(await newest()).toMatchObject({ status: 'expired' });
    expect(made()).toBe(false);
  });

  it('does what an order allows, and reports what failed', async () => {
    const properties = { command: { type: 'string' }, description: { type: 'string' } };
    const tool = { name: 'claude-code.Bash', paramsSchema: { type: 'object', properties } };
    expect((await admin.post('/tools', { ...tool, reversibility: 'reversible', risk: 'low' })).status).toBe(
      201,
    );
    await new OrderDesk(test).active({ name: 'Bash', effect: 'allow', match: { actionTypes: [tool.name] } });
    await install();
    await run();
    expect(made()).toBe(true);
    expect(await newest()).toMatchObject({ status: 'completed' });
    command = 'exit 3';
    await run();
    expect(await newest()).toMatchObject({ status: 'failed' });
  });

  it('does nothing while the service cannot be reached, and nothing where the hook itself cannot run', async () => {
    await install();
    expect(await run({ CONSIGLIERE_BASE_URL: 'http://127.0.0.1:9' })).toContain('cannot be reached');
    expect(made()).toBe(false);
    const settings = join(home, '.claude/settings.json');
    await writeFile(settings, (await readFile(settings, 'utf8')).replaceAll(BIN, '/nowhere/bin.js'));
    await run();
    expect(made()).toBe(false);
  });

  it('does nothing where the hook is killed after it has consumed', async () => {
    const between = await Between.start(test.url);
    try {
      const pid = join(home, 'pid');
      const script = join(home, 'hook.sh');
      const line = HOOK.map((word) => `'${word}'`).join(' ');
      await writeFile(script, `echo $$ > '${pid}'\nexec ${line}\n`);
      await install(['/bin/sh', script]);
      between.answered = (path) => {
        if (path === '/api/pro/action-requests') process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
      };
      await run({ CONSIGLIERE_BASE_URL: between.url });
      expect(await newest()).toMatchObject({ status: 'consumed', result: null });
      expect(made()).toBe(false);
    } finally {
      between.close();
    }
  });

  it('does nothing while the kill switch is engaged', async () => {
    await install();
    await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
    expect(await run()).toContain('kill switch');
    expect(made()).toBe(false);
  });
});
