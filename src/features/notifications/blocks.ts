import { escapeHtml } from '../../platform/http/page.js';
import { CONTROL, cutText } from '../../platform/kernel/text.js';
import type { MailMessage } from '../mail/mail-message.js';

/**
 * What a mail or a page says, once: its text and its HTML are made of the same blocks, so they say the same. What others wrote
 * (a draft, a title) is text in every block, and stands in a `quote` where it has a form of its own: nothing in it can pass for
 * a sentence of ours.
 */
export type Block =
  | { kind: 'heading'; text: string }
  | { kind: 'text'; text: string }
  /** What must not be overlooked. */
  | { kind: 'warning'; text: string }
  | { kind: 'facts'; facts: readonly (readonly [name: string, value: string])[] }
  | { kind: 'list'; items: readonly string[] }
  | { kind: 'quote'; text: string }
  | { kind: 'link'; words: string; url: string };

const MAX_SUBJECT = 150;

/** The mail with these blocks, as text and as HTML. */
export function mailOf({
  subject,
  blocks,
  workspaceName,
  footer = `Consigliere mails you this as a member of ${oneLine(workspaceName)}. What you are mailed, and when, you choose with PUT /api/pro/profile/notifications.`,
}: {
  subject: string;
  blocks: readonly Block[];
  workspaceName: string;
  /** Why it is mailed; to members, unless this says otherwise. */
  footer?: string;
}): Pick<MailMessage, 'subject' | 'body' | 'autoSubmitted'> {
  const title = cutText(oneLine(subject), MAX_SUBJECT);
  const all: Block[] = [...blocks, { kind: 'text', text: footer }];
  return {
    subject: title,
    body: { text: textOf(all), html: htmlMail(title, all) },
    autoSubmitted: true,
  };
}

/** Text of several lines, or with characters that a header cannot hold, on one. */
export function oneLine(text: string): string {
  return text
    .split(new RegExp(CONTROL, 'g'))
    .map((part) => part.trim())
    .filter(Boolean)
    .join(' ');
}

export function textOf(blocks: readonly Block[]): string {
  return `${blocks.map(blockText).join('\n\n')}\n`;
}

