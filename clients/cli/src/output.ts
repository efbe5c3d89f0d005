import { styleText } from 'node:util';

export type Style = Parameters<typeof styleText>[0];

/** Whether colours and redrawing make sense on this stream (no-color.org). */
function isColoured(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env;
  if (NO_COLOR) return false;
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0';
  return stream.isTTY && TERM !== 'dumb';
}

export function styled(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return isColoured(stream) ? styleText(style, text, { validateStream: false }) : text;
}

/**
 * Text of the service with what a terminal would obey, what would reorder it and what shows as nothing made visible: an agent writes
 * some of it, and a person decides by what stands on the screen.
 */
export function visible(text: string): string {
  return text.replace(
    // The last ones show as nothing, and Unicode counts them as letters and signs. A sign and the selector of its form are one emoji.
    /(?![\t\n]|(?<=\p{Emoji})\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb\u2800\u{16fe4}\u{1d159}]/gu,
    (character) =>
      character
        .split('')
        .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
        .join(''),
  );
}

export function onOneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim());
}

/** On standard error; at a terminal broken between words. */
export function say(text: string): void {
  process.stderr.write(`${brokenFor(process.stderr, text)}\n`);
}

/** One JSON value on a line of its own, for streams. */
export function printLine(value: unknown): void {
  process.stdout.write(`${visible(JSON.stringify(value))}\n`);
}

export function printJson(value: unknown): void {
  process.stdout.write(`${visible(JSON.stringify(value, null, 2))}\n`);
}

/** At a terminal broken between words. */
export function print(text: string): void {
  if (text !== '') process.stdout.write(`${brokenFor(process.stdout, text)}\n`);
}

function brokenFor(stream: NodeJS.WriteStream, text: string): string {
  if (!stream.isTTY) return text;
  return text
    .split('\n')
    .map((line) => {
      const margin = /^ */.exec(line)![0];
      const lines = linesOf(line.slice(margin.length), terminalWidth() - margin.length);
      return lines.map((one) => margin + one).join('\n');
    })
    .join('\n');
}

/** A line in pieces of at most this width, broken between words. */
function linesOf(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const lines = [''];
  for (const word of line.split(/(?<= )/)) {
    if (widthOf(lines.at(-1)! + word.trimEnd()) > width && lines.at(-1) !== '') lines.push('');
    lines[lines.length - 1] += word;
  }
  return lines.map((one) => one.trimEnd());
}

interface Column<Row> {
  head: string;
  cell: (row: Row) => string | number | null | undefined;
  style?: (row: Row) => Style | undefined;
  /** Gives way where the terminal is too narrow. */
  shrinks?: boolean;
}

const GAP = '  ';

/** Fields that hold a time, in milliseconds. */
const INSTANT = /^at$|(At|Until|By)$/;

/** A column by the name of its field, or one that says more. */
export type Columns<Row> = (Column<Row> | (keyof Row & string))[];

function columnOf<Row>(column: Column<Row> | (keyof Row & string)): Column<Row> {
  if (typeof column !== 'string') return column;
  const cell = (row: Row) => {
    const value = row[column] as unknown;
    return INSTANT.test(column) && typeof value === 'number' ? when(value) : textOf(column, value);
  };
  return {
    head: column.endsWith('Id') ? 'Id' : wordsOf(column).replace(/ at$/, ''),
    cell,
    ...(/^(status|risk|severity|effect|outcome|from|to|passed)$/.test(column) && {
      style: (row) => styleOf(cell(row)),
    }),
    shrinks:
      /^(title|name|summary|text|reason|label|url|description|email|recipient|why|kind|publisher|agent|createdBy)$/.test(
        column,
      ),
  };
}

/** Aligned columns of the width of the terminal; in a pipe every value whole, with tabs between them and without the heads. */
export function table<Row>(rows: Row[], shown: Columns<Row>): string {
  const columns = shown.map(columnOf);
  const cells = rows.map((row) => columns.map(({ cell }) => onOneLine(String(cell(row) ?? ''))));
  if (!process.stdout.isTTY) return cells.map((row) => row.join('\t')).join('\n');
  const widths = columns.map(({ head }, at) =>
    Math.max(widthOf(head), ...cells.map((row) => widthOf(row[at]!))),
  );
  const total = widths.reduce((sum, width) => sum + width, GAP.length * (columns.length - 1));
  let excess = total - terminalWidth();
  for (const least of [12, 6])
    for (const [at, { shrinks, head }] of columns.entries()) {
      const spare = shrinks ? widths[at]! - Math.max(least, widthOf(head)) : 0;
      const given = Math.max(0, Math.min(excess, spare));
      widths[at]! -= given;
      excess -= given;
    }
  const line = (row: string[], style: (at: number) => Style | undefined) =>
    row
      .map((text, at) => {
        const cell = fit(text, widths[at]!);
        const chosen = style(at);
        const padding = at === row.length - 1 ? '' : ' '.repeat(widths[at]! - widthOf(cell));
        return (chosen ? styled(chosen, cell) : cell) + padding;
      })
      .join(GAP)
      .trimEnd();
  return [
    line(
      columns.map(({ head }) => head.toUpperCase()),
      () => 'dim',
    ),
    ...cells.map((row, n) => line(row, (at) => columns[at]!.style?.(rows[n]!))),
  ].join('\n');
}

