import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Client } from '../../support/client.js';
import { eventually, startTestApp, type TestApp } from '../../support/test-app.js';
import { OrderDesk } from '../../e2e/standing-orders/order-desk.js';
import { BehindProxy, Between, endProxies, isAlive, Wire } from './behind-proxy.js';

let test: TestApp;
let admin: Client;
let desk: OrderDesk;
let env: Record<string, string>;

beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
  admin = await test.createMember(test.workspaceId, 'admin');
  const made = await admin.post('/tokens', { name: 'Box', agent: { name: 'assistant' }, tools: ['mcp.*'] });
  expect(made.status, made.text).toBe(201);
  env = { CONSIGLIERE_BASE_URL: test.url, CONSIGLIERE_TOKEN: made.body.token };
});
afterEach(async () => {
  await endProxies();
  // A workspace has a hundred proposals at most.
  await test.rows(`delete from tools where status = 'proposed'`);
});
afterAll(() => test?.close());

const toolOf = async (name: string): Promise<any> =>
  (await desk.elsewhere(admin).get(`/tools/${encodeURIComponent(name)}`)).body;
const requestsFor = (tool: string) =>
  test.rows<{ status: string; result: any; params: any; approval_id: string; action_request_id: string }>(
    `select status, result, params, approval_id, action_request_id from action_requests where tool = $1 order by created_at, action_request_id`,
    [tool],
  );
const statuses = async (tool: string) => (await requestsFor(tool)).map(({ status }) => status);
/** The client is answered before the result is reported. */
const expectStatuses = async (tool: string, ...expected: string[]) => {
  await expect.poll(() => statuses(tool), { timeout: 5_000 }).toEqual(expected);
};
const newest = (tool: string, status: string) =>
  eventually(
    async () => (await requestsFor(tool)).at(-1),
    (one) => one?.status === status,
  );
const waiting = async (tool: string) => {
  const pending = await eventually(
    async () => (await requestsFor(tool)).findLast(({ status }) => status === 'pending'),
    (one) => one !== undefined,
  );
  return (await desk.elsewhere(admin).get(`/approvals/${pending!.approval_id}`)).body;
};
/** Registered by an admin as the server lists it, and allowed by an order. */
async function allow(tool: string): Promise<void> {
  const listed = () =>
    test.rows<{ fingerprint: string; status: string }>(
      'select fingerprint, status from tools where name = $1',
      [tool],
    );
  const [found] = await eventually(listed, ({ length }) => length === 1);
  if (found!.status === 'proposed') {
    const path = `/tools/${encodeURIComponent(tool)}`;
    const change = { status: 'active' };
    const activated = await desk
      .elsewhere(admin)
      .send('PATCH', path, change, { 'If-Match': found!.fingerprint });
    expect(activated.status, activated.text).toBe(200);
  }
  await desk.active({ name: `Allow ${tool}`, effect: 'allow', match: { actionTypes: [tool] } });
}

