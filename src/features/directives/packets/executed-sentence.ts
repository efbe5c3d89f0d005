import type { Action, ActionResult } from '../../capos/action-types.js';

/** What was done, for the feed: in the word for it, and loud about a mail that nobody has received. */
export function executedSentence(
  capo: string,
  title: string,
  { type }: Action,
  result: ActionResult,
): string {
  switch (type) {
    case 'email.send':
      return result['transport'] === 'file'
        ? `${capo} wrote the mail "${title}" to a file (${String(result['response'])}); nobody has received it, since no mail server is configured.`
        : `${capo} sent the mail "${title}".`;
    case 'document.file':
      return `${capo} filed the document "${title}".`;
    case 'signal.raise':
      return `${capo} raised the signal "${title}".`;
    case 'revenue.record':
      return `${capo} recorded "${title}".`;
    case 'directive.create':
      return `${capo} handed on "${title}".`;
    case 'standing_order.propose':
      return `${capo} proposed "${title}", which waits for somebody to activate it.`;
  }
}