/** A record with a line for each field that has a value. */
export function record(fields: Record<string, unknown>): string {
  const shown = Object.entries(fields)
    .map(([name, value]) => [wordsOf(name), textOf(name, value)] as const)
    .filter(([, value]) => value !== '');
  if (!process.stdout.isTTY) return shown.map(([name, value]) => `${name}:\t${value}`).join('\n');
  const width = Math.max(...shown.map(([name]) => name.length)) + 1;
  const margin = ' '.repeat(width + 1);
  return shown
    .map(([name, value]) => {
      const lines = value.split('\n').flatMap((line) => linesOf(line, terminalWidth() - margin.length));
      return `${styled('dim', `${name}:`.padEnd(width))} ${lines.join(`\n${margin}`)}`;
    })
    .join('\n');
}

/** What people read for a value of a record: what it holds in lines of its own; in a pipe as JSON. */
function textOf(name: string, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' && INSTANT.test(name)) return time(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object') return visible(String(value as string | number));
  if ('name' in value && ('type' in value || 'tokenId' in value)) return visible(String(value.name));
  const isSimple = Array.isArray(value) && value.every((item) => typeof item !== 'object');
  if (isSimple) return value.map((item) => textOf(name, item)).join(', ');
  if (!process.stdout.isTTY) return visible(JSON.stringify(value));
  if (Array.isArray(value))
    return value.map((item) => `- ${textOf(name, item).replaceAll('\n', '\n  ')}`).join('\n');
  return Object.entries(value)
    .map(([key, member]) => [onOneLine(key), textOf(key, member)] as const)
    .filter(([, text]) => text !== '')
    .map(([key, text]) => `${key}: ${text.includes('\n') ? `\n${text.replaceAll(/^/gm, '  ')}` : text}`)
    .join('\n');
}

function wordsOf(name: string): string {
  if (!/^[a-z]+([A-Z0-9][a-z0-9]*)*$/.test(name)) return name;
  const words = name.replace(/([A-Z]|\d+)/g, ' $1');
  return words[0]!.toUpperCase() + words.slice(1).toLowerCase();
}

/** A text behind a sign, its further lines below the first. */
export function bullet(sign: string, text: string): string {
  return wrapped(text, '  ').replace(/^  /, `${sign} `);
}

/** Long text in lines of at most the terminal's width, behind a margin. */
export function wrapped(text: string, margin: string): string {
  const width = Math.max(20, terminalWidth() - widthOf(margin));
  return visible(text)
    .split('\n')
    .flatMap((line) => linesOf(line, width))
    .map((line) => (margin + line).trimEnd())
    .join('\n');
}

/** In a terminal how far away it is, in a pipe the instant. */
export function when(at: number | string | null | undefined): string {
  if (at === null || at === undefined) return '';
  const ms = typeof at === 'string' ? Date.parse(at) : at;
  if (!process.stdout.isTTY) return new Date(ms).toISOString();
  const seconds = Math.round(Math.abs(ms - Date.now()) / 1_000);
  const far =
    seconds < 90
      ? `${seconds} s`
      : seconds < 5_400
        ? `${Math.round(seconds / 60)} min`
        : seconds < 129_600
          ? `${Math.round(seconds / 3_600)} h`
          : `${Math.round(seconds / 86_400)} d`;
  return ms > Date.now() ? `in ${far}` : `${far} ago`;
}

/** An instant, on a terminal in the zone of this machine. */
export function time(at: number | string): string {
  const date = new Date(at);
  if (!process.stdout.isTTY) return date.toISOString();
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

/** Red for what is bad, green for what is good, by the words of the service. */
export function styleOf(word: string | null | undefined): Style | undefined {
  return STYLES.find(([, words]) => words.includes(word ?? ''))?.[0];
}
const STYLES = (
  [
    ['red', 'no failed rejected denied halted killed error dead red critical high deny unconfirmed gone'],
    ['green', 'yes executed approved completed active delivered green allow done succeeded guardrailed'],
    [
      'yellow',
      'pending pending_approval awaiting-approval medium yellow warning paused require_approval draft',
    ],
  ] as const
).map(([style, words]) => [style, words.split(' ')] as const);

const BARS = '▁▂▃▄▅▆▇█';

export function sparkline(values: (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  return values
    .map((value) => {
      if (value === null) return ' ';
      return BARS[high === low ? 0 : Math.round(((value - low) / (high - low)) * (BARS.length - 1))];
    })
    .join('');
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';

/** Says on standard error what is going on once it takes over a second; `tell` says more. Without a text, only at a terminal. */
export async function withProgress<T>(
  text: string | undefined,
  work: (tell: (more: string) => void) => Promise<T>,
): Promise<T> {
  let more = '';
  let frame = 0;
  const isLive = process.stderr.isTTY && process.env['TERM'] !== 'dumb';
  const draw = () => {
    if (isLive)
      process.stderr.write(
        `\r\u001b[K${FRAMES[frame++ % FRAMES.length]} ${text ?? 'Waiting for the service'}${more}`,
      );
    else if (text && frame++ === 0) say(`${text}...`);
  };
  let every: NodeJS.Timeout | undefined;
  const start = setTimeout(() => {
    draw();
    every = setInterval(draw, 100);
  }, 1_000);
  try {
    return await work((told) => (more = ` ${told}`));
  } finally {
    clearTimeout(start);
    clearInterval(every);
    if (isLive && frame > 0) process.stderr.write('\r\u001b[K');
  }
}

export function terminalWidth(): number {
  return process.stdout.columns || process.stderr.columns || 80;
}

/** A text that takes at most this width; … marks where it was cut. */
export function fit(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let kept = '';
  for (const character of text) {
    if (widthOf(kept + character) > width - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** How many cells of a terminal a text takes; its colours take none. */
function widthOf(text: string): number {
  let width = 0;
  // oxlint-disable-next-line no-control-regex -- exactly these are left out
  for (const character of text.replace(/\u001b\[[\d;]*m/g, '')) {
    if (/\p{M}/u.test(character)) continue;
    width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;
