import { AuthenticationError, type Consigliere, NotFoundError } from '@consigliere/sdk';
import { Argument, type Command, Option } from 'commander';
import { CliError, EXIT, UsageError } from './errors.js';
import {
  type Columns,
  onOneLine,
  print,
  printJson,
  record,
  say,
  styled,
  table,
  withProgress,
} from './output.js';
import { clientOf, findSession, type Session, tokenRefused } from './session.js';

interface GlobalOptions {
  json?: boolean;
  profile?: string;
  debug?: boolean;
}

/** What a command is given. */
export interface Context<O = object> {
  readonly client: Consigliere;
  readonly session: Session;
  args: string[];
  options: O & GlobalOptions;
  /** Whether a person can be asked. */
  isInteractive: boolean;
}

/** An option as its flags, what it does, and what else there is to say. */
export type OptionRow = [
  flags: string,
  description: string,
  more?: {
    choices?: readonly string[];
    default?: string | number;
    repeats?: boolean;
    required?: boolean;
    number?: boolean;
    json?: boolean;
  },
];

/** Narrows a list. */
export const TEAM: OptionRow = ['--team <teamId>', 'only those of this team'];

interface Spec<O, T> {
  /** The name, and its arguments: `show <approvalId>`. */
  usage: string;
  summary: string;
  options?: OptionRow[];
  /** Values of arguments that are a fixed set. */
  choices?: Record<string, readonly string[]>;
  examples?: string[];
  /** What is said when it takes over a second; null where the command tells of itself. */
  progress?: string | null;
  /** Answers what is printed: as JSON with --json, else as `show` makes it. Undefined: everything is printed. */
  run: (context: Context<O>) => T | Promise<T>;
  show?: (result: Exclude<T, undefined>, context: Context<O>) => string;
  /** What --json prints, where that is not the answer of `run`. */
  json?: (result: Exclude<T, undefined>) => unknown;
}

export type Filters = Record<string, never>;

/** A call for a list, of whatever kind of page. */
interface ListCall<Item> extends PromiseLike<{ items: Item[]; total?: number }> {
  toArray(options: { limit: number }): Promise<Item[]>;
}

interface ListSpec<Item> {
  usage?: string;
  summary: string;
  filters?: OptionRow[];
  call: (client: Consigliere, query: Filters, args: string[]) => ListCall<Item>;
  columns: Columns<Item>;
  empty: string;
  /** Goes on with what joins the list, for --watch. */
  watch?: (context: Context, query: Filters) => Promise<undefined>;
  examples?: string[];
}

/** The commands about one thing; without a verb they list. */
export function group(program: Command, name: string, summary: string, heading: string): Command {
  return program.command(name).description(summary).helpGroup(heading);
}

export function define<O, T>(parent: Command, spec: Spec<O, T>): Command {
  const [name = '', ...args] = spec.usage.split(' ');
  const command = parent.command(name).description(spec.summary);
  for (const text of args) {
    const argument = new Argument(text);
    const choices = spec.choices?.[argument.name()];
    command.addArgument(choices ? argument.choices(choices) : argument);
  }
  for (const row of spec.options ?? []) command.addOption(optionOf(row));
  if (spec.examples) command.addHelpText('after', examplesText(spec.examples));
  return command.action(async (...given: unknown[]) => {
    const context = contextOf<O>(given.at(-1) as Command);
    assertNoneEmpty(context.options);
    const work = async () => spec.run(context);
    const running = spec.progress === null ? work() : withProgress(spec.progress, work);
    const result = await running.catch((error: unknown) => {
      if (error instanceof AuthenticationError) throw tokenRefused(error, context.session);
      throw error instanceof NotFoundError ? notFound(error, command) : error;
    });
    if (result === undefined) return;
    const found = result as Exclude<T, undefined>;
    if (context.options.json) printJson(spec.json ? spec.json(found) : found);
    else print(spec.show ? spec.show(found, context) : record(found as Record<string, unknown>));
  });
}

/** A script whose variable is empty means something else than a script that leaves the option out: `--hash "$HASH"`. */
function assertNoneEmpty(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === '' || (Array.isArray(value) && value.includes('')))
      throw new UsageError(`--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} is empty.`);
  }
}