describe('tools', () => {
  it('are proposed as the server lists them, and asked for by their fingerprint', async () => {
    const proxy = await BehindProxy.start(env, { args: ['listed'] });
    const { tools } = await proxy.client.listTools();
    expect(tools).toHaveLength(14);
    const names = await eventually(
      async () =>
        (await test.rows<{ name: string }>(`select name from tools where name like 'mcp.listed.%'`)).map(
          ({ name }) => name,
        ),
      (found) => found.length === 16,
    );
    const note = await toolOf('mcp.listed.note');
    expect(note.status).toBe('proposed');
    expect(note).toMatchObject({ title: 'Write a note', reversibility: 'irreversible', risk: 'high' });
    expect(note.paramsSchema).toMatchObject({
      required: ['text'],
      'x-fingerprint': expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await toolOf('mcp.listed.look')).toMatchObject({ reversibility: 'read_only', risk: 'low' });
    // A tool that is called like a method, and one with a space, have names of their own.
    expect(names).toContain('mcp.listed.resources/read');
    expect(
      names.filter((name) => /^mcp\.listed\.(resources_read|say_no)-[0-9a-f]{16}$/.test(name)),
    ).toHaveLength(2);
  });

  it('ask a person again once the server lists them otherwise, and not because an admin has changed the rest', async () => {
    const before = await BehindProxy.start(env, { args: ['changing'] });
    await before.client.listTools();
    await allow('mcp.changing.note');
    const { fingerprint } = await toolOf('mcp.changing.note');
    const changed = await admin.send(
      'PATCH',
      '/tools/mcp.changing.note',
      { titleTemplate: 'Note {{text}}', risk: 'medium' },
      { 'If-Match': fingerprint },
    );
    expect(changed.status, changed.text).toBe(200);
    const same = await BehindProxy.start(env, { args: ['changing'] });
    await same.client.listTools();
    expect(await same.call('note', { text: 'a' })).toBe('noted: a');
    const other = await BehindProxy.start({ ...env, LISTING: 'second' }, { args: ['changing'] });
    await other.client.listTools();
    expect(await other.call('note', { text: 'b' })).toContain('Pending');
    expect(other.said).toContain('mcp.changing.note is registered otherwise');
    expect(await other.effects()).toEqual([]);
    const unlisted = await BehindProxy.start(env, { args: ['changing'] });
    expect(await unlisted.call('note', { text: 'c' })).toContain('Pending');
  });
});

describe('a call', () => {
  let proxy: BehindProxy;
  const NOTE = 'mcp.box.note';
  beforeAll(async () => {
    const first = await BehindProxy.start(env);
    await first.client.listTools();
    await allow(NOTE);
  });
  beforeEach(async () => {
    proxy = await BehindProxy.start(env);
    await proxy.client.listTools();
  });

  it('that an order allows is done at once, and reported', async () => {
    const answer = await proxy.client.callTool({ name: 'note', arguments: { text: 'hello' } });
    expect(answer).toMatchObject({ structuredContent: { length: 5 }, content: [{ text: 'noted: hello' }] });
    expect(await proxy.effects()).toEqual(['note hello']);
    const done = await newest(NOTE, 'completed');
    expect(done!.params).toEqual({ text: 'hello' });
    expect(done!.result.output.content).toEqual([{ type: 'text', text: 'noted: hello' }]);
    // A call after one that has ended asks anew.
    await proxy.call('note', { text: 'hello' });
    expect(await proxy.effects()).toEqual(['note hello', 'note hello']);
  });

  it('that fails is reported as failed, and so is one that the server refuses', async () => {
    await allow('mcp.box.look');
    expect(await proxy.call('look', { what: 'x' })).toBe('seen: x');
    const name = (
      await test.rows<{ name: string }>(`select name from tools where name like 'mcp.box.say_no-%'`)
    )[0]!.name;
    await allow(name);
    expect(await proxy.call('say no')).toBe('isError | There is no paper.');
    expect((await newest(name, 'failed'))!.result.summary).toBe('There is no paper.');
  });

  it('that waits is answered as pending, and the same call goes on with it once it is approved', async () => {
    const given = { text: 'asked' };
    expect(await proxy.call('progress', given)).toMatch(
      /^isError \| Pending: this call waits for a person \(apr_/,
    );
    const { approvalId } = await waiting('mcp.box.progress');
    expect(await proxy.call('progress', { ...given })).toContain('Pending');
    await expectStatuses('mcp.box.progress', 'pending');
    expect((await admin.post(`/approvals/${approvalId}/approve`)).status).toBe(200);
    const seen: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void seen.push(progress);
    await proxy.client.callTool({ name: 'progress', arguments: given }, { onprogress });
    expect(seen).toEqual([1, 2]);
    await expectStatuses('mcp.box.progress', 'completed');
    // The next one is another.
    expect(await proxy.call('progress', given)).toContain('Pending');
    await expectStatuses('mcp.box.progress', 'completed', 'pending');
  });

  it('is done with the parameters that a person has changed, and says so', async () => {
    const patient = await BehindProxy.start({ ...env, WAIT_MS: '20000' }, { args: ['edited'] });
    await patient.client.listTools();
    const answer = patient.call('note', { text: 'as the model wants it' });
    const { approvalId, contentHash } = await waiting('mcp.edited.note');
    const edited = await admin.send(
      'PATCH',
      `/approvals/${approvalId}`,
      { params: { text: 'as I want it' } },
      { 'If-Match': contentHash },
    );
    expect(edited.status, edited.text).toBe(200);
    await admin.post(`/approvals/${approvalId}/approve`, undefined, { 'If-Match': edited.body.contentHash });
    expect(await answer).toMatch(/^noted: as I want it \| A person changed the parameters .*as I want it/);
    expect(await patient.effects()).toEqual(['note as I want it']);
  });

  it('that a person rejects, or that expires, is not done', async () => {
    const patient = await BehindProxy.start({ ...env, WAIT_MS: '20000' }, { args: ['refused'] });
    await patient.client.listTools();
    const rejected = patient.call('note', { text: 'no' });
    const { approvalId } = await waiting('mcp.refused.note');
    await admin.post(`/approvals/${approvalId}/reject`, { feedback: 'Too early.' });
    expect(await rejected).toMatch(/^isError \| A person rejected this\. .*Too early\./);
    const hurried = await BehindProxy.start(env, { args: ['refused'] });
    expect(await hurried.call('note', { text: 'never' })).toContain('Pending');
    const late = await waiting('mcp.refused.note');
    await test.rows(`update approvals set expires_at = now() - interval '1 second' where approval_id = $1`, [
      late.approvalId,
    ]);
    await eventually(
      () => statuses('mcp.refused.note'),
      ([, status]) => status === 'expired',
    );
    expect(await hurried.call('note', { text: 'never' })).toMatch(/^isError \| It was not done\./);
    await expectStatuses('mcp.refused.note', 'rejected', 'expired');
    expect([...(await patient.effects()), ...(await hurried.effects())]).toEqual([]);
  });

  it('that was cancelled before it began waits on, and the same call goes on with it', async () => {
    const patient = await BehindProxy.start({ ...env, WAIT_MS: '20000' }, { args: ['cancelled'] });
    await patient.client.listTools();
    const impatient = new AbortController();
    const given = { name: 'note', arguments: { text: 'c' } };
    const cancelled = patient.client.callTool(given, { signal: impatient.signal }).catch(() => 'cancelled');
    const { approvalId } = await waiting('mcp.cancelled.note');
    impatient.abort();
    expect(await cancelled).toBe('cancelled');
    await admin.post(`/approvals/${approvalId}/approve`);
    expect(await patient.call('note', { text: 'c' })).toBe('noted: c');
    await expectStatuses('mcp.cancelled.note', 'completed');
  });

  it('that was cancelled after it began is not done twice', async () => {
    await allow('mcp.box.hang');
    const impatient = new AbortController();
    const given = { name: 'hang', arguments: { text: 'h' } };
    const cancelled = proxy.client.callTool(given, { signal: impatient.signal }).catch(() => 'cancelled');
    await eventually(
      () => proxy.effects(),
      (lines) => lines.length === 1,
    );
    impatient.abort();
    expect(await cancelled).toBe('cancelled');
    expect(await proxy.call('hang', { text: 'h' })).toContain(
      'It was begun, and the server has not answered yet.',
    );
    await expectStatuses('mcp.box.hang', 'consumed');
    expect((await proxy.effects()).filter((line) => line.startsWith('hang'))).toHaveLength(1);
    expect((await proxy.effects()).filter((line) => line.startsWith('cancelled'))).toHaveLength(1);
  });

  it('is two where two equal ones are made at once', async () => {
    const both = [proxy.call('note', { text: 'twice' }), proxy.call('note', { text: 'twice' })];
    expect(await Promise.all(both)).toEqual(['noted: twice', 'noted: twice']);
    expect(await proxy.effects()).toEqual(['note twice', 'note twice']);
  });

  it('brings the server no credential of the proxy, and takes no token of a member', async () => {
    await allow('mcp.box.environment');
    const names = await proxy.call('environment');
    expect(names).toContain('EFFECTS');
    expect(names).not.toContain('CONSIGLIERE_');
    const member = await test.createMember(test.workspaceId, 'admin');
    const wrong = await BehindProxy.start({ ...env, CONSIGLIERE_TOKEN: member.token });
    expect(await wrong.call('note', { text: 'x' })).toContain('This token belongs to a member.');
    const unknown = await BehindProxy.start({ ...env, CONSIGLIERE_TOKEN: 'sk_none' });
    expect(await unknown.call('note', { text: 'x' })).toMatch(/^isError \| It was not done: /);
    expect([...(await wrong.effects()), ...(await unknown.effects())]).toEqual([]);
  });
});

describe('what is no call of a tool', () => {
  it('passes, asks or is refused by its method', async () => {
    const proxy = await BehindProxy.start(env, { args: ['others'], capabilities: { elicitation: {} } });
    const { client } = proxy;
    expect((await client.listPrompts()).prompts).toHaveLength(1);
    expect(client.getServerCapabilities()).not.toHaveProperty('tasks');
    await client.ping();
    await expect(client.readResource({ uri: 'box://1' })).rejects.toThrow('Pending');
    await allow('mcp.others.resources/read');
    // What waits goes on waiting for a person; another one is allowed.
    expect((await client.readResource({ uri: 'box://2' })).contents).toHaveLength(1);
    await expect(client.subscribeResource({ uri: 'box://1' })).rejects.toThrow('Pending');
    const schema = { parse: (value: unknown) => value };
    const raw = client as unknown as { request: (asked: object, schema: unknown) => Promise<unknown> };
    await expect(raw.request({ method: 'admin/wipe' }, anything(schema))).rejects.toThrow(
      'does not pass on admin/wipe',
    );
    expect(await proxy.effects()).toEqual(['read box://2']);
  });

  it('goes from the server to the client: it may ask the person in front of it', async () => {
    const proxy = await BehindProxy.start(env, { args: ['asking'], capabilities: { elicitation: {} } });
    proxy.client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { sure: true },
    }));
    await proxy.client.listTools();
    await allow('mcp.asking.elicit');
    expect(JSON.parse(await proxy.call('elicit'))).toMatchObject({
      action: 'accept',
      content: { sure: true },
    });
  });
});

