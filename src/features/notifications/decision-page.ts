import { escapeHtml, faultList, htmlPage } from '../../platform/http/page.js';
import { inWords } from '../../platform/kernel/local-day.js';
import type { ApprovalDecided, ShownApproval } from '../approvals/index.js';
import { valueAt } from '../capos/index.js';
import { type Block, oneLine, pageHtml } from '../mail/index.js';
import type { DraftChanges, LinkedApproval } from './decide-by-link.js';
import {
  authorOf,
  countOf,
  draftBlocks,
  factBlocks,
  isFromOutside,
  nameOf,
  wordsOf,
} from './draft-blocks.js';
import { editFields, editIn, type Form, type FormFaults } from './draft-form.js';
import { answerFields } from './question-form.js';

/** As the API takes it. Browsers count UTF-16 units, so where a text has emoji they stop before the API would. */
const LONGEST_REASON = 10_000;

/** What a page says and keeps after a form was sent. */
export interface FormAnswer {
  form?: Form;
  faults?: FormFaults;
  /** The secret of the link that replaces the one of this page; the changes are saved. */
  next?: string;
}

/** The complete draft, what happens on approving, and the form that edits or decides. */
export function decisionPage(
  { approval, workspaceName, zone, memberName, notByLink }: LinkedApproval,
  publicUrl: string,
  { form = {}, faults = new Map(), next }: FormAnswer = {},
): string {
  const { title, urgent, packets, kind, waitingFor, question } = approval;
  const blocks: Block[] = [
    {
      kind: 'text',
      text: `${memberName}, this needs a decision in ${oneLine(workspaceName)}: "${title}".`,
    },
    ...factBlocks(approval, { zone }),
    ...draftBlocks(approval, { bound: Infinity }),
  ];
  const cannot: Block[] =
    notByLink === null ? whyNotNow(approval) : [{ kind: 'warning', text: notByLink }, ...whyNotNow(approval)];
  const isTyped = editIn(form, packets).length > 0;
  const isEditable =
    (kind === 'output' || kind === 'action') &&
    packets.length > 0 &&
    (waitingFor?.reason !== 'revert' || isTyped);
  const isOpen = isTyped || faults.size > 0 || waitingFor?.reason === 'input';
  const faultsInWords = [...faults.values()].flat();
  return htmlPage(
    `${urgent ? 'Urgent: ' : ''}${title}`,
    `${faultList(faultsInWords)}${next === undefined ? '' : savedNotice(`${publicUrl}/a/${next}`)}${pageHtml(blocks)}
<form method="post"${next === undefined ? '' : ` action="${next}"`}>
${isEditable ? editDetails(packets, form, faults, isOpen) : ''}<section>
${question ? answerFieldset(approval, answerFields(question, form, faults, zone)) : ''}${cannot.length > 0 ? pageHtml(cannot) : question ? ANSWER_BUTTON : approveButton(approval)}
</section>
<section>
<label for="feedback">${isFromOutside(approval) ? `Your reason for ${question ? 'declining' : 'rejecting'} it; the agent and the team can read it` : 'Your reason for rejecting it or sending it back, and your wishes; the capo and the team can read it'}</label>
<textarea id="feedback" name="feedback" required maxlength="${LONGEST_REASON}">\n${escapeHtml(form['feedback'] ?? '')}</textarea>
${kind === 'output' ? '<button class="revise" name="decision" value="revise">Send back for another draft</button>\n' : ''}<button class="reject" name="decision" value="reject">${question ? 'Decline' : 'Reject'}</button>
</section>
</form>
${inDashboard(approval.approvalId)}`,
  );
}

/** A click in webmail carries no cookie of a session, so the page works by itself and leads there. */
function inDashboard(approvalId: string | undefined): string {
  const path = approvalId === undefined ? '/' : `/approvals/${approvalId}`;
  return `<p class="text"><a class="reference" href="${path}">Open it in the dashboard</a></p>`;
}

function answerFieldset(approval: ShownApproval, fields: string): string {
  const agent = authorOf(approval);
  const warning: Block = {
    kind: 'text',
    text: `The questions in this form are those of ${agent}, which reads your answer. Give it no password and no code.`,
  };
  return `${pageHtml([warning])}
<fieldset>
<legend dir="auto">Your answer to ${escapeHtml(agent)}</legend>
${fields}
</fieldset>
`;
}

/** Rejecting it takes no answer, so nothing in the form is required before the server looks at it. */
const ANSWER_BUTTON = '<button class="approve" name="decision" value="answer" formnovalidate>Answer</button>';

/** Enter in a field presses the first button of a form: the one that saves. */
function editDetails(
  packets: ShownApproval['packets'],
  form: Form,
  faults: FormFaults,
  isOpen: boolean,
): string {
  return `<details${isOpen ? ' open' : ''}>
<summary>Change it</summary>
${editFields(packets, form, faults)}
<button class="save" name="decision" value="save" formnovalidate>Save</button>
</details>
`;
}

function savedNotice(url: string): string {
  const blocks: Block[] = [
    { kind: 'text', text: 'Saved. Nothing is approved yet: below is the draft as it would be sent now.' },
    {
      kind: 'reference',
      text: 'The link of the mail is used up. Go on here, or keep the link that replaces it; it is for you alone:',
      url,
    },
  ];
  return `<div role="status">${pageHtml(blocks)}</div>\n`;
}