/** Names the ids that were asked for, and where to look them up; the service says the same of each. */
function notFound(error: NotFoundError, command: Command): Error {
  const { parent } = command;
  const given = command.opts<Record<string, string>>();
  const ids = [
    ...command.registeredArguments.map((argument, at) => [argument.name(), command.args[at]]),
    ...command.options.map((option) => [/<(\w+)>/.exec(option.flags)?.[1], given[option.attributeName()]]),
  ].flatMap(([name = '', id]) => (id && /Id$|^(tool|agent|role)$/.test(name) ? [id] : []));
  if (ids.length === 0) return error;
  const list = parent?.commands.find((one) => /^(list|checkpoints)$/.test(one.name()));
  return new CliError(
    `${ids.join(' or ')} was not found: it does not exist, or your token may not see it.`,
    EXIT.notFound,
    list && `Look it up: consigliere ${parent!.name()} ${list.name()}`,
    error.code,
    { cause: error },
  );
}

/** A list that goes on over its pages until there are `--limit` items. With --json it prints an array of them. */
export function defineList<Item>(parent: Command, spec: ListSpec<Item>): Command {
  return define(parent, {
    usage: spec.usage ?? 'list',
    summary: spec.summary,
    options: [
      ...(spec.filters ?? []),
      ['-L, --limit <n>', 'how many at most', { default: 20, number: true }],
      ...(spec.watch ? [['-w, --watch', 'go on with what joins the list, until Ctrl-C'] as OptionRow] : []),
    ],
    examples: spec.examples,
    progress: spec.watch && null,
    run: async (context: Context<{ limit: number; team?: string; watch?: boolean }>) => {
      const { client, args, options } = context;
      const {
        json: _json,
        profile: _profile,
        debug: _debug,
        watch,
        limit,
        team: teamId,
        ...filters
      } = options;
      const query = { ...filters, teamId, limit: Math.min(100, limit) } as object as Filters;
      if (watch) return spec.watch!(context, query);
      const call = spec.call(client, query, args);
      const { total } = await call;
      return { items: await call.toArray({ limit }), total };
    },
    json: ({ items }) => items,
    show: ({ items, total }) => {
      if (items.length === 0) {
        say(spec.empty);
        return '';
      }
      const hint = (text: string) => say(styled('dim', text, process.stderr));
      if (total !== undefined && total > items.length)
        hint(`Showing ${items.length} of ${total}; --limit shows more.`);
      const shown = table(items, spec.columns);
      const whole = parent.commands.find((one) => /^(show|get)$/.test(one.name()));
      if (process.stdout.isTTY && shown.includes('…'))
        hint(
          `… marks what is cut: ${whole ? `consigliere ${parent.name()} ${whole.name()} <id>` : '--json'} shows it whole.`,
        );
      return shown;
    },
  });
}

/** For each row a command with one id: it answers a record, or with a text a sentence that begins with the id. */
export function defineCalls(
  parent: Command,
  rows: [
    usage: string,
    summary: string,
    call: (client: Consigliere, id: string) => PromiseLike<object>,
    show?: string | ((result: never) => string),
  ][],
): void {
  for (const [usage, summary, call, show] of rows) {
    define<object, object>(parent, {
      usage,
      summary,
      run: async ({ client, args }) => call(client, args[0]!),
      ...(show && {
        show: (result, { args }) =>
          typeof show === 'string' ? `${named(args[0]!, result)} ${show}` : show(result as never),
      }),
    });
  }
}

function named(id: string, { name, title = name }: { name?: string; title?: string }): string {
  return onOneLine(title && title !== id ? `${id} (${title})` : id);
}

export function contextOf<O>(command: Command): Context<O> {
  const options = command.optsWithGlobals<O & GlobalOptions>();
  let session: Session | undefined;
  let client: Consigliere | undefined;
  return {
    args: command.args,
    options,
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
    get session() {
      return (session ??= findSession(options.profile));
    },
    get client() {
      return (client ??= clientOf(this.session, options.debug === true));
    },
  };
}

function optionOf([flags, description, more = {}]: OptionRow): Option {
  const option = new Option(flags, description);
  if (more.choices) option.choices([...more.choices]);
  if (more.default !== undefined) option.default(more.default);
  if (more.required) option.makeOptionMandatory();
  if (more.number) option.argParser(wholeNumber);
  if (more.json) option.argParser((value) => jsonOf(value, option.long!));
  if (more.repeats) option.argParser((value, before?: string[]) => [...(before ?? []), value]);
  return option;
}

function wholeNumber(value: string): number {
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value);
  throw new UsageError(`${value} is not a whole number above 0.`);
}

export function examplesText(examples: string[]): string {
  return `\nExamples:\n${examples.map((example) => `  $ ${example}`).join('\n')}`;
}

/** @throws UsageError */
export function jsonOf(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${what} is not JSON: ${(error as Error).message}.`);
  }
}

/** A file, or with `-` standard input. */
export async function readInput(file: string): Promise<string> {
  if (file !== '-') return (await import('node:fs/promises')).readFile(file, 'utf8');
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
