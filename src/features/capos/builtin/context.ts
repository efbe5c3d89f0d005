import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { addressesIn, clean, oneLine } from './text.js';

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject`, `body`, or one person with an `email`. */
export interface GivenInContext {
  to: string[];
  cc: string[];
  subject?: string;
  body?: string;
  /** Stands as a recipient and is no address. */
  unread: string[];
}

export function contextOf(context: Readonly<Record<string, unknown>> | null): GivenInContext {
  const given = context ?? {};
  const listOf = (value: unknown): string[] =>
    [value]
      .flat()
      .slice(0, 200)
      .flatMap((each) => (typeof each === 'string' ? cutText(each, 10_000, '').split(/[,;\n]/) : []));
  const found = (list: readonly string[]) =>
    list.flatMap((each) => addressesIn(each).map(({ text }) => text));
  const [to, cc] = [listOf(given['to'] ?? given['email']), listOf(given['cc'])];
  const people = Object.values(given).flatMap((each) =>
    found(listOf((each as { email?: unknown } | null)?.email)),
  );
  const [subject, body] = ['subject', 'body'].map((name) =>
    clean(typeof given[name] === 'string' ? given[name] : '').trim(),
  );
  return {
    to: to.length > 0 || people.length !== 1 ? found(to) : people,
    cc: found(cc),
    ...(subject && subject.length <= LIMITS.title && { subject: oneLine(subject) }),
    ...(body && { body }),
    unread: [...to, ...cc]
      .map(oneLine)
      .filter((each) => each !== '' && found([each]).length === 0)
      .slice(0, 10),
  };
}
