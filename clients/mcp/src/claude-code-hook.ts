import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { Readable, Writable } from 'node:stream';
import { promisify } from 'node:util';
import { type Consigliere, OutcomeUnknown } from '@consigliere/sdk';
import { ENDED } from './proxy-calls.js';
import { isObject } from './proxy-server.js';
import { canonical, segmentOf, sha256 } from './proxy-tools.js';

type Json = Record<string, unknown>;

/** What Claude Code writes to a hook, as far as it is used here. */
interface HookInput {
  hook_event_name: string;
  session_id: string;
  tool_name: string;
  tool_input: Json;
  tool_use_id: string;
  tool_response?: unknown;
  error?: unknown;
  is_interrupt?: boolean;
}

export interface HookOptions {
  /** How long a call waits for a decision before it is denied as pending, in milliseconds; 50,000 unless given. */
  waitMs?: number;
  /** Where is kept what one run of the hook leaves for the next; a folder of Claude Code's own unless given. */
  stateDir?: string;
}

/** Thrown once Claude Code has been told to go on: the act is its own, and what comes of it the next hook hears. */
class HandedOver extends OutcomeUnknown {}

/**
 * A hook of Claude Code. Before a tool is used it asks Consigliere for `claude-code.<tool>` and allows or denies it, with the
 * parameters that were decided; after the tool it reports what came of it. Answers the exit code: 0, or 2, which blocks the tool.
 */
export async function runClaudeCodeHook(
  client: Consigliere,
  stdin: Readable,
  stdout: Writable,
  { waitMs = 50_000, stateDir = defaultStateDir() }: HookOptions = {},
): Promise<0 | 2> {
  let event = '';
  try {
    const input = inputOf(await textOf(stdin));
    event = input.hook_event_name;
    const state = await stateOf(stateDir, input.session_id);
    if (event === 'PreToolUse') await ask(client, input, state, waitMs, stdout);
    else await report(client, input, state);
    return 0;
  } catch (error) {
    const { message } = error as Error;
    // What comes after the tool cannot undo it: the request stays without a result, which people are asked to look into.
    if (event === 'PreToolUse') await deny(stdout, `It was not done: ${message}`);
    else console.error(`consigliere: ${message}`);
    return event === '' ? 2 : 0;
  }
}

async function ask(
  client: Consigliere,
  { session_id, tool_name, tool_input, tool_use_id }: HookInput,
  state: string,
  timeout: number,
  stdout: Writable,
): Promise<void> {
  const tool = claudeCodeToolOf(tool_name);
  // The same call again goes on with what was asked for before, under the name of the first.
  const open = join(state, `open-${sha256(canonical([tool, tool_input]))}`);
  const first = (await readFile(open, 'utf8').catch(() => '')) || tool_use_id;
  await writeFile(open, first);
  const act = async (
    params: Json,
    { actionRequestId, edited }: { actionRequestId: string; edited: boolean },
  ) => {
    await writeFile(join(state, fileOf(tool_use_id)), actionRequestId);
    await rm(open, { force: true });
    await answer(stdout, {
      permissionDecision: 'allow',
      permissionDecisionReason: edited
        ? 'A person changed the parameters and allowed it.'
        : 'Consigliere allows it.',
      ...(edited && { updatedInput: params }),
    });
    throw new HandedOver('Claude Code does it.', actionRequestId);
  };
  try {
    const ran = await client.actions.run(tool, tool_input, act, {
      externalId: sha256(canonical([session_id, tool, tool_input, first])),
      run: { id: session_id, framework: 'claude-code' },
      timeout,
    });
    if (!ran.isDone && ENDED.has(ran.status)) await rm(open, { force: true });
    await deny(stdout, ran.isDone ? 'It was done before.' : ran.text);
  } catch (error) {
    if (!(error instanceof HandedOver)) throw error;
  }
}

/** Tells what came of a tool that was allowed; what the person in front of it has interrupted may be done or not. */
async function report(
  client: Consigliere,
  { hook_event_name, tool_name, tool_response, error, is_interrupt, tool_use_id }: HookInput,
  state: string,
): Promise<void> {
  const file = join(state, fileOf(tool_use_id));
  const actionRequestId = await readFile(file, 'utf8').catch(() => undefined);
  if (actionRequestId === undefined) return;
  const hasFailed = hook_event_name === 'PostToolUseFailure';
  if (!is_interrupt) {
    const said = JSON.stringify(hasFailed ? error : tool_response) ?? '';
    const summary = hasFailed ? `It failed: ${said}` : `${tool_name}: done.`;
    await client.actions.report(actionRequestId, {
      outcome: hasFailed ? 'failed' : 'succeeded',
      summary: cut(summary, 500),
      output: { beginning: cut(said, 2_000) },
    });
  }
  await rm(file, { force: true });
}

/** The name under which a tool of Claude Code is asked for. */
function claudeCodeToolOf(tool: string): string {
  return `claude-code.${segmentOf(tool)}`;
}

const EVENTS = new Set(['PreToolUse', 'PostToolUse', 'PostToolUseFailure']);

function inputOf(text: string): HookInput {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch {
    throw new Error('What Claude Code wrote to the hook is no JSON.');
  }
  if (!isObject(input)) throw new Error('What Claude Code wrote to the hook is no object.');
  const missing = ['hook_event_name', 'session_id', 'tool_name', 'tool_use_id'].filter(
    (name) => typeof input[name] !== 'string',
  );
  if (!isObject(input['tool_input'])) missing.push('tool_input');
  if (missing.length > 0) throw new Error(`What Claude Code wrote to the hook has no ${missing.join(', ')}.`);
  const event = input['hook_event_name'] as string;
  if (!EVENTS.has(event)) throw new Error(`${event} is no hook of a tool.`);
  return input as unknown as HookInput;
}

