import { spawn, spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import { installClaudeCodeHook, runClaudeCodeHook } from '@consigliere/mcp';
import { Consigliere } from '@consigliere/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import type { Client } from '../../support/client.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { Between } from './behind-proxy.js';

const BIN = join(import.meta.dirname, '../../../clients/cli/bin.js');

let test: TestApp;
let admin: Client;
let token: string;
let client: Consigliere;
let folder: string;

beforeAll(async () => {
  test = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'consigliere-hook-'));
  admin = await test.createMember(test.workspaceId, 'admin');
  const made = await admin.post('/tokens', {
    name: 'Claude',
    agent: { name: 'claude' },
    tools: ['claude-code.*'],
  });
  expect(made.status, made.text).toBe(201);
  ({ token } = made.body);
  client = new Consigliere({ baseUrl: test.url, token, maxRetries: 0 });
});
afterAll(async () => {
  await test?.close();
  await rm(folder, { recursive: true, force: true });
});

let uses = 0;
const use = (tool_name: string, tool_input: object) => ({
  session_id: 'session-1',
  transcript_path: '/dev/null',
  cwd: folder,
  hook_event_name: 'PreToolUse',
  tool_name,
  tool_input,
  tool_use_id: `toolu_${++uses}`,
});

/** Runs the hook as Claude Code does, and answers what it has written. */
async function hook(input: object | string, { by = client, stateDir = join(folder, 'state') } = {}) {
  const stdout = new PassThrough();
  const written: Buffer[] = [];
  stdout.on('data', (chunk: Buffer) => written.push(chunk));
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  const code = await runClaudeCodeHook(by, Readable.from([Buffer.from(text)]), stdout, {
    waitMs: 200,
    stateDir,
  });
  const out = Buffer.concat(written).toString();
  return { code, ...(out && JSON.parse(out).hookSpecificOutput) };
}
const requests = (tool: string) =>
  test.rows<{ status: string; approval_id: string; result: any }>(
    'select status, approval_id, result from action_requests where tool = $1 order by created_at',
    [tool],
  );
const statuses = async (tool: string) => (await requests(tool)).map(({ status }) => status);
const approvalOf = async (tool: string) =>
  (await admin.get(`/approvals/${(await requests(tool)).at(-1)!.approval_id}`)).body;

