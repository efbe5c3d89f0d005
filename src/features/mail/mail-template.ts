import { escapeHtml } from '../../platform/http/page.js';

/**
 * The HTML of a mail: tables and inline styles, because that is what mail programs share. Nothing is loaded, nothing
 * runs, and callers escape plain text: {@link escapeHtml}.
 */
export function mailHtml({
  title,
  content,
  sender,
}: {
  title: string;
  content: string;
  sender?: string;
}): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
</head>
<body style="margin:0;padding:0;background:#ffffff">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0">
<tr><td align="left" style="padding:16px">
<table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0" style="max-width:100%">
<tr><td style="${TEXT}">
${content}</td></tr>
${sender === undefined ? '' : `<tr><td style="${FOOTER}">${escapeHtml(sender)}</td></tr>\n`}</table>
</td></tr>
</table>
</body>
</html>
`;
}

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';
const TEXT = `${FONT};font-size:15px;line-height:1.5;color:#1a1a1a`;
const FOOTER = `${FONT};font-size:13px;line-height:1.5;color:#666666;padding-top:16px`;
