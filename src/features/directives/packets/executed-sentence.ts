import type { Action, ActionResult, ActionTypeName } from '../../capos/index.js';

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
    case 'webhook.post':
      return `${capo} posted "${title}".`;
    case 'http.call':
      return `${capo} made the call "${title}".`;
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

/** A mail of which only a person says that it arrived has no transport. */
type Deed = ActionTypeName | 'email.send/smtp' | 'email.send/file';

/** What was done, by action type and transport: "filed a document" shows that nothing left. */
const DEEDS: Readonly<Record<Deed, readonly [one: string, several: string]>> = {
  'email.send': ['sent a mail', 'sent # mails'],
  'email.send/smtp': ['sent a mail', 'sent # mails'],
  'email.send/file': ['wrote a mail to a file', 'wrote # mails to files'],
  'document.file': ['filed a document', 'filed # documents'],
  'webhook.post': ['posted an event', 'posted # events'],
  'http.call': ['made a call', 'made # calls'],
  'signal.raise': ['raised a signal', 'raised # signals'],
  'revenue.record': ['recorded a revenue event', 'recorded # revenue events'],
  'directive.create': ['handed a directive to another capo', 'handed # directives to other capos'],
  'standing_order.propose': ['proposed a standing order', 'proposed # standing orders'],
};

/** The same of all work packets of a directive together, each by its {@link Deed}. */
export function executedTogether(done: readonly string[]): string {
  const deeds = [...Map.groupBy(done as readonly Deed[], (deed) => deed)].map(([deed, { length }]) => {
    const [one, several] = DEEDS[deed];
    return length === 1 ? one : several.replace('#', String(length));
  });
  return deeds.length === 0 ? 'prepared nothing' : new Intl.ListFormat('en').format(deeds);
}