describe('before a tool', () => {
  it('is denied as pending; the same call goes on once it is approved, and its result is reported after the tool', async () => {
    const given = { command: 'ls' };
    const first = await hook(use('Bash', given));
    expect(first).toMatchObject({ hookEventName: 'PreToolUse', permissionDecision: 'deny', code: 0 });
    expect(first.permissionDecisionReason).toContain('Nobody has decided');
    expect(
      (await admin.post(`/approvals/${(await approvalOf('claude-code.Bash')).approvalId}/approve`)).status,
    ).toBe(200);
    const second = use('Bash', given);
    expect(await hook(second)).toEqual({
      code: 0,
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      permissionDecisionReason: 'Consigliere allows it.',
    });
    expect(await statuses('claude-code.Bash')).toEqual(['consumed']);
    const after = { ...second, hook_event_name: 'PostToolUse', tool_response: { stdout: 'a.txt' } };
    expect(await hook(after)).toEqual({ code: 0 });
    expect((await requests('claude-code.Bash')).at(-1)).toMatchObject({
      status: 'completed',
      result: { summary: 'Bash: done.', output: { beginning: '{"stdout":"a.txt"}' } },
    });
    // The next one is another.
    expect((await hook(use('Bash', given))).permissionDecision).toBe('deny');
    expect(await statuses('claude-code.Bash')).toEqual(['completed', 'pending']);
  });

  it('is allowed by an order, and a failure is reported as one', async () => {
    const paramsSchema = { type: 'object', properties: { file_path: { type: 'string' } } };
    const tool = { name: 'claude-code.Read', paramsSchema, reversibility: 'read_only', risk: 'low' };
    expect((await admin.post('/tools', tool)).status).toBe(201);
    const match = { actionTypes: ['claude-code.Read'] };
    await new OrderDesk(test).active({ name: 'Reads', effect: 'allow', match });
    const read = use('Read', { file_path: '/none' });
    expect((await hook(read)).permissionDecision).toBe('allow');
    await hook({ ...read, hook_event_name: 'PostToolUseFailure', error: 'File does not exist.' });
    expect(await requests('claude-code.Read')).toMatchObject([
      { status: 'failed', result: { summary: 'It failed: "File does not exist."' } },
    ]);
    // What a person interrupts may have been done or not.
    const interrupted = use('Read', { file_path: '/interrupted' });
    await hook(interrupted);
    await hook({ ...interrupted, hook_event_name: 'PostToolUseFailure', error: 'x', is_interrupt: true });
    expect(await statuses('claude-code.Read')).toEqual(['failed', 'consumed']);
  });

  it('gets the parameters that a person has changed, and the words of one who rejects', async () => {
    const write = { file_path: 'a', content: 'mine' };
    await hook(use('Write', write));
    const { approvalId, contentHash } = await approvalOf('claude-code.Write');
    const params = { ...write, content: 'yours' };
    const edited = await admin.send(
      'PATCH',
      `/approvals/${approvalId}`,
      { params },
      { 'If-Match': contentHash },
    );
    expect(edited.status, edited.text).toBe(200);
    await admin.post(`/approvals/${approvalId}/approve`);
    expect(await hook(use('Write', write))).toMatchObject({
      permissionDecision: 'allow',
      updatedInput: params,
    });
    await hook(use('Write', { file_path: 'b' }));
    const other = await approvalOf('claude-code.Write');
    await admin.post(`/approvals/${other.approvalId}/reject`, { feedback: 'Not there.' });
    const rejected = await hook(use('Write', { file_path: 'b' }));
    expect(rejected.permissionDecision).toBe('deny');
    expect(rejected.permissionDecisionReason).toContain('Not there.');
    await hook(use('Write', { file_path: 'c' }));
    await test.rows(`update approvals set expires_at = now() - interval '1 second' where approval_id = $1`, [
      (await approvalOf('claude-code.Write')).approvalId,
    ]);
    await expect
      .poll(async () => (await statuses('claude-code.Write')).at(-1), { timeout: 10_000 })
      .toBe('expired');
    expect((await hook(use('Write', { file_path: 'c' }))).permissionDecision).toBe('deny');
  });

  it('is not done twice where the hook was killed after it had consumed', async () => {
    const between = await Between.start(test.url);
    const env = { PATH: process.env.PATH, CLAUDE_CONFIG_DIR: folder };
    const killed = spawn(process.execPath, [BIN, 'hook', 'claude-code'], {
      env: { ...env, CONSIGLIERE_TOKEN: token, CONSIGLIERE_BASE_URL: between.url },
    });
    between.answered = () => killed.kill('SIGKILL');
    killed.stdin.end(JSON.stringify(use('Read', { file_path: '/killed' })));
    expect(await textOf(killed.stdout)).toBe('');
    between.close();
    expect((await statuses('claude-code.Read')).at(-1)).toBe('consumed');
    const again = await hook(use('Read', { file_path: '/killed' }), {
      stateDir: join(folder, 'consigliere'),
    });
    expect(again.permissionDecision).toBe('deny');
    expect(again.permissionDecisionReason).toContain('It is not done again.');
  });

  it.each([
    ['', 'no JSON'],
    ['[]', 'no object'],
    ['{"hook_event_name":"PreToolUse"}', 'session_id'],
    [
      JSON.stringify({ ...use('Bash', { command: 'ls' }), hook_event_name: 'PreToolUseX' }),
      'no hook of a tool',
    ],
  ])('blocks what it cannot read: %s', async (text) => {
    expect(await hook(text)).toEqual({ code: 2 });
  });

  it('denies where the service cannot be reached, the token is that of a member, or the kill switch is engaged', async () => {
    const away = new Consigliere({ baseUrl: 'http://127.0.0.1:9', token, maxRetries: 0 });
    const unreachable = await hook(use('Read', { file_path: '/x' }), { by: away });
    expect(unreachable).toMatchObject({ code: 0, permissionDecision: 'deny' });
    expect(unreachable.permissionDecisionReason).toContain('cannot be reached');
    const member = await test.createMember(test.workspaceId, 'admin');
    const wrong = new Consigliere({ baseUrl: test.url, token: member.token });
    const refused = await hook(use('Read', { file_path: '/y' }), { by: wrong });
    expect(refused.permissionDecisionReason).toContain('belongs to a member');
    await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
    const halted = await hook(use('Read', { file_path: '/z' }));
    expect(halted).toMatchObject({ code: 0, permissionDecision: 'deny' });
    expect(halted.permissionDecisionReason).toContain('kill switch');
  });

  it('blocks, as a program, where it has no token', () => {
    const { PATH } = process.env;
    const input = JSON.stringify(use('Bash', { command: 'ls' }));
    const ran = spawnSync(process.execPath, [BIN, 'hook', 'claude-code'], {
      env: { PATH },
      input,
      encoding: 'utf8',
    });
    expect([ran.status, ran.stdout]).toEqual([2, '']);
    expect(ran.stderr).toMatch(/^There is no token.*\n$/);
  });
});