/** What came of it. */
export function decidedPage(
  { approvalId, status, votes, directiveStatus, receiptId }: ApprovalDecided,
  kind: ShownApproval['kind'],
): string {
  const [title, text] = OUTCOMES_OF[kind]?.[status] ?? OUTCOMES[status as keyof typeof OUTCOMES];
  return htmlPage(
    title,
    `${pageHtml([
      { kind: 'text', text },
      {
        kind: 'facts',
        facts: [
          ...(directiveStatus === null
            ? []
            : [['Directive', directiveStatus.replaceAll('_', ' ')] satisfies [string, string]]),
          ...countOf(votes),
          ['Receipt', receiptId],
        ],
      },
      { kind: 'text', text: 'The link has done its work; you can close this page.' },
    ])}
${inDashboard(approvalId)}`,
  );
}

const OUTCOMES = {
  pending: ['You approved it', 'More people have to approve it. Nothing of it is carried out before that.'],
  approved: ['Approved', 'Exactly the content that you read is being carried out now.'],
  rejected: ['Rejected', 'Nothing of it is carried out. Your reason stands with the approval.'],
  changes_requested: [
    'Sent back',
    'Nothing of it is carried out. Another draft is made as you wished, and a mail with a link to it follows.',
  ],
} as const;

/** Of what agents from outside ask. */
const OUTCOMES_OF: Partial<Record<ShownApproval['kind'], Record<string, readonly [string, string]>>> = {
  action: { approved: ['Approved', 'The agent may do exactly what you read, once.'] },
  question: {
    approved: ['Answered', 'The agent reads your answer.'],
    rejected: ['Declined', 'The agent gets no answer. It reads your reason.'],
  },
};

/** Why nothing can be done here, what others have changed since, and what was typed, to be copied. */
export function refusedPage(
  message: string,
  changes?: DraftChanges,
  form: Form = {},
  approvalId?: string,
): string {
  const typed = Object.entries(form).filter(
    ([name, text]) => /^feedback$|^answer\.|\.params\./.test(name) && text !== '',
  );
  const kept = typed.map(
    ([name, text], index) =>
      `<label for="t${index}">${escapeHtml(labelOf(name))}</label>
<textarea id="t${index}" readonly dir="auto">\n${escapeHtml(text)}</textarea>`,
  );
  const heading: Block = { kind: 'heading', text: 'What stood in your form' };
  return htmlPage(
    'This cannot be decided here',
    [
      pageHtml([{ kind: 'text', text: message }, ...(changes ? changeBlocks(changes) : [])]),
      ...(kept.length > 0 ? [pageHtml([heading]), ...kept] : []),
      inDashboard(approvalId),
    ].join('\n'),
  );
}

function labelOf(name: string): string {
  if (name === 'feedback') return 'Reason';
  return name.startsWith('answer.') ? name.split('.')[1]! : nameOf(name.slice(name.indexOf('.') + 1));
}

/** Who has edited the draft since; of each part what stood there before, and what stands there now. */
function changeBlocks({ zone, revisions, packets }: DraftChanges): Block[] {
  const changes = revisions.flatMap((revision) => revision.changes);
  const seen = new Set<string>();
  return [
    ...revisions.map(({ by, at }): Block => ({
      kind: 'text',
      text: `${by.name} edited it on ${inWords(at, zone)}.`,
    })),
    ...changes.flatMap(({ workPacketId, change, paths, before }): Block[] => {
      const packet = packets.find((each) => each.workPacketId === workPacketId);
      if (!packet) return [{ kind: 'text', text: 'A work packet was removed.' }];
      if (change === 'added') return [{ kind: 'text', text: `A work packet was added: ${packet.title}` }];
      return paths.flatMap((path): Block[] => {
        const part = `${workPacketId} ${path}`;
        if (seen.has(part) || !Object.hasOwn(before, path)) return [];
        seen.add(part);
        return [
          { kind: 'text', text: `${nameOf(path)}, before:` },
          { kind: 'quote', text: wordsOf(before[path] ?? '') },
          { kind: 'text', text: `${nameOf(path)}, now:` },
          { kind: 'quote', text: wordsOf(valueAt(packet.action.params, path) ?? '') },
        ];
      });
    }),
  ];
}

function approveButton(approval: ShownApproval): string {
  const { kind, packets } = approval;
  const what = packets.map(({ title }) => title);
  const author = authorOf(approval);
  const blocks: Block[] = [
    {
      kind: 'text',
      text:
        kind === 'action'
          ? `If you approve, ${author} may do exactly this, once, with the parameters above:`
          : `If you approve, ${author} does exactly this, with the text above, as soon as you press the button:`,
    },
    { kind: 'list', items: what.length > 0 ? what : ['The draft is accepted; nothing is sent.'] },
  ];
  return `${pageHtml(blocks)}
<button class="approve" name="decision" value="approve" formnovalidate>Approve</button>`;
}

/** Why it cannot be approved now; a rejection is always possible. */
function whyNotNow({ kind, waitingFor, packets }: ShownApproval): Block[] {
  if (waitingFor === null || waitingFor.reason === 'decision') return [];
  // Members who may approve it can do so before others are found; the page says above what is missing.
  if (waitingFor.reason === 'approvers') return [];
  const text =
    waitingFor.reason === 'input' && packets.length > 0
      ? 'It cannot be approved yet. Fill in what is missing, or tick what is right as it stands, and save.'
      : `It cannot be ${kind === 'question' ? 'answered' : 'approved'} now. ${waitingFor.message}`;
  return [{ kind: 'warning', text }];
}
