import { existsSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client as Assistant } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Between } from '../clients/mcp/behind-proxy.js';
import { OrderDesk } from '../e2e/standing-orders/order-desk.js';
import type { Client } from '../support/client.js';
import { eventually, startTestApp, type TestApp } from '../support/test-app.js';

const BIN = join(import.meta.dirname, '../../clients/cli/bin.js');
const SERVERS = join(import.meta.dirname, 'node_modules/@modelcontextprotocol');

let test: TestApp;
let admin: Client;
let desk: OrderDesk;
let token: string;
let folder: string;
let assistant: Assistant;
let transport: StdioClientTransport;

beforeAll(async () => {
  test = await startTestApp();
  desk = new OrderDesk(test);
  folder = await realpath(await mkdtemp(join(tmpdir(), 'consigliere-servers-')));
  admin = await test.createMember(test.workspaceId, 'admin');
  const made = await admin.post('/tokens', { name: 'A', agent: { name: 'tester' }, tools: ['mcp.*'] });
  expect(made.status, made.text).toBe(201);
  ({ token } = made.body);
});
afterEach(() => assistant?.close());
afterAll(async () => {
  await test?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Where the proxy finds the service, if not where it is. */
let service: string | undefined;

/** As the one line in the configuration of an assistant does. */
async function start(name: string, ...args: string[]): Promise<Assistant> {
  assistant = new Assistant({ name: 'assistant', version: '1.0.0' }, { capabilities: { sampling: {} } });
  assistant.setRequestHandler('sampling/createMessage', () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'sampled' },
  }));
  transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      BIN,
      'mcp',
      'proxy',
      '--',
      process.execPath,
      join(SERVERS, `server-${name}/dist/index.js`),
      ...args,
    ],
    env: {
      PATH: process.env.PATH!,
      CONSIGLIERE_TOKEN: token,
      CONSIGLIERE_BASE_URL: service ?? test.url,
      MEMORY_FILE_PATH: join(folder, 'memory.jsonl'),
    },
    stderr: 'pipe',
  });
  await assistant.connect(transport);
  return assistant;
}

/** Everything that was proposed and only reads, as an admin would go through it. */
async function allowReads(server: string, names: string[]): Promise<void> {
  const proposed = () =>
    test.rows<{ name: string; fingerprint: string; reversibility: string }>(
      'select name, fingerprint, reversibility from tools where name = any($1)',
      [names.map((name) => `mcp.${server}.${name}`)],
    );
  const tools = await eventually(proposed, ({ length }) => length === names.length, 30);
  for (const { name, fingerprint, reversibility } of tools) {
    expect(reversibility, name).toBe('read_only');
    const path = `/tools/${encodeURIComponent(name)}`;
    const activated = await desk
      .elsewhere(admin)
      .send('PATCH', path, { status: 'active' }, { 'If-Match': fingerprint });
    expect(activated.status, activated.text).toBe(200);
  }
  const actionTypes = tools.map(({ name }) => name);
  await desk.active({ name: `Reads of ${server}`, effect: 'allow', match: { actionTypes } });
}

const call = async (name: string, given: Record<string, unknown> = {}) => {
  const { content, isError = false } = await assistant.callTool({ name, arguments: given });
  return { isError, text: (content as { text?: string }[]).map(({ text }) => text).join('\n') };
};

/** The approval of the newest request for a tool. */
const approvalFor = async (tool: string) => {
  const [row] = await eventually(
    () =>
      test.rows<{ approval_id: string }>(
        `select approval_id from action_requests where tool = $1 and status = 'pending' order by created_at desc limit 1`,
        [tool],
      ),
    ({ length }) => length === 1,
  );
  return (await desk.elsewhere(admin).get(`/approvals/${row!.approval_id}`)).body;
};

describe('the filesystem server behind the proxy', () => {
  it('reads by an order, asks before it writes, and writes what a person has changed', async () => {
    await start('filesystem', folder);
    const { tools } = await assistant.listTools();
    expect(tools.map(({ name }) => name)).toContain('write_file');
    await allowReads('server-filesystem', ['read_text_file', 'list_directory']);
    const path = join(folder, 'note.txt');
    await writeFile(path, 'before');
    expect(await call('read_text_file', { path })).toEqual({ isError: false, text: 'before' });
    expect((await call('list_directory', { path: folder })).text).toContain('note.txt');
    const written = call('write_file', { path, content: 'as the model wants it' });
    const { approvalId, contentHash } = await approvalFor('mcp.server-filesystem.write_file');
    expect(await readFile(path, 'utf8')).toBe('before');
    const params = { path, content: 'as a person wants it' };
    const edited = await admin.send(
      'PATCH',
      `/approvals/${approvalId}`,
      { params },
      { 'If-Match': contentHash },
    );
    expect(edited.status, edited.text).toBe(200);
    await admin.post(`/approvals/${approvalId}/approve`);
    const { isError, text } = await written;
    expect([isError, text]).toEqual([false, expect.stringContaining('A person changed the parameters')]);
    expect(await readFile(path, 'utf8')).toBe('as a person wants it');
  });
});