function deny(stdout: Writable, permissionDecisionReason: string): Promise<void> {
  return answer(stdout, { permissionDecision: 'deny', permissionDecisionReason });
}

/** @throws Error where nobody reads it */
function answer(stdout: Writable, decision: Json): Promise<void> {
  const output = { hookSpecificOutput: { hookEventName: 'PreToolUse', ...decision } };
  return new Promise((resolve, reject) => {
    stdout.write(`${JSON.stringify(output)}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

function cut(text: string, length: number): string {
  return text.replaceAll('\0', '').slice(0, length).toWellFormed();
}

function configDir(): string {
  return process.env['CLAUDE_CONFIG_DIR'] ?? join(homedir(), '.claude');
}

function defaultStateDir(): string {
  return join(configDir(), 'consigliere');
}

const WEEK_MS = 7 * 24 * 3_600_000;

/** The folder of a session; those of sessions of long ago are removed. */
async function stateOf(stateDir: string, session: string): Promise<string> {
  const folder = join(stateDir, fileOf(session));
  const made = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (made !== undefined) {
    for (const name of await readdir(stateDir)) {
      const { mtimeMs } = await stat(join(stateDir, name));
      if (Date.now() - mtimeMs > WEEK_MS) await rm(join(stateDir, name), { recursive: true, force: true });
    }
  }
  return folder;
}

/** An id of somebody else's as the name of a file. */
function fileOf(id: string): string {
  return sha256(id).slice(0, 32);
}

/** The first version that knows `onFailure`. Earlier ones go on with the tool when a hook fails, whatever the settings say. */
const SINCE = [2, 1, 295] as const;
/** Longer than the hook waits for a decision, with the time of its calls. */
const HOOK_SECONDS = 90;

export interface InstallOptions {
  /** The folder of the project, whose `.claude/settings.json` gets the hook; the current one unless given. */
  directory?: string;
  /** The program that is the hook, and its arguments; `consigliere hook claude-code` unless given. */
  command?: readonly [string, ...string[]];
  /** Which tools it concerns, as Claude Code matches them; all of them unless given. */
  matcher?: string;
  /** The program of Claude Code; `claude` unless given. */
  claude?: string;
}

/**
 * Writes the hook into the settings of a project, in place of one that was installed before. Answers the file.
 * @throws Error where Claude Code is too old or not found, or the settings cannot be read; nothing is changed then
 */
export async function installClaudeCodeHook({
  directory = process.cwd(),
  command = ['consigliere', 'hook', 'claude-code'],
  matcher = '*',
  claude = 'claude',
}: InstallOptions = {}): Promise<string> {
  await assertKnowsOnFailure(claude);
  const file = join(directory, '.claude', 'settings.json');
  const settings = await settingsOf(file);
  if (settings['disableAllHooks'] === true) {
    throw new Error(`${file} says disableAllHooks, so no hook would run. Remove that first.`);
  }
  const [program, ...args] = command;
  const hook = { type: 'command', command: program, args, timeout: HOOK_SECONDS, onFailure: 'block' };
  const isOurs = (entry: unknown) =>
    isObject(entry) &&
    Array.isArray(entry['hooks']) &&
    entry['hooks'].some(
      (each) =>
        isObject(each) &&
        Array.isArray(each['args']) &&
        each['args'].slice(-2).join(' ') === 'hook claude-code',
    );
  const given = settings['hooks'] ?? {};
  if (!isObject(given)) throw new Error(`hooks in ${file} is no object. Mend it first.`);
  const hooks: Json = { ...given };
  for (const event of ['PreToolUse', 'PostToolUse', 'PostToolUseFailure']) {
    const entries = hooks[event] ?? [];
    if (!Array.isArray(entries)) throw new Error(`hooks.${event} in ${file} is no list. Mend it first.`);
    hooks[event] = [...entries.filter((entry) => !isOurs(entry)), { matcher, hooks: [hook] }];
  }
  await mkdir(join(directory, '.claude'), { recursive: true });
  // Settings may hold keys, so nobody may read the new ones who could not read the old.
  const { mode = 0o644 } = (await stat(file).catch(() => undefined)) ?? {};
  await writeFile(`${file}.new`, `${JSON.stringify({ ...settings, hooks }, null, 2)}\n`, {
    mode: mode & 0o777,
  });
  await rename(`${file}.new`, file);
  return file;
}

/** @throws Error */
async function assertKnowsOnFailure(claude: string): Promise<void> {
  const needed = `The hook needs Claude Code ${SINCE.join('.')} or newer: earlier ones use the tool when the hook fails.`;
  const { stdout } = await promisify(execFile)(claude, ['--version'], { timeout: 30_000 }).catch(
    (error: Error) => {
      throw new Error(`${needed} ${claude} --version could not be run: ${error.message}`);
    },
  );
  const found = /\b(\d+)\.(\d+)\.(\d+)\b/.exec(stdout);
  if (!found) throw new Error(`${needed} ${claude} --version does not tell its version.`);
  const version = found.slice(1).map(Number);
  const differing = SINCE.findIndex((part, at) => part !== version[at]);
  if (differing !== -1 && version[differing]! < SINCE[differing]!) {
    throw new Error(`${needed} This one is ${found[0]}; update it with: claude update`);
  }
}

async function settingsOf(file: string): Promise<Json> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}';
    throw error;
  });
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch {
    // Told below.
  }
  if (!isObject(settings)) throw new Error(`${file} is no JSON object. Mend it first; nothing was changed.`);
  return settings;
}
