import { cutText } from '../../platform/kernel/text.js';
import { type Block, type MailMessage, mailOf, oneLine } from '../mail/index.js';
import { unsubscribeBlocks } from '../notifications/index.js';
import { markdownOf, outlineOf, type Part, teamsInWords, titleOf } from './report-outline.js';
import type { DailyReport, ReportFormat } from './report.js';

/** Some mail programs cut what is larger than 100 KB, and what is loaded on the road should be less. */
const MAX_HTML_BYTES = 60_000;
/** How much of each section of the workspace's own is mailed; less where the mail would be too large. */
const TEXT_LENGTHS = [4_000, 1_500, 500, 100];

/** The mail with a report, in the format that was configured. */
export function reportMail(
  report: DailyReport,
  {
    format,
    workspaceName,
    teams,
    unsubscribeUrl,
    readUrl,
  }: {
    format: ReportFormat;
    workspaceName: string;
    /** Those that the report tells of; undefined: it tells of all. */
    teams?: readonly { name: string }[] | undefined;
    /** For a member of the workspace. */
    unsubscribeUrl?: string | undefined;
    /** Where a member reads it; nobody else could open that. */
    readUrl?: string | undefined;
  },
): Omit<MailMessage, 'id' | 'to'> {
  const title = titleOf(report, teams);
  const subject = `${title}: ${report.headline}`;
  const footer: Block[] = [
    ...(teams === undefined
      ? []
      : [
          {
            kind: 'text',
            text: `It tells what ${teamsInWords(teams)} did, which is what you may read.`,
          } as const,
        ]),
    ...(readUrl === undefined
      ? []
      : [{ kind: 'reference', text: 'Read it and the days before it:', url: readUrl } as const]),
    {
      kind: 'text',
      text: `Consigliere mails you this for ${oneLine(workspaceName)}, whose admins have named this address and can change that.`,
    },
    ...unsubscribeBlocks(unsubscribeUrl),
  ];
  const list = unsubscribeUrl !== undefined && { unsubscribeUrl };
  const html = (length: number) => ({
    ...mailOf(subject, [{ kind: 'heading', text: title }, ...blocksOf(report, length), ...footer]),
    ...list,
  });
  let mail = html(TEXT_LENGTHS[0]!);
  if (format !== 'email') {
    // As the API answers its reader.
    const json = { ...report, partial: report.partial || teams !== undefined };
    const body = format === 'json' ? `${JSON.stringify(json, null, 2)}\n` : markdownOf(report, teams);
    return { ...mail, body };
  }
  for (const length of TEXT_LENGTHS.slice(1)) {
    if (sizeOf(mail) <= MAX_HTML_BYTES) break;
    mail = html(length);
  }
  return mail;
}

function blocksOf(report: DailyReport, length: number): Block[] {
  return [
    { kind: 'text', text: report.headline },
    ...outlineOf(report).flatMap((part) => blocksOfPart(part, length)),
    { kind: 'text', text: `Days and times are those of ${report.timezone}.` },
  ];
}

function blocksOfPart({ title, facts, items, note, text, warning }: Part, length: number): Block[] {
  return [
    { kind: 'heading', text: title },
    ...(warning === undefined ? [] : [{ kind: 'warning', text: warning } as const]),
    ...(facts.length === 0 ? [] : [{ kind: 'facts', facts } as const]),
    ...(items.length === 0 ? [] : [{ kind: 'list', items } as const]),
    ...(text === undefined
      ? []
      : [{ kind: 'quote', text: cutText(text, length, '… (the rest stands in the report)') } as const]),
    ...(note === undefined ? [] : [{ kind: 'text', text: note } as const]),
  ];
}

function sizeOf({ body }: Pick<MailMessage, 'body'>): number {
  return typeof body === 'string' ? 0 : Buffer.byteLength(body.html);
}
