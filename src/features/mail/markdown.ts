import MarkdownIt, { type Token } from 'markdown-it';

/**
 * What a model writes, for a mail: HTML of its own stays text, a link goes to the web, a mailbox or a telephone, and
 * nothing is loaded from elsewhere when the mail is opened.
 */
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: true }).disable('image');
markdown.validateLink = (url) => /^(https?:\/\/|mailto:|tel:)/i.test(url.trim());

/** HTML in which everything that came from `source` is escaped. */
export function markdownToHtml(source: string): string {
  return markdown.render(source);
}

/** The same words for a reader without HTML: lists and quotes keep their marks, links show where they go. */
export function markdownToText(source: string): string {
  const tokens = markdown.parse(source, {});
  const cursor = { at: 0 };
  const blocks: string[] = [];
  while (cursor.at < tokens.length) blocks.push(blockText(tokens, cursor));
  return blocks.filter(Boolean).join('\n\n');
}

/** The text of the block at the cursor with all it holds; leaves the cursor behind its end. */
function blockText(tokens: Token[], cursor: { at: number }): string {
  const start = cursor.at++;
  const token = tokens[start]!;
  if (token.type === 'inline') return inlineText(token.children ?? []);
  if (token.type === 'hr') return '---';
  if (token.nesting !== 1) return token.content.trimEnd();
  const parts: string[] = [];
  while (tokens[cursor.at]!.nesting !== -1) parts.push(blockText(tokens, cursor));
  cursor.at++;
  switch (token.type) {
    case 'bullet_list_open':
    case 'ordered_list_open':
      return parts.join(isTight(tokens, start + 1) ? '\n' : '\n\n');
    case 'list_item_open': {
      const mark = token.info === '' ? '- ' : `${token.info}${token.markup} `;
      const text = parts.filter(Boolean).join(isTight(tokens, start) ? '\n' : '\n\n');
      return mark + prefixed(text, ' '.repeat(mark.length)).trimStart();
    }
    case 'blockquote_open':
      return prefixed(parts.filter(Boolean).join('\n\n'), '> ');
    case 'tr_open':
      return parts.join(' | ');
    default:
      return parts.filter(Boolean).join('\n');
  }
}

/** markdown-it hides the paragraphs of a list that is written without blank lines. */
function isTight(tokens: Token[], item: number): boolean {
  return tokens[item + 1]?.hidden ?? true;
}

function prefixed(text: string, prefix: string): string {
  return text
    .split('\n')
    .map((line) => (prefix + line).trimEnd())
    .join('\n');
}

function inlineText(tokens: Token[]): string {
  let text = '';
  let link = { href: '', from: 0 };
  for (const token of tokens) {
    if (token.type === 'softbreak' || token.type === 'hardbreak') text += '\n';
    else if (token.type === 'link_open') link = { href: String(token.attrGet('href')), from: text.length };
    else if (token.type === 'link_close' && token.info !== 'auto')
      text += destination(link.href, text.slice(link.from));
    else text += token.content;
  }
  return text;
}

/** Where a link goes, unless its words say so already. */
function destination(href: string, words: string): string {
  return href === words || href === `mailto:${words}` ? '' : ` (${href})`;
}
