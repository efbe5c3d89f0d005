/** The parameters of work packets, as people read them. */
const NAMES: Record<string, string> = {
  to: 'To',
  cc: 'Cc',
  bcc: 'Bcc',
  replyTo: 'Reply to',
  subject: 'Subject',
  body: 'Text',
  title: 'Title',
  amount: 'Amount',
  currency: 'Currency',
};

/** What a field of this name is called. */
export function labelOf(name: string): string {
  return NAMES[name] ?? name;
}

/** A sentence of the service with the names of fields instead of the paths of parameters, such as `params.body`. */
export function inNames(sentence: string): string {
  return sentence.replaceAll(/\b(?:action\.)?params((?:\.\w+|\[\d+\])+)/g, (_, path: string) =>
    path
      .slice(1)
      .split('.')
      .map((name, at) => (at === 0 ? name.replace(/^\w+/, labelOf) : name))
      .join('.'),
  );
}
