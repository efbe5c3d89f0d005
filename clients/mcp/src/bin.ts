#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { Consigliere } from '@consigliere/sdk';
import { installClaudeCodeHook, runClaudeCodeHook } from './claude-code-hook.js';
import { runProxy } from './proxy.js';

const USAGE = `consigliere-mcp proxy [--name <server>] -- <command of an MCP server>
consigliere-mcp hook claude-code
consigliere-mcp hook claude-code install [--matcher <tools>]

CONSIGLIERE_TOKEN is the token of an agent, CONSIGLIERE_BASE_URL the address of the service.`;

async function main(): Promise<number> {
  const at = process.argv.indexOf('--');
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2, at === -1 ? undefined : at),
    options: { name: { type: 'string' }, matcher: { type: 'string' } },
    allowPositionals: true,
  });
  const [command, ...args] = at === -1 ? [] : process.argv.slice(at + 1);
  if (positionals.join(' ') === 'proxy' && command !== undefined) {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
    const { name } = values;
    const { signal } = stop;
    const end = await runProxy(new Consigliere(), {
      command,
      args,
      signal,
      ...(name !== undefined && { name }),
    });
    return end.by === 'server' ? 1 : 0;
  }
  if (positionals.join(' ') === 'hook claude-code') {
    return runClaudeCodeHook(new Consigliere(), process.stdin, process.stdout);
  }
  if (positionals.join(' ') === 'hook claude-code install') {
    const { matcher } = values;
    const file = await installClaudeCodeHook({
      command: [process.execPath, process.argv[1]!, 'hook', 'claude-code'],
      ...(matcher !== undefined && { matcher }),
    });
    console.error(`The hook stands in ${file}.`);
    return 0;
  }
  console.error(USAGE);
  return 2;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`consigliere: ${(error as Error).message}`);
  // As the end of a hook, 2 blocks the tool; 1 would let it go on.
  process.exitCode = process.argv.includes('hook') ? 2 : 1;
}
