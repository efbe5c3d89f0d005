import { readFileSync } from 'node:fs';
import { API_VERSION } from '@consigliere/sdk';
import { Command, Option } from 'commander';
import { examplesText } from './command.js';
import { account } from './commands/account.js';
import { agents } from './commands/agents.js';
import { api } from './commands/api.js';
import { approvals } from './commands/approvals.js';
import { audit } from './commands/audit.js';
import { completion } from './commands/completion.js';
import { directives } from './commands/directives.js';
import { doctor } from './commands/doctor.js';
import { feed } from './commands/feed.js';
import { guardian } from './commands/guardian.js';
import { mcp } from './commands/mcp.js';
import { orders } from './commands/orders.js';
import { overview } from './commands/overview.js';
import { people } from './commands/people.js';
import { webhooks } from './commands/webhooks.js';
import { work } from './commands/work.js';

export function makeProgram(): Command {
  const own = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version } = JSON.parse(own) as { version: string };
  const program = new Command('consigliere')
    .description('Hand in work, decide what waits, stop everything.')
    .usage('<command> [options]')
    .version(`consigliere ${version} (API ${API_VERSION})`, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .addOption(new Option('--json', 'print JSON: an object, an array, or a line for each entry of a stream'))
    .addOption(new Option('-p, --profile <name>', 'act as this profile (`consigliere profiles`)'))
    .addOption(new Option('--debug', 'say on standard error which calls are made'))
    .commandsGroup('Set-up:')
    .helpCommand('help [command]', 'Print the help of a command')
    .exitOverride()
    .showHelpAfterError('Add --help for more.')
    .configureHelp({ showGlobalOptions: true });
  const everyDay = [directives, approvals, guardian, feed, overview, audit, work];
  const others = [orders, agents, people, webhooks, account, api, completion, doctor, mcp];
  for (const add of [...everyDay, ...others]) add(program);
  return program.addHelpText(
    'after',
    `${examplesText([
      'consigliere login',
      `consigliere directive 'Email jane@acme.example, subject "Your order": It ships on Friday.'`,
      'consigliere approvals review',
      'consigliere guardian kill --reason "Wrong price list"',
    ])}

Environment: CONSIGLIERE_TOKEN, CONSIGLIERE_BASE_URL, CONSIGLIERE_PROFILE, CONSIGLIERE_CONFIG_DIR, NO_COLOR, EDITOR.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not signed in, 5 limited, 6 refused by policy or halted, 130 interrupted.`,
  );
}

/** `consigliere agents` lists, as `consigliere agents list` does. */
export function withVerb(program: Command, args: string[]): string[] {
  const { operands, unknown } = program.parseOptions(args);
  if (operands.length !== 1 || unknown.some((one) => one === '-h' || one === '--help')) return args;
  const named = program.commands.find((command) => command.name() === operands[0]);
  if (!named?.commands.some((command) => command.name() === 'list')) return args;
  const at = args.lastIndexOf(operands[0]!);
  return args.toSpliced(at + 1, 0, 'list');
}

/** Wrong usage as JSON too. */
export function quiet(program: Command): void {
  const silent = { writeErr: () => undefined };
  const all = [program, ...program.commands, ...program.commands.flatMap(({ commands }) => commands)];
  for (const command of all) command.configureOutput(silent);
}