describe('a call for which the server wants input', () => {
  it('goes on only with its own state and the same arguments, once', async () => {
    const wire = new Wire({ ...env, WAIT_MS: '300' }, 'rounds');
    try {
      await wire.ask('tools/list', {});
      await allow('mcp.rounds.input');
      const call = (text: string, more: object = {}) =>
        wire.ask('tools/call', { name: 'input', arguments: { text }, ...more });
      const inputResponses = { sure: { action: 'accept' } };
      const { result } = await call('a');
      expect(result).toMatchObject({ resultType: 'input_required', inputRequests: { sure: {} } });
      const { requestState } = result;
      expect(requestState).not.toBe('of the server');
      expect((await call('b', { inputResponses, requestState })).error.message).toContain(
        'the same arguments',
      );
      expect((await call('a', { inputResponses, requestState: 'of the server' })).error.code).toBe(-32602);
      expect((await call('a', { inputResponses })).error.message).toContain('requestState');
      expect((await call('a')).result.requestState).toBe(requestState);
      await expectStatuses('mcp.rounds.input', 'consumed');
      const done = await call('a', { inputResponses, requestState });
      expect(done.result.content).toEqual([{ type: 'text', text: 'done' }]);
      expect(await wire.effects()).toEqual([`input a of the server ${JSON.stringify(inputResponses)}`]);
      expect((await call('a', { inputResponses, requestState })).error.code).toBe(-32602);
      await expectStatuses('mcp.rounds.input', 'completed');
    } finally {
      await wire.close();
    }
  });

  it('gives the server nothing beside what was decided, and an id twice, a batch or no JSON get an error', async () => {
    const wire = new Wire(env, 'beside');
    try {
      await wire.ask('tools/list', {});
      await allow('mcp.beside.meta');
      const { result } = await wire.ask('tools/call', {
        name: 'meta',
        arguments: {},
        _meta: { secretly: 'wipe', progressToken: 7, 'io.modelcontextprotocol/logLevel': 'info' },
        wipe: true,
      });
      expect(JSON.parse(result.content[0].text)).toEqual({
        name: 'meta',
        arguments: {},
        _meta: { progressToken: 7, 'io.modelcontextprotocol/logLevel': 'info' },
      });
      expect((await wire.ask('tools/call', { name: 'meta', task: { ttl: 1 } })).error.message).toContain(
        'task',
      );
      expect((await wire.ask('tools/call', { name: 'meta', arguments: [1] })).error.code).toBe(-32602);
      expect((await wire.ask('tasks/list', {})).error.code).toBe(-32601);
      expect((await wire.ask('tasks/result', { taskId: 'x' })).error.code).toBe(-32601);
      for (const line of ['[]', 'no JSON', '{"id":1}'])
        expect((await wire.raw(line)).error.code).toBe(-32600);
    } finally {
      await wire.close();
    }
  });
});