describe('the filesystem server behind the proxy, when it is refused', () => {
  const tool = 'mcp.server-filesystem.write_file';
  const path = () => join(folder, 'refused.txt');
  const write = () =>
    call('write_file', { path: path(), content: 'x' }).catch((error: Error) => ({ text: error.message }));
  afterEach(async () => {
    service = undefined;
    expect(existsSync(path())).toBe(false);
  });

  it('writes nothing that a person rejects, or that nobody decides in time', async () => {
    await start('filesystem', folder);
    await assistant.listTools();
    const rejected = write();
    const { approvalId } = await approvalFor(tool);
    await admin.post(`/approvals/${approvalId}/reject`, { feedback: 'Not there.' });
    expect(await rejected).toEqual({ isError: true, text: expect.stringContaining('Not there.') });
    const expired = write();
    const { approvalId: late } = await approvalFor(tool);
    for (const table of ['approvals', 'action_requests'])
      await test.rows(`update ${table} set expires_at = now() - interval '1 second' where approval_id = $1`, [
        late,
      ]);
    expect(await expired).toEqual({ isError: true, text: expect.stringContaining('It was not done.') });
  });

  it('writes nothing while the service cannot be reached', async () => {
    service = 'http://127.0.0.1:9';
    await start('filesystem', folder);
    expect(await write()).toEqual({ isError: true, text: expect.stringContaining('cannot be reached') });
  });

  it('writes nothing where the proxy is killed after it has consumed', async () => {
    const between = await Between.start(test.url);
    try {
      service = between.url;
      await start('filesystem', folder);
      await assistant.listTools();
      const killed = write();
      const { approvalId } = await approvalFor(tool);
      between.answered = (at) => {
        if (at.endsWith('/consume')) process.kill(transport.pid!, 'SIGKILL');
      };
      await admin.post(`/approvals/${approvalId}/approve`);
      expect(await killed).toEqual({ text: expect.stringContaining('Connection closed') });
      const consumed = 'select status from action_requests where approval_id = $1';
      expect(await test.rows(consumed, [approvalId])).toEqual([{ status: 'consumed' }]);
    } finally {
      between.close();
    }
  });
});

describe('the guide', () => {
  /** Its blocks of this language. */
  const blocks = async (language: string) => {
    const guide = await readFile(join(import.meta.dirname, '../../docs/guides/clients/proxy.md'), 'utf8');
    return [...guide.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(
      ([, text]) => text!,
    );
  };
  /** One of its commands, as it stands, with ids and fingerprints filled in. */
  const run = (line: string, filled: Record<string, string> = {}) => {
    const [, method, path, fingerprint, body] =
      /^call (\w+) '?(\S+?)'?(?: -H 'If-Match: (\S+)')?(?: -d '(.*)')?$/.exec(line)!;
    const at = path!.replace('so_...', filled['standingOrderId'] ?? '');
    const headers: Record<string, string> = fingerprint ? { 'If-Match': filled['fingerprint']! } : {};
    return desk.elsewhere(test.owner).send(method!, at, body && JSON.parse(body), headers);
  };

  it('makes a token, puts the server behind the proxy with one line, and lets reads through', async () => {
    const [json] = await blocks('json');
    const [first, second] = (await blocks('sh')).map((text) =>
      text.split('\n').filter((line) => line.startsWith('call ')),
    );
    const made = await run(first![0]!);
    expect(made.status, made.text).toBe(201);
    const { command, args, env } = JSON.parse(json!).mcpServers.files;
    expect([command, ...args.slice(0, 2)]).toEqual(['consigliere', 'mcp', 'proxy']);
    const server = join(SERVERS, 'server-filesystem/dist/index.js');
    const behind = args
      .join(' ')
      .replace('npx -y @modelcontextprotocol/server-filesystem /home/me/notes', '');
    expect(behind).toBe('mcp proxy --name files -- ');
    assistant = new Assistant({ name: 'assistant', version: '1.0.0' });
    const environment = { ...env, CONSIGLIERE_TOKEN: made.body.token, CONSIGLIERE_BASE_URL: test.url };
    await assistant.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [BIN, ...behind.trim().split(' '), process.execPath, server, folder],
        env: { PATH: process.env.PATH!, ...environment },
        stderr: 'pipe',
      }),
    );
    await assistant.listTools();
    const proposed = await eventually(
      async () =>
        (await run(second![0]!)).body.items.find(({ name }: any) => name === 'mcp.files.read_text_file'),
      (tool) => tool !== undefined,
    );
    const activated = await run(second![1]!, proposed);
    expect(activated.status, activated.text).toBe(200);
    const order = await run(second![2]!);
    expect(order.status, order.text).toBe(201);
    const active = await run(second![3]!, order.body);
    expect(active.body.status, active.text).toBe('active');
    await writeFile(join(folder, 'guide.txt'), 'as the guide says');
    expect((await call('read_text_file', { path: join(folder, 'guide.txt') })).text).toBe(
      'as the guide says',
    );
  });
});

