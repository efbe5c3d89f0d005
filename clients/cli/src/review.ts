import {
  APIError,
  type ApprovalDecided,
  type ApprovalView,
  type Consigliere,
  ContentChangedError,
} from '@consigliere/sdk';
import { editableOf, editOf, inEditor } from './editable.js';
import { CliError, Interrupted } from './errors.js';
import { say, styled, visible } from './output.js';
import { choicesOf, decisionOn, fieldsOf, preview } from './preview.js';
import { askText, askYes, pressedKey } from './prompts.js';

interface Reviewed {
  approved: number;
  rejected: number;
  skipped: number;
}

const POLL_SECONDS = 3;

/** Goes through what waits and what is being drafted, one after another, until the queue is empty or the person leaves. */
export async function review(
  client: Consigliere,
  { isWatching }: { isWatching: boolean },
): Promise<Reviewed> {
  const done: Reviewed = { approved: 0, rejected: 0, skipped: 0 };
  const seen = new Set<string>();
  for (let isTold = false; ;) {
    const waiting = await client.approvals.list({ limit: 100 }).toArray();
    const open = waiting.filter(({ approvalId, ready }) => ready && !seen.has(approvalId));
    const [next] = open;
    if (next) {
      isTold = false;
      seen.add(next.approvalId);
      const outcome = await decide(client, next.approvalId, open.length);
      if (outcome === 'quit') return done;
      if (outcome) done[outcome]++;
      continue;
    }
    const drafting = waiting.filter(({ ready }) => !ready);
    const isWaiting = isWatching || drafting.length > 0;
    const rest = drafting.length > 0 ? ` ${drafting.length} still being drafted.` : '';
    if (!isTold)
      say(`Nothing else waits for you.${rest}${isWaiting ? ' Waiting for more; Ctrl-C ends.' : ''}`);
    if (!isWaiting) return done;
    isTold = true;
    const [first] = drafting;
    if (first) await client.approvals.get(first.approvalId, { wait: POLL_SECONDS, for: 'draft' });
    else await new Promise((resolve) => setTimeout(resolve, POLL_SECONDS * 1_000));
  }
}

/** Approves what this view shows. */
export function approve(
  client: Consigliere,
  { approvalId, contentHash }: ApprovalView,
): PromiseLike<ApprovalDecided> {
  return client.approvals.approve(approvalId, contentHash === null ? {} : { ifMatch: contentHash });
}

/** Has a person edit it; undefined when nothing was changed. */
export async function edit(client: Consigliere, approval: ApprovalView): Promise<ApprovalView | undefined> {
  return inEditor(editableOf(approval), async (text) => {
    const body = editOf(text, approval);
    return body && client.approvals.edit(approval.approvalId, body, { ifMatch: approval.contentHash! });
  });
}

/** Shows one and acts on keys until it is decided or left. Undefined: someone else decided it. */
async function decide(
  client: Consigliere,
  approvalId: string,
  left: number,
): Promise<keyof Reviewed | 'quit' | undefined> {
  let approval = await client.approvals.get(approvalId);
  show(approval, left);
  for (;;) {
    if (approval.status !== 'pending') return undefined;
    const isQuestion = approval.question !== null;
    const keys = isQuestion ? '[a]nswer  [r]efuse' : '[a]pprove  [r]eject  [e]dit';
    const key = await pressedKey(`${styled('bold', `${keys}  [s]kip  [q]uit`, process.stderr)} `);
    say('');
    try {
      if (key === 'q' || key === 'escape') return 'quit';
      if (key === 's') return 'skipped';
      if (key === 'r') {
        const feedback = await askText('Why?');
        await client.approvals.reject(approvalId, { feedback });
        return told('rejected', approval);
      }
      if (key === 'a' && isQuestion) {
        await client.questions.respond(approvalId, { answer: await answerFor(approval) });
        return told('approved', approval);
      }
      if (key === 'a') {
        const isGrave = approval.risk === 'high' || approval.risk === 'critical';
        if (isGrave && !(await askYes(`The risk is ${approval.risk}. Approve it?`))) continue;
        await approve(client, approval);
        return told('approved', approval);
      }
      if (key === 'e' && !isQuestion) {
        const edited = await edit(client, approval);
        if (edited) show((approval = edited), left);
        else say('Nothing was changed.');
      }
    } catch (error) {
      // Refused, changed, or decided by someone else: say so, and show it as it is now. The rest is no matter of this approval.
      const isAboutThis = error instanceof APIError && error.status < 500 && error.status !== 401;
      if (!isAboutThis && !(error instanceof CliError && !(error instanceof Interrupted))) throw error;
      say(styled('red', visible((error as Error).message), process.stderr));
      approval = await client.approvals.get(approvalId);
      if (approval.status !== 'pending') say(decisionOn(approval));
      if (error instanceof ContentChangedError) show(approval, left);
    }
  }
}

function show(approval: ApprovalView, left: number): void {
  const rule = '─'.repeat(Math.min(80, process.stderr.columns || 80) - 12);
  say(`\n${styled('dim', `── ${left} to go ${rule}`.slice(0, 80), process.stderr)}\n${preview(approval)}\n`);
}

function told(outcome: 'approved' | 'rejected', { title, question }: ApprovalView): typeof outcome {
  const word =
    question && outcome === 'approved' ? 'Answered' : outcome === 'approved' ? 'Approved' : 'Rejected';
  say(styled(outcome === 'approved' ? 'green' : 'yellow', `${word}: ${visible(title)}`, process.stderr));
  return outcome;
}

/** Asks for each field of the answer. */
async function answerFor({ question }: ApprovalView): Promise<Record<string, unknown>> {
  const answer: Record<string, unknown> = {};
  const { required = [] } = question!.answerSchema as { required?: string[] };
  for (const [name, field] of Object.entries(fieldsOf(question!.answerSchema))) {
    const message = visible(field.title ?? name);
    if (field.type === 'boolean') {
      answer[name] = await askYes(message);
      continue;
    }
    const choices = choicesOf(field);
    const text = await askText(choices ? `${message} (${visible(choices.join(' | '))})` : message, {
      isOptional: !required.includes(name),
    });
    if (text === '') continue;
    if (field.type === 'array') answer[name] = text.split(',').map((one) => one.trim());
    else answer[name] = field.type === 'string' ? text : Number(text);
  }
  return answer;
}
