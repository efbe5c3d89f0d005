import { oneLine } from '../notifications/blocks.js';
import { outlineOf, type Part, titleOf } from './report-outline.js';
import type { DailyReport } from './report.js';

/** The report as Markdown; what others wrote is text in it, whatever characters it has. */
export function markdownOf(report: DailyReport): string {
  const { headline, receiptRange, receiptHead, timezone, generatedAt, reportId } = report;
  const { from, to } = receiptRange;
  const range = to < from ? 'no receipts' : `receipts ${from} to ${to}`;
  return `${[
    `# ${titleOf(report)}`,
    escaped(headline),
    ...outlineOf(report).map(partOf),
    '---',
    `Days are those of ${timezone}. Made at ${generatedAt} as ${reportId}, from ${range}; what is open is told as of receipt ${receiptHead.seq}.`,
  ].join('\n\n')}\n`;
}

function partOf({ title, facts, items, note, text, warning }: Part): string {
  const list = [
    ...facts.map(([name, value]) => `- ${name}: ${escaped(value)}`),
    ...items.map((item) => `- ${escaped(item)}`),
  ].join('\n');
  return [
    `## ${escaped(title)}`,
    ...(warning === undefined ? [] : [`**${warning}**`]),
    ...(list === '' ? [] : [list]),
    ...(text === undefined ? [] : [quoted(text)]),
    ...(note === undefined ? [] : [escaped(note)]),
  ].join('\n\n');
}

/** Text on one line that no reader of Markdown takes for anything else. */
function escaped(text: string): string {
  return oneLine(text)
    .replace(/[\\`*_[\]<>~|&]/g, '\\$&')
    .replace(/^([#+=-])/, '\\$1')
    .replace(/^(\d+)([.)])(?=\s|$)/, '$1\\$2');
}

/** What a capo wrote is Markdown of its own, and none of the report's. */
function quoted(text: string): string {
  return text
    .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}