describe('the everything server behind the proxy', () => {
  it('answers, samples and shows resources, each as it is allowed', async () => {
    await start('everything', 'stdio');
    const { tools } = await assistant.listTools();
    expect(tools.length).toBeGreaterThan(10);
    // Says of none of its tools that it only reads: an admin decides what they are.
    const proposed = () =>
      test.rows<{ name: string; fingerprint: string }>(
        `select name, fingerprint from tools
         where name ~ '^mcp\\.server-everything\\.(echo|get-sum|resources/read|trigger-sampling-request)$'`,
      );
    for (const { name, fingerprint } of await eventually(proposed, ({ length }) => length === 4, 30)) {
      const path = `/tools/${encodeURIComponent(name)}`;
      const change = { status: 'active', reversibility: 'read_only', risk: 'low' };
      const changed = await desk.elsewhere(admin).send('PATCH', path, change, { 'If-Match': fingerprint });
      expect(changed.status, changed.text).toBe(200);
      await desk.active({ name, effect: 'allow', match: { actionTypes: [name] } });
    }
    // The proxy knows the tools again although an admin has changed them.
    await assistant.close();
    await start('everything', 'stdio');
    await assistant.listTools();
    expect(await call('echo', { message: 'hello' })).toEqual({ isError: false, text: 'Echo: hello' });
    expect((await call('get-sum', { a: 2, b: 3 })).text).toContain('5');
    expect((await call('trigger-sampling-request', { prompt: 'p', maxTokens: 10 })).text).toContain(
      'sampled',
    );
    const { resources } = await assistant.listResources();
    expect((await assistant.readResource({ uri: resources[0]!.uri })).contents).toHaveLength(1);
    expect((await assistant.getPrompt({ name: 'simple-prompt' })).messages.length).toBeGreaterThan(0);
  });
});

describe('the memory server behind the proxy', () => {
  it('asks before it remembers, and a kill stops the next call', async () => {
    await start('memory');
    await assistant.listTools();
    await allowReads('server-memory', ['read_graph', 'search_nodes']);
    expect(JSON.parse((await call('read_graph')).text)).toEqual({ entities: [], relations: [] });
    const entities = [{ name: 'Jane', entityType: 'person', observations: ['ships on Friday'] }];
    const created = call('create_entities', { entities });
    const { approvalId } = await approvalFor('mcp.server-memory.create_entities');
    await admin.post(`/approvals/${approvalId}/approve`);
    expect((await created).isError).toBe(false);
    expect((await call('search_nodes', { query: 'Jane' })).text).toContain('ships on Friday');
    const waits = call('delete_entities', { entityNames: ['Jane'] });
    const { approvalId: deletes } = await approvalFor('mcp.server-memory.delete_entities');
    await test.owner.post('/guardian/killswitch', { reason: 'Stop.' });
    const began = performance.now();
    const stopped = await call('read_graph');
    console.log(`the first call after a kill was refused within ${Math.round(performance.now() - began)} ms`);
    expect(stopped).toEqual({ isError: true, text: expect.stringContaining('The kill switch is engaged') });
    expect((await admin.post(`/approvals/${deletes}/approve`)).status).toBe(423);
    expect(await readFile(join(folder, 'memory.jsonl'), 'utf8')).toContain('Jane');
    await assistant.close();
    await waits.catch(() => undefined);
  });
});
