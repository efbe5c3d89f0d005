import { Consigliere } from '@consigliere/sdk';
import type { Command } from 'commander';
import { CliError, EXIT } from '../errors.js';
import { say } from '../output.js';
import { clientOf, findSession } from '../session.js';

/** Loaded when one of them is used: the protocol's libraries take longer to load than the rest. */
const load = () => import('@consigliere/mcp');

/**
 * What an assistant starts. The server acts with the session of a person; the proxy and the hook with an agent's token from the
 * environment alone, so that what they guard cannot use more than an agent may.
 */
export function mcp(program: Command): void {
  const server = program
    .command('mcp')
    .summary('Serve an assistant over MCP')
    .description('Serve an assistant over MCP, on standard input and output.')
    .helpGroup('Assistants and agents:')
    .option('--names <names>', '`portable` for clients that refuse a slash in the name of a tool', 'exact')
    .action(async ({ names }: { names: string }) => {
      const { profile, debug = false } = program.opts<{ profile?: string; debug?: boolean }>();
      const client = clientOf(findSession(profile, { isAssistant: true }), debug);
      const { serveStdio } = await load();
      serveStdio(client, { names: names === 'portable' ? 'portable' : 'exact' });
    });
  server
    .command('proxy')
    .description('Put an MCP server under policy: each of its tools is asked for before it is called.')
    .usage('[--name <server>] -- <command of an MCP server>')
    .argument('<command>', 'the command that starts the server')
    .argument('[args...]', 'its arguments')
    .option('--name <server>', 'how its tools are called: mcp.<server>.<tool>')
    .action(async (command: string, args: string[], { name }: { name?: string }) => {
      const stop = new AbortController();
      // The server behind it ends before the proxy does.
      process.removeAllListeners('SIGINT');
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
      const { runProxy } = await load();
      const end = await runProxy(new Consigliere(), { command, args, name, signal: stop.signal });
      process.exitCode = end.by === 'server' ? EXIT.error : EXIT.ok;
    });
  hook(program);
}

function hook(program: Command): void {
  const claudeCode = program
    .command('hook')
    .summary('Ask before an agent acts')
    .description('Ask before an agent acts, from a hook of the agent itself.')
    .helpGroup('Assistants and agents:')
    .command('claude-code')
    .description('Answer a hook of Claude Code, on standard input and output.')
    .action(async () => {
      try {
        const { runClaudeCodeHook } = await load();
        process.exitCode = await runClaudeCodeHook(new Consigliere(), process.stdin, process.stdout);
      } catch (error) {
        say((error as Error).message);
        // Whatever went wrong, the tool is blocked: Claude Code goes on after any other code.
        process.exitCode = 2;
      }
    });
  claudeCode
    .command('install')
    .description('Put the hook into the settings of Claude Code in this folder.')
    .option('--matcher <tools>', 'the tools that it asks for, as Claude Code matches them')
    .action(async ({ matcher }: { matcher?: string }) => {
      const { installClaudeCodeHook } = await load();
      const command = [process.execPath, process.argv[1]!, 'hook', 'claude-code'] as const;
      const file = await installClaudeCodeHook({ command, matcher }).catch((error: Error) => {
        throw new CliError(error.message);
      });
      say(`The hook stands in ${file}.`);
    });
}
