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
 */
export function mailHtml({ title, content }: { title: string; content: string }): string {
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
