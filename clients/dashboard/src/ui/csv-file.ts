import { type ListPage, MOST_ROWS, readAll } from './read-all.js';
import { save } from './save.js';

/** Below this depth an object is one cell, as JSON. */
const DEEPEST = 2;

/** Has the browser keep a list as a file. @returns what the file has, in a sentence */
export async function saveList(
  name: string,
  list: ListPage,
  tell: (sentence: string) => void,
  left: AbortSignal,
) {
  const { rows, isWhole } = await readAll(list, left, tell);
  left.throwIfAborted();
  saveCsv(name, csvOf(rows));
  return isWhole
    ? `The file has all ${rows.length} rows.`
    : `The file has only the first ${MOST_ROWS.toLocaleString()} rows. Narrow the list for the rest.`;
}

/** @param content CSV, as UTF-8 */
export function saveCsv(name: string, content: BlobPart): void {
  // Without the mark, spreadsheets take it for another encoding.
  save(new Blob(['\u{FEFF}', content], { type: 'text/csv;charset=utf-8' }), `${name}.csv`);
}

/** RFC 4180, with a column for each property that any row has. */
function csvOf(rows: readonly object[]): string {
  const flat = rows.map((row) => new Map(cellsOf(row)));
  const columns = [...new Set(flat.flatMap((cells) => [...cells.keys()]))];
  const lines = [columns, ...flat.map((cells) => columns.map((column) => cells.get(column)))];
  return lines.map((line) => `${line.map(cellOf).join(',')}\r\n`).join('');
}

/** The properties of a row by their paths, such as `createdBy.name`. */
function cellsOf(object: object, path = '', depth = 1): [string, unknown][] {
  return Object.entries(object).flatMap(([name, value]: [string, unknown]) => {
    const isDeeper = typeof value === 'object' && value !== null && !Array.isArray(value) && depth < DEEPEST;
    return isDeeper
      ? cellsOf(value, `${path}${name}.`, depth + 1)
      : [[path + name, isTime(name, value) ? new Date(value).toISOString() : value]];
  });
}

/** The service tells moments in milliseconds; spreadsheets read ISO 8601. */
function isTime(name: string, value: unknown): value is number {
  return typeof value === 'number' && /^at$|(?:At|Until|By)$/.test(name);
}

function cellOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = textOf(value);
  // A spreadsheet would compute a text that begins like a formula; the apostrophe makes it text again.
  const harmless = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join('; ');
  return JSON.stringify(value);
}
