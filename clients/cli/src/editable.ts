import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ApprovalView, EditBody } from '@consigliere/sdk';
import { CliError, EXIT, UsageError } from './errors.js';
import { onOneLine, say } from './output.js';

/** The text that stands in the editor: values as JSON, and long text as it is, indented below its name. */
export function editableOf({ packets, kind, title, output }: ApprovalView): string {
  const lines = [
    `# ${onOneLine(title)}`,
    '# Change values below, save, and close the editor. A line that begins with # is ignored.',
    '# Text below `|` stands as it is, indented by two spaces; every other value is JSON.',
  ];
  if (output && packets.length === 0) lines.push('', '[output]', ...entry('body', output.body));
  for (const { workPacketId, action } of packets) {
    lines.push('', `[${kind === 'action' ? 'params' : workPacketId}]  # ${onOneLine(action.type)}`);
    for (const [name, value] of Object.entries(action.params)) lines.push(...entry(name, value));
  }
  return `${lines.join('\n')}\n`;
}

function entry(name: string, value: unknown): string[] {
  const key = /^[\w.-]+$/.test(name) ? name : JSON.stringify(name);
  const isBlock =
    typeof value === 'string' &&
    (value.includes('\n') || value.length > 60) &&
    /\S$/.test(value) &&
    !/\r/.test(value);
  return isBlock
    ? [`${key}: |`, ...value.split('\n').map((line) => `  ${line}`)]
    : [`${key}: ${JSON.stringify(value)}`];
}

/** What the edited text changes; undefined when that is nothing. @throws UsageError that names the line */
export function editOf(text: string, { packets, kind, output }: ApprovalView): EditBody | undefined {
  const sections = parsed(text);
  const body: EditBody = {};
  const edited = sections.get('output')?.['body'];
  if (typeof edited === 'string' && output && edited !== output.body) body.output = { body: edited };
  for (const { workPacketId, action } of packets) {
    const params = sections.get(kind === 'action' ? 'params' : workPacketId);
    if (!params || isSame(params, action.params)) continue;
    if (kind === 'action') body.params = params;
    else body.packets = [...(body.packets ?? []), { workPacketId, params }];
  }
  return Object.keys(body).length > 0 ? body : undefined;
}

function isSame(one: object, other: object): boolean {
  const sorted = (value: object) =>
    JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

function parsed(text: string): Map<string, Record<string, unknown>> {
  const sections = new Map<string, Record<string, unknown>>();
  let values: Record<string, unknown> | undefined;
  let block: { name: string; lines: string[] } | undefined;
  const endBlock = () => {
    if (block) values![block.name] = block.lines.join('\n').trimEnd();
    block = undefined;
  };
  for (const [at, line] of text.replaceAll('\r\n', '\n').split('\n').entries()) {
    if (block && (line.startsWith('  ') || line.trim() === '')) {
      block.lines.push(line.slice(2));
      continue;
    }
    endBlock();
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, section] = /^\[([\w]+)\]\s*(?:#.*)?$/.exec(line) ?? [];
    if (section) {
      values = {};
      sections.set(section, values);
      continue;
    }
    const [, key, value] = /^("(?:[^"\\]|\\.)*"|[\w.-]+):\s*(.*)$/.exec(line) ?? [];
    if (key === undefined || !values) throw new UsageError(`Line ${at + 1} cannot be read: ${line}`);
    const name = key.startsWith('"') ? (JSON.parse(key) as string) : key;
    if (value === '|') block = { name, lines: [] };
    else {
      try {
        values[name] = JSON.parse(value!);
      } catch {
        throw new UsageError(`Line ${at + 1}: the value of ${name} is not JSON; text stands in "quotes".`);
      }
    }
  }
  endBlock();
  return sections;
}

/** Opens a person's editor on the text. What they wrote is kept where `use` fails, so that nothing has to be typed again. */
export async function inEditor<T>(text: string, use: (edited: string) => T | Promise<T>): Promise<T> {
  const { spawn } = await import('node:child_process');
  const { mkdtemp, readFile, rm, writeFile } = await import('node:fs/promises');
  const editor =
    process.env['VISUAL'] || process.env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi');
  // Readable by this user alone, as all that a temporary folder made this way holds.
  const folder = await mkdtemp(join(tmpdir(), 'consigliere-'));
  const file = join(folder, 'approval.txt');
  await writeFile(file, text, { mode: 0o600 });
  // Ctrl-C is the editor's now.
  const listeners = process.listeners('SIGINT');
  process.removeAllListeners('SIGINT').on('SIGINT', () => undefined);
  const code = await new Promise<number | null>((resolve, reject) => {
    // An editor is a command line, such as `code --wait`.
    spawn(`${editor} "${file}"`, { shell: true, stdio: ['inherit', process.stderr, 'inherit'] })
      .once('error', reject)
      .once('exit', resolve);
  }).finally(() => {
    process.removeAllListeners('SIGINT');
    for (const listener of listeners) process.on('SIGINT', listener);
  });
  if (code !== 0) {
    await rm(folder, { recursive: true, force: true });
    throw new CliError(`The editor (${editor}) ended with ${code}. Nothing was changed.`, EXIT.error);
  }
  const edited = await readFile(file, 'utf8');
  try {
    const result = await use(edited);
    await rm(folder, { recursive: true, force: true });
    return result;
  } catch (error) {
    say(`What you wrote is kept in ${file}.`);
    throw error;
  }
}
