import { createHash } from 'node:crypto';
import { escapeHtml } from '../../platform/http/page.js';
import type { ApprovalDecided } from '../approvals/approval-decisions.dto.js';
import type { ApprovalView } from '../approvals/approvals.dto.js';
import { type Block, oneLine, pageHtml, STYLE_SHEET } from './blocks.js';
import type { LinkedApproval } from './decide-by-link.js';
import { capoName, draftBlocks, factBlocks } from './draft-blocks.js';
import { referenceTo } from './reference.js';

/** As the API takes it. Browsers count UTF-16 units, so where a text has emoji they stop before the API would. */
const LONGEST_REASON = 10_000;

const FORM_STYLE = `form{margin:0 0 16px}
label{display:block;margin:0 0 12px}
textarea{display:block;width:100%;min-height:96px;margin-top:4px;padding:10px;font:inherit;border:1px solid #71717a;border-radius:6px}
button{width:100%;min-height:48px;padding:12px 18px;font:inherit;font-weight:600;border:0;border-radius:6px;color:#ffffff;cursor:pointer}
.approve{background:#15803d}
.reject{background:#b91c1c}
section{border-top:1px solid #a1a1aa;margin-top:24px;padding-top:16px}`;

const STYLE = `${STYLE_SHEET}\n${FORM_STYLE}`;

/** What these pages may do: show themselves in their one style, and send their forms here. No script, nothing from elsewhere. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

/** The complete draft, what happens on approving, and the two forms that decide. */
export function decisionPage(
  { approval, workspaceName, zone, memberName, notByLink }: LinkedApproval,
  publicUrl: string,
  { faults = [], feedback = '' }: { faults?: readonly string[]; feedback?: string } = {},
): string {
  const { title, urgent } = approval;
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `${memberName}, this waits for a decision in ${oneLine(workspaceName)}: "${title}".`,
    },
    ...factBlocks(approval, { zone }),
    ...draftBlocks(approval, { bound: Infinity }),
  ];
  const cannot: Block[] =
    notByLink === null ? whyNotNow(approval, publicUrl) : [{ kind: 'warning', text: notByLink }];
  return page(
    `${urgent ? 'Urgent: ' : ''}${title}`,
    `${list(faults)}${pageHtml(blocks)}
<section>
${cannot.length === 0 ? approveForm(approval) : pageHtml(cannot)}
</section>
<section>
<form method="post">
<label>Why it is rejected; the capo and the team read it
<textarea name="feedback" required maxlength="${LONGEST_REASON}">${escapeHtml(feedback)}</textarea></label>
<button class="reject" name="decision" value="reject">Reject</button>
</form>
</section>`,
  );
}

/** What came of it. */
export function decidedPage({ status, directiveStatus, receiptId }: ApprovalDecided): string {
  const isApproved = status === 'approved';
  return page(
    isApproved ? 'Approved' : 'Rejected',
    pageHtml([
      {
        kind: 'text',
        text: isApproved
          ? 'What you have read is being carried out now, and nothing else.'
          : 'Nothing of it is carried out. Your reason stands with the approval.',
      },
      {
        kind: 'facts',
        facts: [
          ['Directive', directiveStatus.replaceAll('_', ' ')],
          ['Receipt', receiptId],
        ],
      },
      { kind: 'text', text: 'The link has done its work; you can close this page.' },
    ]),
  );
}

/** A page that says one thing. */
export function messagePage(title: string, message: string): string {
  return page(title, pageHtml([{ kind: 'text', text: message }]));
}

function approveForm({ packets, capo }: ApprovalView): string {
  const what = packets.map(({ title }) => title);
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `If you approve, ${capoName(capo)} does exactly this, with the text above, as soon as you press the button:`,
    },
    { kind: 'list', items: what.length > 0 ? what : ['The draft is accepted; nothing is sent.'] },
  ];
  return `${pageHtml(blocks)}
<form method="post"><button class="approve" name="decision" value="approve">Approve</button></form>`;
}

/** Whatever keeps it from being approved just now; a rejection is always taken. */
function whyNotNow({ waitingFor, packets }: ApprovalView, publicUrl: string): Block[] {
  if (waitingFor === null || waitingFor.reason === 'decision') return [];
  if (waitingFor.reason !== 'input' || packets.length === 0) {
    return [{ kind: 'warning', text: `It cannot be approved now. ${waitingFor.message}` }];
  }
  return [
    {
      kind: 'warning',
      text: 'It cannot be approved yet: what is missing stands above, and this page cannot take it. Whoever has an operator token edits the draft first, through the API or an SDK, or answers there that a part is right as it stands. Then open this page again, or the link in the mail that follows a change.',
    },
    { kind: 'reference', text: 'How to edit the draft:', url: referenceTo(publicUrl, 'Approvals_edit') },
  ];
}

function list(faults: readonly string[]): string {
  return faults.length === 0
    ? ''
    : `<div role="alert">${pageHtml(faults.map((text) => ({ kind: 'warning', text }) as const))}</div>\n`;
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body class="body">
<main class="main">
<h1 class="title" dir="auto">${escapeHtml(oneLine(title))}</h1>
${content}
</main>
</body>
</html>
`;
}
