import { LIMITS } from '../action-params.js';
import type { NeededInput } from '../briefing.js';
import { ask } from './moves.js';
import { addressesIn, clean, matchAt, oneLine, saidAt, taskAt, type Text, within } from './text.js';
import * as words from './words.js';

/**
 * A mail as an instruction gives it: its recipients, subject, copies and text, each marked as such, in any order. A value stands in
 * quotation marks, or goes on to the next of them.
 */
export class SaidMail {
  readonly to: string[] = [];
  readonly cc: string[] = [];
  subject: string | undefined;
  body: string | undefined;
  isEach = false;
  readonly asked: NeededInput[] = [];
  /** What is no part of it, but stands between them. */
  readonly left: string[] = [];
  end: number;
  #at = 0;
  /** Addresses and fields alone stand before it: a colon or a quotation mark begins the text. */
  #isDirect: boolean;
  #isBehindColon = false;

  private constructor(
    readonly whole: Text,
    readonly masked: string,
    readonly start: number,
    /** What its recipients are looked for with, until they are found. */
    private form?: RegExp,
  ) {
    this.#isDirect = form === undefined;
    this.end = start;
  }

  /** @param form words.MAIL_HEAD, or words.MAIL_NAMED for a mail to somebody without an address */
  static at(whole: Text, masked: string, start: number, form: RegExp): SaidMail | undefined {
    const mail = new SaidMail(whole, masked, start, form);
    mail.#read(true);
    if (mail.form !== undefined) return undefined;
    if (mail.body !== undefined) return mail;
    // What is not in the form describes the message, and a person words it.
    mail.end += taskAt(masked, mail.end, words.NEXT_TO_MAIL).length;
    mail.isEach ||= masked.slice(start, mail.end).search(words.EACH_WITHIN) >= 0;
    return mail;
  }

  /** In a sentence of its own: the text is marked, and goes to the one address before it that is not excluded. */
  static told(whole: Text, masked: string, start: number): SaidMail | undefined {
    const mail = new SaidMail(whole, masked, start);
    mail.#read(true);
    const end = start + (mail.left[0]?.length ?? 0);
    if (mail.body === undefined || !matchAt(words.TOLD, masked.slice(start, end), 0)) return undefined;
    const people = within(start, end, whole.addresses).filter((each) => !whole.excluded.includes(each));
    if (people.length === 1) mail.to.push(...people);
    return mail;
  }

  /** Subject, copies and text, if there is nothing else. */
  static fieldsOf(whole: Text): SaidMail | undefined {
    const mail = new SaidMail(whole, whole.masked, 0);
    const isAll = mail.#read(true) && mail.#isDirect && whole.unread.length === 0;
    return isAll && mail.asked.length === 0 ? mail : undefined;
  }