describe('installing', () => {
  const claudeOf = async (version: string) => {
    const claude = join(folder, `claude-${version}`);
    await writeFile(claude, `#!/bin/sh\necho "${version} (Claude Code)"\n`);
    await chmod(claude, 0o755);
    return claude;
  };
  const project = async (name: string, settings?: string) => {
    const directory = join(folder, name);
    await mkdir(join(directory, '.claude'), { recursive: true });
    if (settings !== undefined) await writeFile(join(directory, '.claude/settings.json'), settings);
    return directory;
  };
  const settingsOf = async (directory: string) => readFile(join(directory, '.claude/settings.json'), 'utf8');

  it('writes the hook beside what stands in the settings, once, and so that its failure blocks', async () => {
    const other = { matcher: 'Bash', hooks: [{ type: 'command', command: 'lint' }] };
    const before = { model: 'opus', hooks: { PreToolUse: [other], Stop: [] } };
    const directory = await project('kept', JSON.stringify(before));
    const claude = await claudeOf('2.1.295');
    await chmod(join(directory, '.claude/settings.json'), 0o600);
    await installClaudeCodeHook({ directory, claude });
    await installClaudeCodeHook({ directory, claude });
    expect((await stat(join(directory, '.claude/settings.json'))).mode & 0o777).toBe(0o600);
    const command = 'consigliere';
    const ours = {
      matcher: '*',
      hooks: [{ type: 'command', command, args: ['hook', 'claude-code'], timeout: 90, onFailure: 'block' }],
    };
    expect(JSON.parse(await settingsOf(directory))).toEqual({
      model: 'opus',
      hooks: { PreToolUse: [other, ours], Stop: [], PostToolUse: [ours], PostToolUseFailure: [ours] },
    });
    await installClaudeCodeHook({ directory: join(folder, 'new'), claude: await claudeOf('3.0.0') });
    expect(JSON.parse(await settingsOf(join(folder, 'new'))).hooks.PreToolUse).toEqual([ours]);
  });

  it('is a command, which puts itself into the project of this folder or says why not', async () => {
    const directory = await project('by-command');
    const programs = await project('programs');
    const install = async (version: string) => {
      await writeFile(join(programs, 'claude'), `#!/bin/sh\necho "${version}"\n`, { mode: 0o755 });
      const env = { PATH: `${programs}:${process.env.PATH}` };
      const args = [BIN, 'hook', 'claude-code', 'install', '--matcher', 'Bash'];
      return spawnSync(process.execPath, args, { cwd: directory, env, encoding: 'utf8' });
    };
    const tooOld = await install('2.1.294');
    expect(tooOld).toMatchObject({ status: 1, stderr: expect.stringContaining('2.1.295') });
    expect(tooOld.stderr).not.toContain('defect');
    expect(await install('2.1.295')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('stands in'),
    });
    const [entry] = JSON.parse(await settingsOf(directory)).hooks.PreToolUse;
    expect(entry).toMatchObject({ matcher: 'Bash', hooks: [{ args: [BIN, 'hook', 'claude-code'] }] });
  });

  it.each(['2.1.294', '2.0.999', '1.9.9', 'unknown'])(
    'refuses version %s of Claude Code',
    async (version) => {
      const directory = await project('old', '{}');
      await expect(installClaudeCodeHook({ directory, claude: await claudeOf(version) })).rejects.toThrow(
        'needs Claude Code 2.1.295 or newer',
      );
      await expect(installClaudeCodeHook({ directory, claude: join(folder, 'none') })).rejects.toThrow(
        'could not be run',
      );
      expect(await settingsOf(directory)).toBe('{}');
    },
  );

  it.each(['{', '[]', '{"hooks":[]}', '{"hooks":{"PreToolUse":{}}}', '{"disableAllHooks":true}'])(
    'changes nothing in settings that it cannot mend: %s',
    async (text) => {
      const directory = await project('broken', text);
      await expect(installClaudeCodeHook({ directory, claude: await claudeOf('2.1.330') })).rejects.toThrow(
        'settings.json',
      );
      expect(await settingsOf(directory)).toBe(text);
    },
  );
});
