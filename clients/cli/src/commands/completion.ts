import type { Consigliere } from '@consigliere/sdk';
import type { Command } from 'commander';
import { contextOf, define } from '../command.js';
import { fit, print } from '../output.js';

/** A live id with a word about it. */
type Offered = [id: string, about: string];

const MANY = { limit: 50 };

/** Of each item of a list its id and a word about it. */
function listed<Item>(
  call: (client: Consigliere) => PromiseLike<{ items: Item[] }>,
  id: keyof Item,
  about: keyof Item,
): (client: Consigliere) => Promise<Offered[]> {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : '');
  return async (client) => (await call(client)).items.map((item) => [textOf(item[id]), textOf(item[about])]);
}

/** What an argument or an option of this name takes. */
const LIVE: Record<string, (client: Consigliere) => Promise<Offered[]>> = {
  approvalId: listed((client) => client.approvals.list(MANY), 'approvalId', 'title'),
  directiveId: listed((client) => client.directives.list(MANY), 'directiveId', 'title'),
  standingOrderId: listed(
    (client) => client.standingOrders.list({ ...MANY, status: 'all' }),
    'standingOrderId',
    'name',
  ),
  actionRequestId: listed((client) => client.actions.list(MANY), 'actionRequestId', 'title'),
  questionId: listed((client) => client.questions.list(MANY), 'questionId', 'title'),
  scheduleId: listed((client) => client.schedules.list(MANY), 'scheduleId', 'name'),
  signalId: listed((client) => client.signals.list(MANY), 'signalId', 'title'),
  escalationId: listed((client) => client.escalations.list(MANY), 'escalationId', 'reason'),
  checkpointId: listed((client) => client.checkpoints.list(MANY), 'checkpointId', 'label'),
  destinationId: listed((client) => client.webhooks.list(MANY), 'destinationId', 'url'),
  packId: listed((client) => client.skillPacks.list(MANY), 'packId', 'name'),
  tokenId: listed((client) => client.tokens.list(MANY), 'tokenId', 'name'),
  teamId: listed((client) => client.teams.list(MANY), 'teamId', 'name'),
  tool: listed((client) => client.tools.list(MANY), 'name', 'title'),
  agent: async (client) => {
    const { agents, outsideAgents } = await client.agents.list();
    return [
      ...agents.map(({ role, status }): Offered => [role, status]),
      ...outsideAgents.map(({ name, status }): Offered => [name, status]),
    ];
  },
  role: async (client) => (await client.agents.list()).agents.map(({ role, status }) => [role, status]),
};

/** Longer than this nobody waits for a completion. */
const PATIENCE_MS = 1_500;

export function completion(program: Command): void {
  define(program, {
    usage: 'completion <shell>',
    summary: 'Print the script that completes commands and ids in a shell',
    choices: { shell: Object.keys(SCRIPTS) },
    examples: [
      'source <(consigliere completion bash)',
      'consigliere completion zsh > "${fpath[1]}/_consigliere"',
      'consigliere completion fish > ~/.config/fish/completions/consigliere.fish',
      'consigliere completion pwsh | Out-String | Invoke-Expression',
    ],
    progress: null,
    run: ({ args }) => void process.stdout.write(SCRIPTS[args[0]!]!.trimStart()),
  });
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[], _options, self: Command) => {
      // Nothing that goes wrong may appear on the line that someone is typing.
      const found = await offered(program, words, self).catch((): Offered[] => []);
      const last = words.at(-1) ?? '';
      const tell = ([id, about]: Offered) => `${id}\t${fit(about.replace(/[\p{Cc}\p{Cf}]+/gu, ' '), 60)}`;
      print(
        found
          .filter(([id]) => id.startsWith(last))
          .map(tell)
          .join('\n'),
      );
    });
}

/** What may stand in the place of the last of these words. */
async function offered(program: Command, words: string[], self: Command): Promise<Offered[]> {
  let command = program;
  const operands: string[] = [];
  const before = words.slice(0, -1);
  for (let at = 0; at < before.length; at++) {
    const word = before[at]!;
    if (word.startsWith('-')) {
      const option = [...command.options, ...program.options].find(
        ({ short, long }) => word === short || word === long,
      );
      const isAwaited = option && (option.required || option.optional) && !word.includes('=');
      if (isAwaited && at === before.length - 1) {
        const placeholder = /<([\w.]+)>/.exec(option.flags)?.[1] ?? '';
        return option.argChoices?.map((choice) => [choice, '']) ?? live(placeholder, self);
      }
      if (isAwaited) at++;
      continue;
    }
    const inner = operands.length === 0 && command.commands.find((one) => one.name() === word);
    if (inner) command = inner;
    else operands.push(word);
  }
  if (words.at(-1)?.startsWith('-')) {
    return [...command.options, ...(command === program ? [] : program.options)].map((one) => [
      one.long ?? one.short!,
      one.description,
    ]);
  }
  if (command.commands.length > 0) {
    if (operands.length > 0) return [];
    const shown = command.createHelp().visibleCommands(command);
    return shown.map((one) => [one.name(), one.description()]);
  }
  const argument = command.registeredArguments[operands.length];
  return argument?.argChoices?.map((choice) => [choice, '']) ?? live(argument?.name() ?? '', self);
}

async function live(name: string, self: Command): Promise<Offered[]> {
  if (!Object.hasOwn(LIVE, name)) return [];
  const late = new Promise<Offered[]>((resolve) => setTimeout(resolve, PATIENCE_MS, []).unref());
  return Promise.race([LIVE[name]!(contextOf(self).client), late]);
}

const SCRIPTS: Record<string, string> = {
  bash: `
_consigliere() {
  local found
  COMPREPLY=()
  while IFS=$'\\t' read -r found _; do
    [ -n "$found" ] && COMPREPLY+=("$(printf %q "$found")")
  done < <(consigliere __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _consigliere consigliere
`,
  zsh: `
#compdef consigliere
_consigliere() {
  local -a found
  local id about
  while IFS=$'\\t' read -r id about; do
    [[ -n $id ]] && found+=("\${id//:/\\\\:}:$about")
  done < <(consigliere __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  (( \${#found} )) && _describe consigliere found
}
if [ "$funcstack[1]" = _consigliere ]; then _consigliere "$@"; else compdef _consigliere consigliere; fi
`,
  fish: `
function __consigliere_complete
  set -l words (commandline -opc) (commandline -ct)
  consigliere __complete -- $words[2..-1] 2>/dev/null
end
complete -c consigliere -f -a '(__consigliere_complete)'
`,
  pwsh: `
Register-ArgumentCompleter -Native -CommandName consigliere -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($word -eq '') { $words += '' }
  consigliere __complete -- @words 2>$null | ForEach-Object {
    $id, $about = $_ -split "\`t", 2
    $typed = if ($id -match '^[\\w./@-]+$') { $id } else { "'" + $id.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($typed, $id, 'ParameterValue', $(if ($about) { $about } else { $id }))
  }
}
`,
};