describe('a call that waits, of a client that knows MCP tasks', () => {
  const TASKS = 'io.modelcontextprotocol/tasks';
  const clientCapabilities = { extensions: { [TASKS]: {} } };
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': clientCapabilities,
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  };

  it('is answered by a task, which has the result once a person has approved', async () => {
    const wire = new Wire(env, 'tasks');
    try {
      const { result: discovered } = await wire.ask('server/discover', { _meta: meta });
      expect(discovered.capabilities.extensions).toEqual({ [TASKS]: {} });
      await wire.ask('tools/list', { _meta: meta });
      const call = (name: string, text: string) =>
        wire.ask('tools/call', { name, arguments: { text }, _meta: meta });
      const get = async ({ taskId }: any) => (await wire.ask('tasks/get', { taskId, _meta: meta })).result;
      const { result: task } = await call('note', 'as a task');
      expect(task).toMatchObject({
        resultType: 'task',
        status: 'working',
        statusMessage: expect.stringContaining('Pending'),
      });
      expect(await get(task)).toMatchObject({ resultType: 'complete', status: 'working' });
      const { approvalId } = await waiting('mcp.tasks.note');
      expect(await wire.effects()).toEqual([]);
      await admin.post(`/approvals/${approvalId}/approve`);
      const done = await eventually(
        () => get(task),
        ({ status }) => status === 'completed',
      );
      expect(done.result.content).toEqual([{ type: 'text', text: 'noted: as a task' }]);
      expect(await wire.effects()).toEqual(['note as a task']);
      // Input that the server wants comes by tasks/update.
      const { result: asks } = await call('input', 'x');
      await admin.post(`/approvals/${(await waiting('mcp.tasks.input')).approvalId}/approve`);
      const wants = await eventually(
        () => get(asks),
        ({ status }) => status === 'input_required',
      );
      expect(wants.inputRequests).toHaveProperty('sure');
      const inputResponses = { sure: { action: 'accept' } };
      await wire.ask('tasks/update', { taskId: asks.taskId, inputResponses, _meta: meta });
      await eventually(
        () => get(asks),
        ({ status }) => status === 'completed',
      );
      // What is cancelled is taken back.
      const { result: dropped } = await call('note', 'dropped');
      await waiting('mcp.tasks.note');
      expect((await wire.ask('tasks/cancel', { taskId: dropped.taskId, _meta: meta })).result).toEqual({
        resultType: 'complete',
      });
      expect(await get(dropped)).toMatchObject({ status: 'cancelled' });
      await expectStatuses('mcp.tasks.note', 'completed', 'cancelled');
      expect((await wire.ask('tasks/get', { taskId: 'none', _meta: meta })).error.code).toBe(-32602);
    } finally {
      await wire.close();
    }
  });
});

