import { readFile } from 'node:fs/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/test-app.js';

const GUIDE = new URL('../../../docs/guides/clients/mcp.md', import.meta.url);
const CLI = new URL('../../../clients/cli/bin.js', import.meta.url).pathname;

/** How an assistant is told of a server, whatever its file looks like. */
interface Configured {
  command?: string;
  args?: string[];
  env?: Record<string, string>;
  url?: string;
  httpUrl?: string;
  headers?: Record<string, string>;
}

let test: TestApp;
let token: string;
beforeAll(async () => {
  test = await startTestApp();
  ({ token } = await test.createMember(test.workspaceId, 'operator'));
});
afterAll(() => test?.close());

/** Words of a line of a shell, with their quotes removed. */
const words = (line: string) =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
const pairs = (listed: string[], separator: string) =>
  Object.fromEntries(
    listed.map((pair) => pair.split(separator).map((part) => part.trim()) as [string, string]),
  );

/** `claude mcp add [options] <name> <url>`, or `... -- <command>`. */
function fromCommandLine(line: string): Configured {
  const all = words(line);
  const valuesOf = (option: string) => all.filter((_, at) => all[at - 1] === option);
  const at = all.indexOf('--');
  const [command, ...args] = at === -1 ? [] : all.slice(at + 1);
  const url = all.find((word) => word.startsWith('http://') && at === -1);
  return {
    command,
    args,
    url,
    env: pairs(valuesOf('--env'), '='),
    headers: pairs(valuesOf('--header'), ':'),
  };
}

function fromToml(text: string): Configured {
  const valueOf = (name: string) => new RegExp(`^${name} = (.*)$`, 'm').exec(text)![1]!;
  const env = valueOf('env').replaceAll(/(\w+) = /g, '"$1": ');
  return { command: JSON.parse(valueOf('command')), args: JSON.parse(valueOf('args')), env: JSON.parse(env) };
}

it('has lines for assistants, each of which leads to the tools', async () => {
  const guide = (await readFile(GUIDE, 'utf8'))
    .replaceAll('cons_...', token)
    .replaceAll('http://127.0.0.1:3000', test.url);
  const blocks = [...guide.matchAll(/^```(\w+)\n(.*?)^```/gms)].map(([, language, text]) => ({
    language,
    text: text!,
  }));
  const configured = blocks.flatMap(({ language, text }): Configured[] => {
    if (language === 'toml') return [fromToml(text)];
    if (language === 'sh')
      return text
        .split('\n')
        .filter((line) => line.startsWith('claude '))
        .map(fromCommandLine);
    const { mcpServers, servers = mcpServers } = JSON.parse(text) as Record<
      string,
      Record<string, Configured>
    >;
    return Object.values(servers!);
  });
  expect(configured).toHaveLength(6);
  for (const { command, args = [], env = {}, url, httpUrl = url, headers } of configured) {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    if (command !== undefined) {
      expect([command, args[0]]).toEqual(['consigliere', 'mcp']);
      const given = { command: process.execPath, args: [CLI, ...args] };
      await client.connect(
        new StdioClientTransport({ ...given, env: { PATH: process.env['PATH']!, ...env } }),
      );
    } else {
      await client.connect(
        new StreamableHTTPClientTransport(new URL(httpUrl!), { requestInit: { headers } }),
      );
    }
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('service_directive');
    await client.close();
  }
});
