import { DARK, escapeHtml, STYLES } from '../../platform/http/page.js';

/** How a part of a mail looks, as attributes: mail programs that know no style sheets still know these. */
export function byStyle(part: keyof typeof STYLES): string {
  return ` class="${part}" style="${STYLES[part]}"`;
}

/**
 * The HTML of a mail. Styles at each element are what mail programs share; the style sheet adds the dark colours where it is known.
 * Nothing is loaded from anywhere.
 *
 * @param content HTML; the caller has escaped plain text
 * @param sender signs it, below
 */
export function mailHtml({
  title,
  content,
  sender,
}: {
  title: string;
  content: string;
  sender?: string | undefined;
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escapeHtml(title)}</title>
<style>:root{color-scheme:light dark}
pre{white-space:pre-wrap}
@media (prefers-color-scheme:dark){
${DARK}
}</style>
</head>
<body${byStyle('body')}>
<div role="main"${byStyle('main')}>
${content}
${sender === undefined ? '' : `<p${byStyle('text')}>${escapeHtml(sender)}</p>\n`}</div>
</body>
</html>
`;
}