  /** Whether nothing else stands up to the end. */
  #read(hasText: boolean): boolean {
    const isText = () => hasText && this.body === undefined;
    const next = () => this.#field() || (isText() && this.#text()) || (hasText && this.#skip());
    while (next()) this.end = this.#at;
    return this.end > this.start && /^[\s.!?)]*$/.test(this.masked.slice(this.end));
  }

  #head(): boolean {
    const head = this.form && this.#take(this.form);
    if (!head) return false;
    const { name, thing = /^forward/i.exec(head[0])?.[0] } = head.groups!;
    if (name === undefined) this.to.push(...within(head.index, this.#at, this.whole.addresses));
    else this.asked.push(ask('to', `Who is to receive it? No address is known for “${name.trim()}”.`));
    if (/^\uFDD0+\uFDD3\s*$/.test(thing ?? '')) this.body = this.#said(head, thing!.trim());
    else if (thing !== undefined) this.left.push(this.#said(head, thing));
    this.isEach ||= head[0].search(words.EACH_WITHIN) >= 0;
    this.form = undefined;
    return (this.#isDirect = true);
  }

  #field(): boolean {
    this.#at = this.end;
    if (this.form !== words.MAIL_NAMED) this.#take(words.BETWEEN);
    if (this.#head()) return true;
    const subject = this.#take(words.SUBJECT_LABEL);
    if (subject) {
      const said = oneLine(this.#said(subject, subject.groups!['value']!));
      const isSure = `- ${subject[0]}`.search(words.NEXT_TO_SUBJECT) < 0;
      if (isSure && said.length <= LIMITS.title && (this.subject ?? said) === said) this.subject = said;
      else this.asked.push(ask('subject', `Which subject is it? The directive says “${said}”.`));
      return true;
    }
    const people = this.#take(words.PEOPLE);
    if (!people) return false;
    const { each, none, copies = '' } = people.groups!;
    const named = within(people.index, this.#at, this.whole.addresses);
    const blind = `Mails have no blind copies here. Is ${named.join(', ')} to receive it openly, in a mail of its own, or not at all?`;
    this.isEach ||= each !== undefined;
    if (/bcc/i.test(copies)) this.asked.push(ask('to', blind));
    else if (copies !== '') this.cc.push(...named);
    return none === undefined || !this.to.some((one) => this.whole.excluded.includes(one));
  }

  #text(): boolean {
    this.#at = this.end;
    const lines = this.#isBehindColon ? /^[ \t]*\n/ : /^[ \t]*\n[ \t]*\n/;
    const isBelow = this.subject !== undefined && lines.test(this.masked.slice(this.#at));
    const { label, colon } = this.#take(words.TEXT_MARK)!.groups!;
    const start = this.#at;
    const isMarked = label || colon || this.#isDirect || this.subject !== undefined;
    const quote = (isMarked || matchAt(words.SENT_BELOW, this.masked, start)) && this.#take(words.QUOTE);
    if (quote) return (this.body = this.#said(quote, quote.groups!['value']!)) !== '';
    const isLetter = matchAt(words.GREETING, this.masked, start) !== undefined;
    if (!(colon && (label || this.#isDirect)) && !isBelow && !isLetter) return false;
    this.end = start;
    // "Email jane@...:", and "Subject: ..." behind it or on the line below.
    if (label === undefined && colon && this.#field()) return (this.#isBehindColon = true);
    return this.#rest(start + /^\s*/.exec(this.masked.slice(start))![0].length, label !== undefined);
  }

  #rest(start: number, isMarked: boolean): boolean {
    if (start >= this.masked.length) return false;
    const labels = [...this.masked.slice(start).matchAll(words.LABEL)].slice(-4);
    const isField = (at: number) => new SaidMail(this.whole, this.masked, at, this.form).#read(false);
    const found = labels.find(({ index }) => index > 0 && isField(start + index));
    const end = (this.end = found ? start + found.index : this.masked.length);
    this.#read(false);
    this.#at = this.masked.length;
    const doubt = doubtIn(this.whole, start, end, isMarked);
    const question = `Is this the text, and nothing else? ${doubt} Edit the mail, or confirm it; in quotation marks it is taken as it is.`;
    if (doubt !== '') this.asked.push(ask('body', question));
    this.body = this.whole.text.slice(start, end).replace(/(?<![\s,;(])[\s,;(]+$/, '');
    return true;
  }

  /** What the mail is about; or what is not understood, to the next field. */
  #skip(): boolean {
    this.#at = this.end;
    if (this.form !== undefined) return false;
    const isBehind = this.body !== undefined;
    if (!isBehind && this.#take(words.DESCRIPTION)) return !(this.#isDirect = false);
    const rest = this.masked.slice(this.end, isBehind ? this.end + 300 : undefined);
    const next = rest.search(words.FIELD);
    if (next <= 0 || `- ${rest.slice(0, next + 1)}`.search(isBehind ? words.ENDS : words.NEXT) >= 0)
      return false;
    this.left.push(this.whole.text.slice(this.end, (this.#at += next)));
    return !(this.#isDirect = false);
  }

  #said({ index, 0: all }: RegExpExecArray, part: string): string {
    const start = index + all.lastIndexOf(part);
    return saidAt(this.whole, start, start + part.length);
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const match = matchAt(expression, this.masked, this.#at);
    if (match) this.#at += match[0].length;
    return match;
  }
}

/** Why a text without quotation marks may hold more than the message, or no message. */
function doubtIn({ masked, addresses, lookAlikes }: Text, start: number, end: number, isMarked: boolean) {
  const text = masked.slice(start, end);
  const people = within(start, end, [...addresses, ...lookAlikes]);
  const isGreeting = matchAt(words.GREETING, text, 0) !== undefined;
  const isSigned = text.slice(-120).search(words.SIGNED) >= 0;
  if (people.length > 0 && !(isGreeting && isSigned)) return `It names ${people.join(', ')}.`;
  if (text.search(words.LABEL) >= 0) return 'It speaks of subject or copies.';
  if (/^[\uFDD0\uFDD3'‘]|["“”„«»]/u.test(text)) return 'A quotation mark ends too early, or not at all.';
  const isLetter = isGreeting || isSigned || isMarked;
  const forCapo = [words.HELD, isLetter ? words.NEXT_IN_LETTER : words.NEXT];
  if (!isLetter) forCapo.push(words.REPORTED);
  return forCapo.some((each) => text.search(each) >= 0) ? 'A part of it may be meant for the capo.' : '';
}

export function withSignature(body: string, given: string | null): string {
  const signature = clean(given ?? '').trim();
  const signed = `${body}\n\n${signature}`;
  const isSigned = body.endsWith(signature) || body.slice(-120).search(words.SIGNED) >= 0;
  return isSigned || signed.length > LIMITS.mail ? body : signed;
}

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject`, `body`, or one person with an `email`. */
export function contextOf(context: Readonly<Record<string, unknown>> | null) {
  const given = context ?? {};
  const textOf = (value: unknown) => (typeof value === 'string' ? clean(value).trim() : '');
  const listOf = (value: unknown) => String([value].flat().slice(0, 200).map(textOf)).split(/[,;\n]/);
  const [to, cc] = [listOf(given['to'] ?? given['email']), listOf(given['cc'])];
  const emails = Object.values(given).map((each) => (each as { email?: unknown } | null)?.email);
  const people = emails.flatMap(listOf).flatMap(addressesIn);
  const subject = oneLine(textOf(given['subject']));
  const unread = [...to, ...cc].map(oneLine).filter((each) => each !== '' && addressesIn(each).length === 0);
  const question = (each: string) => `Who is meant? The context has “${each}”, which is no mail address.`;
  return {
    to: to.join('') === '' && people.length === 1 ? people : to.flatMap(addressesIn),
    cc: cc.flatMap(addressesIn),
    subject: subject.length <= LIMITS.title ? subject : '',
    body: textOf(given['body']),
    asked: unread.slice(0, 10).map((each) => ask('to', question(each))),
  };
}
