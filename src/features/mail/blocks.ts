import { DARK, escapeHtml, STYLES } from '../../platform/http/page.js';
import { CONTROL, cutText } from '../../platform/kernel/text.js';
import { deepMarkUnseen } from '../../platform/kernel/unseen.js';
import type { MailMessage } from './mail-message.js';

/** How a part of a mail looks, as attributes: mail programs that know no style sheets still know these. */
function byStyle(part: keyof typeof STYLES): string {
  return ` class="${part}" style="${STYLES[part]}"`;
}

/**
 * The HTML of a mail. Styles at each element are what mail programs share; the style sheet adds the dark colours where it is known.
 * Nothing is loaded from anywhere.
 *
 * @param content HTML; the caller has escaped plain text
 */
function mailHtml({ title, content }: { title: string; content: string }): string {
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
<div role="main"${byStyle('main')}>
${content}
</div>
</body>
</html>
`;
}

/**
 * What a mail of ours or a page says, once: its text and its HTML are made of the same blocks, so they say the same. What others wrote
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
  | { kind: 'link'; words: string; url: string }
  /** Where something is explained: less than what a reader is to do. */
  | { kind: 'reference'; text: string; url: string };

const MAX_SUBJECT = 150;

/** The mail with these blocks, as text and as HTML. */
export function mailOf(
  subject: string,
  blocks: readonly Block[],
): Pick<MailMessage, 'subject' | 'body' | 'autoSubmitted'> {
  const title = cutText(oneLine(subject), MAX_SUBJECT);
  return {
    subject: title,
    body: { text: textOf(blocks), html: mailHtml({ title, content: htmlOf(blocks, byStyle) }) },
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

/** Text in which no mail program finds the address of a page: for what people write in mails to strangers. */
export function unlinked(text: string): string {
  return text.replace(/[.@:]/g, '$&\u2060');
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
    case 'reference':
      return `${oneLine(block.text)}\n<${block.url}>`;
  }
}

/** Every line break that a program might see, so that no line of a quote can stand without its mark. */
function linesOf(text: string): string[] {
  return text.split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/);
}

/** How a block looks: as attributes of its element. */
type Look = typeof byStyle;

const byClass: Look = (part) => ` class="${part}"`;

/** The blocks between the tags of a page. */
export function pageHtml(blocks: readonly Block[]): string {
  return htmlOf(deepMarkUnseen(blocks), byClass);
}

/** A mail begins with its title; the title of a page stands above its blocks. */
function htmlOf(blocks: readonly Block[], look: Look): string {
  return blocks
    .map((block, index) => blockHtml(block, look, index === 0 && look === byStyle ? 'h1' : 'h2'))
    .join('\n');
}

function blockHtml(block: Block, look: Look, heading: 'h1' | 'h2'): string {
  switch (block.kind) {
    case 'heading':
      return `<${heading}${look(heading === 'h1' ? 'title' : 'heading')} dir="auto">${escapeHtml(oneLine(block.text))}</${heading}>`;
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
    case 'reference':
      return `<p${look('text')}>${escapeHtml(oneLine(block.text))}
<a${look('reference')} href="${escapeHtml(block.url)}">${escapeHtml(block.url)}</a></p>`;
  }
}

/** Several spaces would become one. */
function lineHtml(line: string): string {
  return escapeHtml(line).replace(/^ | (?= )/g, '&nbsp;');
}