function anything(schema: object): object {
  const validate = (value: unknown) => ({ value });
  return { ...schema, '~standard': { version: 1, vendor: 'test', validate } };
}

describe('a server', () => {
  let proxy: BehindProxy;
  beforeEach(async () => {
    proxy = await BehindProxy.start({ ...env, CALL_MS: '500' }, { args: ['bad'] });
    await proxy.client.listTools();
  });
  const UNKNOWN = /Whether it was done is not known|cannot be read/;

  it.each([
    ['dies', 'die', 'The MCP server bad ended with code 3.'],
    ['floods', 'flood', 'The MCP server bad was ended: it wrote a line of more than 10 MB.'],
    ['talks', 'babble', 'The MCP server bad wrote 100 lines that are no messages, so it was ended.'],
  ])(
    'that %s in a call is ended in one sentence, and what came of the call stays open',
    async (_, tool, sentence) => {
      await allow(`mcp.bad.${tool}`);
      const pid = await proxy.serverPid();
      const answer = await proxy.call(tool);
      expect(answer).toMatch(UNKNOWN);
      expect(answer).toContain(sentence);
      await eventually(
        async () => proxy.said,
        (said) => said.includes(`ended by the server: ${sentence}`),
      );
      await expectStatuses(`mcp.bad.${tool}`, 'consumed');
      await eventually(
        async () => isAlive(pid),
        (alive) => !alive,
      );
    },
  );

  it.each([
    ['does not answer', 'hang'],
    ['answers what is no answer', 'mumble'],
  ])('that %s leaves the call open, and it is not done again', async (_, tool) => {
    await allow(`mcp.bad.${tool}`);
    expect(await proxy.call(tool)).toMatch(UNKNOWN);
    expect(await proxy.call(tool)).toContain('It is not done again.');
    await expectStatuses(`mcp.bad.${tool}`, 'consumed');
    expect((await proxy.effects()).filter((line) => line.startsWith(tool))).toHaveLength(1);
    // Another call is answered as ever.
    await allow('mcp.bad.look');
    expect(await proxy.call('look', { what: 'y' })).toBe('seen: y');
  });

  it('that cannot be started is told in one sentence', async () => {
    const wire = new Wire(env, 'none', '/nowhere/at-all');
    expect(await wire.ended()).toContain(
      'The MCP server none could not be started: spawn /nowhere/at-all ENOENT.',
    );
    await wire.close();
  });

  it('that does not end by itself is ended with the proxy', async () => {
    const stubborn = await BehindProxy.start({ ...env, STUBBORN: '1' }, { args: ['stubborn'] });
    await stubborn.call('note', { text: 'never' });
    const pid = await stubborn.serverPid();
    process.kill(stubborn.transport.pid!, 'SIGTERM');
    await eventually(
      async () => isAlive(pid),
      (alive) => !alive,
    );
    // Nobody can go on with what waited.
    await expectStatuses('mcp.stubborn.note', 'cancelled');
  });
});

