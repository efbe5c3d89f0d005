import type { Consigliere } from '@consigliere/sdk';
import { Argument, type Command, Option } from 'commander';
import { UsageError } from './errors.js';
import { type Columns, print, printJson, record, say, styled, table, withProgress } from './output.js';
import { clientOf, findSession, type Session } from './session.js';

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
type OptionRow = [
  flags: string,
  description: string,
  more?: {
    choices?: readonly string[];
    default?: string | boolean;
    repeats?: boolean;
    required?: boolean;
    number?: boolean;
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

type Filters = Record<string, never>;

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
  watch?: (context: Context) => Promise<undefined>;
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
    const work = async () => spec.run(context);
    const result = spec.progress === null ? await work() : await withProgress(spec.progress, work);
    if (result === undefined) return;
    const found = result as Exclude<T, undefined>;
    if (context.options.json) printJson(spec.json ? spec.json(found) : found);
    else print(spec.show ? spec.show(found, context) : record(found as Record<string, unknown>));
  });
}

/** A list that goes on over its pages until there are `--limit` items. With --json it prints an array of them. */
export function defineList<Item>(parent: Command, spec: ListSpec<Item>): Command {
  return define(parent, {
    usage: spec.usage ?? 'list',
    summary: spec.summary,
    options: [
      ...(spec.filters ?? []),
      ['-L, --limit <n>', 'how many at most', { default: '20', number: true }],
      ...(spec.watch ? [['-w, --watch', 'go on with what joins the list, until Ctrl-C'] as OptionRow] : []),
    ],
    ...(spec.examples && { examples: spec.examples }),
    ...(spec.watch && { progress: null }),
    run: async (context: Context<{ limit: string; team?: string; watch?: boolean }>) => {
      const { client, args, options } = context;
      if (options.watch) return spec.watch!(context);
      const { json: _json, profile: _profile, debug: _debug, limit, team, ...filters } = options;
      const query: object = {
        ...filters,
        ...(team && { teamId: team }),
        limit: Math.min(100, Number(limit)),
      };
      const call = spec.call(client, query as Filters, args);
      const { total } = await call;
      return { items: await call.toArray({ limit: Number(limit) }), total };
    },
    json: ({ items }) => items,
    show: ({ items, total }) => {
      if (items.length === 0) {
        say(spec.empty);
        return '';
      }
      if (total !== undefined && total > items.length)
        say(styled('dim', `Showing ${items.length} of ${total}; --limit shows more.`, process.stderr));
      return table(items, spec.columns);
    },
  });
}

/** For each row a command with one id that answers a record. */
export function defineCalls(
  parent: Command,
  rows: [
    usage: string,
    summary: string,
    call: (client: Consigliere, id: string) => PromiseLike<object>,
    show?: (result: never) => string,
  ][],
): void {
  for (const [usage, summary, call, show] of rows) {
    define<object, object>(parent, {
      usage,
      summary,
      run: async ({ client, args }) => call(client, args[0]!),
      ...(show && { show: (result) => show(result as never) }),
    });
  }
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
  if (more.repeats) option.argParser((value, before?: string[]) => [...(before ?? []), value]);
  return option;
}

function wholeNumber(value: string): string {
  if (/^[1-9]\d{0,8}$/.test(value)) return value;
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
