import { markdownLine, markdownQuote } from '../../platform/kernel/markdown.js';
import { momentIn } from '../../platform/kernel/local-day.js';
import { outlineOf, type Part, titleOf } from './report-outline.js';
import type { DailyReport } from './report.js';

/** The report as Markdown; what others wrote is text in it, whatever characters it has. */
export function markdownOf(report: DailyReport, teams?: readonly { name: string }[]): string {
  const { headline, receiptRange, receiptHead, timezone, generatedAt, reportId } = report;
  const { from, to } = receiptRange;
  const range = to < from ? 'no receipts' : `receipts ${from} to ${to}`;
  return `${[
    `# ${markdownLine(titleOf(report, teams))}`,
    markdownLine(headline),
    ...outlineOf(report).map(partOf),
    '---',
    `Days and times are those of ${timezone}. Made on ${momentIn(Date.parse(generatedAt), timezone)} as ${reportId}, from ${range}; what is open is told as of receipt ${receiptHead.seq}.`,
  ].join('\n\n')}\n`;
}

function partOf({ title, facts, items, note, text, warning }: Part): string {
  const list = [
    ...facts.map(([name, value]) => `- ${name}: ${markdownLine(value)}`),
    ...items.map((item) => `- ${markdownLine(item)}`),
  ].join('\n');
  return [
    `## ${markdownLine(title)}`,
    ...(warning === undefined ? [] : [`**${warning}**`]),
    ...(list === '' ? [] : [list]),
    ...(text === undefined ? [] : [markdownQuote(text)]),
    ...(note === undefined ? [] : [markdownLine(note)]),
  ].join('\n\n');
}