describe('the program', () => {
  const BIN = join(import.meta.dirname, '../../../clients/cli/bin.js');
  it('gives the server its environment without what is meant for the proxy', () => {
    const says = `console.error(process.env.KEY, Object.keys(process.env).join())`;
    const ran = spawnSync(process.execPath, [BIN, 'mcp', 'proxy', '--', process.execPath, '-e', says], {
      env: { PATH: process.env.PATH, KEY: 'of the server', ...env },
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    expect(ran.stderr).toContain('of the server');
    expect(ran.stderr).not.toContain('CONSIGLIERE_');
  });

  it.each([
    [['proxy'], {}, 2, "missing required argument 'command'"],
    [['proxy', '--', 'true'], { CONSIGLIERE_TOKEN: '' }, 4, 'There is no token: set CONSIGLIERE_TOKEN'],
    [['proxy', '--name', 'a b', '--', 'true'], {}, 2, 'The name of the server must be'],
    [['proxy', '--name', 'a', '--', '/nowhere'], {}, 1, 'The MCP server a could not be started'],
    [['proxy', '--wrong', '--', 'true'], {}, 2, "unknown option '--wrong'"],
  ])('says in a sentence what is wrong with %j', (args, more, code, sentence) => {
    const options = { env: { PATH: process.env.PATH, ...env, ...more }, encoding: 'utf8' } as const;
    const ran = spawnSync(process.execPath, [BIN, 'mcp', ...args], {
      ...options,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    expect([ran.status, ran.stdout]).toEqual([code, '']);
    expect(ran.stderr).toContain(sentence);
    expect(ran.stderr).not.toContain('    at ');
  });
});

describe('the kill switch', () => {
  it('stops a call for which the server wants input', async () => {
    const wire = new Wire(env, 'halted');
    try {
      await wire.ask('tools/list', {});
      await allow('mcp.halted.input');
      const given = { name: 'input', arguments: { text: 'x' } };
      const { requestState } = (await wire.ask('tools/call', given)).result;
      await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
      const inputResponses = { sure: { action: 'accept' } };
      const { result } = await wire.ask('tools/call', { ...given, requestState, inputResponses });
      expect(result.content[0].text).toMatch(/^It was begun, and not ended\. The kill switch is engaged/);
      expect(await wire.effects()).toEqual([]);
      await expectStatuses('mcp.halted.input', 'consumed');
    } finally {
      await test.owner.post('/guardian/revert', { mode: 'resume', reason: 'Go on.' });
      await expect.poll(async () => (await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
      await wire.close();
    }
  });

  it('refuses the next call, and nothing that waited is done', async () => {
    const proxy = await BehindProxy.start(env);
    await proxy.client.listTools();
    await allow('mcp.box.note');
    expect(await proxy.call('note', { text: 'before' })).toBe('noted: before');
    await proxy.call('elicit', { text: 'waits' });
    const { approvalId } = await waiting('mcp.box.elicit');
    await admin.post(`/approvals/${approvalId}/approve`);
    await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
    expect(await proxy.call('note', { text: 'after' })).toMatch(/^isError \| It was not done: /);
    expect(await proxy.call('elicit', { text: 'waits' })).toMatch(/^isError \| It was /);
    await test.owner.post('/guardian/revert', { mode: 'resume', reason: 'Go on.' });
    await expect.poll(async () => (await test.owner.get('/guardian')).body.mode).toBe('guardrailed');
    expect(await proxy.effects()).toEqual(['note before']);
    expect(await proxy.call('note', { text: 'again' })).toBe('noted: again');
  });
});

describe('the service', () => {
  let between: Between;
  beforeAll(async () => {
    between = await Between.start(test.url);
  });
  afterAll(() => between.close());

  it('that cannot be reached lets nothing be done', async () => {
    const proxy = await BehindProxy.start({ ...env, CONSIGLIERE_BASE_URL: 'http://127.0.0.1:9' });
    await proxy.client.listTools();
    expect(await proxy.call('note', { text: 'x' })).toContain('http://127.0.0.1:9 cannot be reached');
    expect(await proxy.effects()).toEqual([]);
  });

  it('knows of what was consumed where the proxy is killed before it acts, and nothing is done', async () => {
    const proxy = await BehindProxy.start({ ...env, CONSIGLIERE_BASE_URL: between.url });
    await proxy.client.listTools();
    await allow('mcp.box.note');
    const pid = await proxy.serverPid();
    between.answered = (path) => {
      if (path === '/api/pro/action-requests') process.kill(proxy.transport.pid!, 'SIGKILL');
    };
    await expect(proxy.call('note', { text: 'killed' })).rejects.toThrow('Connection closed');
    between.answered = () => undefined;
    expect((await requestsFor('mcp.box.note')).at(-1)).toMatchObject({
      status: 'consumed',
      params: { text: 'killed' },
    });
    await eventually(
      async () => isAlive(pid),
      (alive) => !alive,
    );
    expect(await proxy.effects()).toEqual([]);
    test.clock.advance(901_000);
    await expect.poll(async () => (await statuses('mcp.box.note')).at(-1)).toBe('unconfirmed');
  });
});
