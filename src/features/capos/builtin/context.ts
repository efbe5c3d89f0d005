import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { addressesIn, clean, oneLine } from './text.js';

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject`, `body`, or one person with an `email`. */
export interface GivenInContext {
  to: string[];
  cc: string[];
  subject: string;
  body: string;
  /** Stands as a recipient and is no address. */
  unread: string[];
}

export function contextOf(context: Readonly<Record<string, unknown>> | null): GivenInContext {
  const given = context ?? {};
  const textOf = (value: unknown) => (typeof value === 'string' ? clean(value).trim() : '');
  const listOf = (value: unknown): string[] =>
    [value]
      .flat()
      .slice(0, 200)
      .flatMap((each) => cutText(textOf(each), 10_000, '').split(/[,;\n]/));
  const [to, cc] = [given['to'] ?? given['email'], given['cc']].map(listOf) as [string[], string[]];
  const people = Object.values(given).flatMap((each) =>
    listOf((each as { email?: unknown } | null)?.email).flatMap(addressesIn),
  );
  const subject = oneLine(textOf(given['subject']));
  return {
    to: to.join('') === '' && people.length === 1 ? people : to.flatMap(addressesIn),
    cc: cc.flatMap(addressesIn),
    subject: subject.length <= LIMITS.title ? subject : '',
    body: textOf(given['body']),
    unread: [...to, ...cc]
      .map(oneLine)
      .filter((each) => each !== '' && addressesIn(each).length === 0)
      .slice(0, 10),
  };
}