function blockText(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${oneLine(block.text)}\n${'-'.repeat(Math.min(60, oneLine(block.text).length))}`;
    case 'text':
      return oneLine(block.text);
    case 'warning':
      return `! ${oneLine(block.text)}`;
    case 'facts':
      return block.facts.map(([name, value]) => `${name}: ${oneLine(value)}`).join('\n');
    case 'list':
      return block.items.map((item) => `- ${oneLine(item)}`).join('\n');
    case 'quote':
      return linesOf(block.text)
        .map((line) => `| ${line}`.trimEnd())
        .join('\n');
    case 'link':
      return `${block.words}:\n<${block.url}>`;
  }
}

/** Every line break that a program might see, so that no line of a quote can stand without its mark. */
function linesOf(text: string): string[] {
  return text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
}

/** How a block looks: as attributes of its element. */
type Look = (part: keyof typeof STYLES) => string;

const byClass: Look = (part) => ` class="${part}"`;
/** Mail programs that know no style sheets still know these. */
const byStyle: Look = (part) => ` class="${part}" style="${STYLES[part]}"`;

/** The blocks between the tags of a page. */
export function pageHtml(blocks: readonly Block[]): string {
  return htmlOf(blocks, byClass);
}

function htmlOf(blocks: readonly Block[], look: Look): string {
  return blocks.map((block) => blockHtml(block, look)).join('\n');
}

function blockHtml(block: Block, look: Look): string {
  switch (block.kind) {
    case 'heading':
      return `<h2${look('heading')} dir="auto">${escapeHtml(oneLine(block.text))}</h2>`;
    case 'text':
      return `<p${look('text')}>${escapeHtml(oneLine(block.text))}</p>`;
    case 'warning':
      return `<p${look('warning')}>${escapeHtml(oneLine(block.text))}</p>`;
    case 'facts':
      return `<table role="presentation"${look('facts')} cellpadding="0" cellspacing="0" border="0">\n${block.facts
        .map(
          ([name, value]) =>
            `<tr><td${look('name')}>${escapeHtml(name)}: </td><td${look('value')} dir="auto">${escapeHtml(oneLine(value))}</td></tr>`,
        )
        .join('\n')}\n</table>`;
    case 'list':
      return `<ul${look('list')}>${block.items
        .map((item) => `<li dir="auto">${escapeHtml(oneLine(item))}</li>`)
        .join('\n')}</ul>`;
    case 'quote':
      return `<div${look('quote')} dir="auto">${linesOf(block.text).map(lineHtml).join('<br>\n')}</div>`;
    case 'link':
      return `<p${look('text')}><a${look('link')} href="${escapeHtml(block.url)}">${escapeHtml(block.words)}</a><br>
<span${look('address')}>${escapeHtml(block.url)}</span></p>`;
  }
}

/** Several spaces would become one. */
function lineHtml(line: string): string {
  return escapeHtml(line).replace(/^ | (?= )/g, '&nbsp;');
}

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';
const WRAP = 'overflow-wrap:anywhere;word-break:break-word';

/** In light colours; {@link DARK} changes what a dark room needs. */
const STYLES = {
  body: `margin:0;padding:0;background:#ffffff;color:#1a1a1a`,
  main: `${FONT};font-size:16px;line-height:1.5;max-width:640px;margin:0 auto;padding:16px;text-align:left`,
  title: `font-size:21px;line-height:1.3;margin:0 0 16px;${WRAP}`,
  heading: `font-size:17px;line-height:1.3;margin:24px 0 8px;${WRAP}`,
  text: `margin:0 0 14px;${WRAP}`,
  warning: `margin:0 0 14px;padding:10px 12px;border-left:4px solid #b45309;background:#fff7ed;color:#7c2d12;${WRAP}`,
  facts: 'margin:0 0 14px;border-collapse:collapse;width:100%',
  name: 'padding:2px 12px 2px 0;vertical-align:top;color:#555555;white-space:nowrap',
  value: `padding:2px 0;vertical-align:top;width:100%;${WRAP}`,
  list: `margin:0 0 14px;padding-left:22px;${WRAP}`,
  quote: `margin:0 0 14px;padding:12px;border:1px solid #d4d4d8;border-left:4px solid #71717a;background:#fafafa;color:#1a1a1a;${WRAP}`,
  link: 'display:inline-block;padding:12px 18px;border-radius:6px;background:#1d4ed8;color:#ffffff;text-decoration:none;font-weight:600',
  address: `font-size:12px;color:#555555;${WRAP}`,
} as const;

const DARK = `.body,.main{background:#18181b!important;color:#f4f4f5!important}
.name,.address{color:#a1a1aa!important}
.quote{background:#27272a!important;color:#f4f4f5!important;border-color:#52525b!important}
.warning{background:#431407!important;color:#fed7aa!important}
.link{background:#3b82f6!important;color:#ffffff!important}`;

/** What a style sheet of all this says; a page has it in its head, a mail at each element too. */
export const STYLE_SHEET = `:root{color-scheme:light dark}
*{box-sizing:border-box}
${Object.entries(STYLES)
  .map(([part, style]) => `.${part}{${style}}`)
  .join('\n')}
@media (prefers-color-scheme:dark){
${DARK}
}`;

/**
 * Tables and styles at each element are what mail programs share; the style sheet adds the dark colours where it is known.
 * Nothing is loaded from anywhere.
 */
function htmlMail(title: string, blocks: readonly Block[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>:root{color-scheme:light dark}
@media (prefers-color-scheme:dark){
${DARK}
}</style>
</head>
<body${byStyle('body')}>
<div${byStyle('main')}>
${htmlOf(blocks, byStyle)}
</div>
</body>
</html>
`;
}
