import { createHash } from 'node:crypto';
import { applyDecorators, Header } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { markUnseen } from '../kernel/unseen.js';

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it may stand between tags and in attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

const FONT = 'font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif';
const WRAP = 'overflow-wrap:anywhere;word-break:break-word';

/** In light colours; {@link DARK} changes what a dark room needs. A page has them in its head, a mail at each element too. */
export const STYLES = {
  body: `margin:0;padding:0;background:#ffffff;color:#1a1a1a`,
  main: `${FONT};font-size:16px;line-height:1.5;max-width:640px;margin:0 auto;padding:16px;text-align:left;${WRAP}`,
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
  // As high as a thumb needs.
  reference: `display:block;padding:14px 0;font-size:14px;color:#1d4ed8;${WRAP}`,
} as const;

export const DARK = `.body,.main{background:#18181b!important;color:#f4f4f5!important}
.name,.address{color:#a1a1aa!important}
.reference{color:#93c5fd!important}
.quote{background:#27272a!important;color:#f4f4f5!important;border-color:#52525b!important}
.warning{background:#431407!important;color:#fed7aa!important}
.link{background:#2563eb!important;color:#ffffff!important}`;

const STYLE = `:root{color-scheme:light dark}
*{box-sizing:border-box}
${Object.entries(STYLES)
  .map(([part, style]) => `.${part}{${style}}`)
  .join('\n')}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
code{overflow-wrap:anywhere}
form{margin:0 0 16px}
label{display:block;margin:0 0 4px}
input,textarea,select{display:block;width:100%;min-height:48px;margin:0 0 12px;padding:10px;font:inherit;border:1px solid #71717a;border-radius:6px}
[hidden]{display:none}
textarea{min-height:144px;field-sizing:content;max-height:70vh}
.short{min-height:48px}
button{width:100%;background:#1d4ed8;min-height:48px;padding:12px 18px;font:inherit;font-weight:600;border:0;border-radius:6px;color:#ffffff;cursor:pointer}
.approve{background:#15803d}
.reject{background:#b91c1c}
.revise{background:#52525b;margin-bottom:12px}
details{margin:0 0 16px}
summary{min-height:48px;padding:12px 0;font-weight:600;cursor:pointer}
fieldset{margin:0 0 16px;padding:12px;border:1px solid #71717a;border-radius:6px;min-width:0}
legend{padding:0 4px;font-weight:600;overflow-wrap:anywhere}
label{overflow-wrap:anywhere}
.notes{margin:0 0 6px;overflow-wrap:anywhere}
.fault{color:#b91c1c;font-weight:600}
.confirm{display:flex;gap:10px;align-items:center;min-height:48px}
.confirm input{width:24px;min-height:24px;margin:0}
section{border-top:1px solid #a1a1aa;margin-top:24px;padding-top:16px}
@media (prefers-color-scheme:dark){
${DARK}
a{color:#93c5fd}
.fault{color:#fca5a5}
}`;

/**
 * What a page may do: show itself in its one style, and send its forms here, if it has any. No script, nothing from elsewhere.
 */
function pagePolicy(forms: "'self'" | "'none'"): string {
  const style = createHash('sha256').update(STYLE).digest('base64');
  return `default-src 'none'; style-src 'sha256-${style}'; form-action ${forms}; base-uri 'none'; frame-ancestors 'none'`;
}

/** A page for people whose address is a secret, which goes nowhere. */
export const SecretPage = (forms: "'self'" | "'none'" = "'self'"): MethodDecorator =>
  applyDecorators(
    ApiExcludeEndpoint(),
    Header('Content-Security-Policy', pagePolicy(forms)),
    // The secret is left out. With `no-referrer` browsers would hide from us that the form is ours.
    Header('Referrer-Policy', 'strict-origin'),
    Header('Cache-Control', 'no-store'),
    Header('X-Robots-Tag', 'noindex, nofollow'),
    Header('Content-Type', 'text/html; charset=utf-8'),
  );

/**
 * A page that a person opens by a link: no script, one style, nothing from elsewhere, and not for search engines.
 * @param content HTML; its author has escaped the quoted parts
 */
export function htmlPage(title: string, content: string): string {
  const shown = escapeHtml(markUnseen(title));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${shown}</title>
<style>${STYLE}</style>
</head>
<body class="body">
<main class="main">
<h1 class="title" dir="auto">${shown}</h1>
${content}
</main>
</body>
</html>
`;
}

/** A page that says one thing. */
export function messagePage(title: string, message: string): string {
  return htmlPage(title, `<p class="text">${escapeHtml(message)}</p>`);
}

/** What is wrong with a form, read aloud as it is shown. */
export function faultList(faults: readonly string[]): string {
  if (faults.length === 0) return '';
  const warnings = faults.map((fault) => `<p class="warning">${escapeHtml(fault)}</p>`);
  return `<div role="alert">${warnings.join('\n')}</div>\n`;
}
