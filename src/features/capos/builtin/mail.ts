import { LIMITS } from '../action-params.js';
import type { NeededInput } from '../briefing.js';
import { ask, lacksText } from './moves.js';
import { addressesIn, clean, isFramed, matchAt, oneLine, saidIn, taskAt, type Text, within } from './text.js';
import * as words from './words.js';

/** A mail as an instruction gives it: recipients, subject, copies and text, in any order. Each is marked, and goes on to the next mark. */
export class SaidMail {
  readonly #whole: Text;
  readonly #masked: string;
  readonly start: number;
  end: number;
  readonly to: string[] = [];
  readonly cc: string[] = [];
  subject: string | undefined;
  body: string | undefined;
  isEach = false;
  readonly asked: NeededInput[] = [];
  /** What is no part of it, but stands between them. */
  readonly left: string[] = [];
  #at = 0;
  /** Addresses and fields alone stand before it: a colon or a quotation mark begins the text. */
  #isDirect = true;
  #isBehindColon = false;
  #form: RegExp | undefined;

  private constructor(whole: Text, masked: string, start: number, form?: RegExp) {
    [this.#whole, this.#masked, this.start, this.end, this.#form] = [whole, masked, start, start, form];
  }

  /** @param form what its recipients are looked for with: words.MAIL_HEAD, or words.MAIL_NAMED where no address is known */
  static at(whole: Text, masked: string, start: number, form: RegExp): SaidMail | undefined {
    const mail = new SaidMail(whole, masked, start, form);
    mail.#read();
    if (mail.#form || mail.body !== undefined) return mail.#form ? undefined : mail;
    // What is not in the form describes the message, and a person words it.
    mail.end += taskAt(masked, mail.end, words.NEXT_TO_MAIL).length;
    mail.isEach ||= masked.slice(start, mail.end).search(words.EACH_WITHIN) >= 0;
    return mail;
  }

  /** In a sentence of its own: the text is marked, and goes to the one address before it that is not excluded. */
  static told(whole: Text, masked: string, start: number): SaidMail | undefined {
    const mail = new SaidMail(whole, masked, start);
    mail.#read();
    const end = start + (mail.left[0]?.length ?? 0);
    const people = within(start, end, whole.addresses).filter((each) => !whole.excluded.includes(each));
    if (people.length === 1) mail.to.push(...people);
    const said = mail.body ?? mail.subject;
    return said !== undefined && matchAt(words.TOLD, masked.slice(start, end), 0) ? mail : undefined;
  }

  /** Subject, copies and text, if there is nothing else. */
  static fieldsOf(whole: Text): SaidMail | undefined {
    const mail = new SaidMail(whole, whole.masked, 0);
    return mail.#read() && mail.#isDirect && !whole.unread[0] && !mail.asked[0] ? mail : undefined;
  }

  /** Whether nothing else stands up to the end. */
  #read(hasText = true): boolean {
    const isText = () => this.body === undefined && this.#text();
    const isNext = () => this.#field() || (hasText && (isText() || this.#skip()));
    while (isNext()) this.end = this.#at;
    return this.end > this.start && matchAt(words.PLEASANTRY, this.#masked, this.end) !== undefined;
  }

  #field(): boolean {
    this.#at = this.end;
    if (this.#form !== words.MAIL_NAMED) this.#take(words.BETWEEN);
    const head = this.#form && this.#take(this.#form);
    if (head) {
      const { name, thing = '' } = head.groups!;
      if (name === undefined) this.to.push(...within(head.index, this.#at, this.#whole.addresses));
      else this.asked.push(ask('to', `Who is to receive it? No address is known for “${name.trim()}”.`));
      const said = saidIn(this.#whole, head, 'thing');
      if (/^\uFDD0+\uFDD3\s*$/.test(thing)) this.body = said;
      else this.left.push(said.replace(words.EACH_WITHIN, ''));
      this.isEach ||= head[0].search(words.EACH_WITHIN) >= 0;
      this.#form = undefined;
      return true;
    }
    const subject = this.#take(words.SUBJECT_LABEL);
    if (subject) {
      const { value = '', colon = '' } = subject.groups!;
      const said = oneLine(saidIn(this.#whole, subject, 'value'));
      const isPart = `${colon && ' '}${value}`.search(words.OF_SENTENCE) >= 0;
      const isNext = `- ${subject[0]}`.search(words.NEXT_TO_SUBJECT) >= 0;
      const isSure = !isPart && !isNext && !isFramed(said, subject[0]);
      if (isSure && said.length <= LIMITS.title && (this.subject ?? said) === said) this.subject = said;
      else this.asked.push(ask('subject', `Which subject is it? The directive says “${said}”.`));
      this.#isDirect &&= !isPart;
      return true;
    }
    const people = this.#take(words.PEOPLE);
    const { each, none, copies = '' } = people?.groups ?? {};
    const named = within(this.end, this.#at, this.#whole.addresses);
    const blind = `Mails have no blind copies here. Is ${named.join(', ')} to receive it openly, in a mail of its own, or not at all?`;
    this.isEach ||= each !== undefined;
    if (/bcc|blind|cach|oculta/i.test(copies)) this.asked.push(ask('to', blind));
    else if (copies !== '') this.cc.push(...named.filter((one) => !this.#whole.excluded.includes(one)));
    return people !== undefined && !(none && this.to.some((one) => this.#whole.excluded.includes(one)));
  }

  #text(): boolean {
    this.#at = this.end;
    const mark = this.#take(words.TEXT_MARK)!;
    const { label, colon, below = '', quote, letter } = mark.groups!;
    const isBare = label === undefined && colon === '' && letter === undefined;
    const start = isBare ? matchAt(/\s*/y, this.#masked, this.end)![0].length + this.end : this.#at;
    const isDirect = this.#isDirect && this.#form === undefined;
    const isBelow = this.subject !== undefined && below.split('\n').length > (this.#isBehindColon ? 1 : 2);
    const isMarked = label || colon || isDirect || this.subject !== undefined;
    const isSent = matchAt(words.SENT_BELOW, this.#masked, this.end) !== undefined;
    if (quote) return Boolean(isMarked || isSent) && (this.body = saidIn(this.#whole, mark, 'quote')) !== '';
    if (!(colon && (label || isDirect)) && !isBelow && letter === undefined) return false;
    this.end = start;
    // "Email jane@...:", and "Subject: ..." behind it or on the line below.
    if (label === undefined && colon && this.#field()) return (this.#isBehindColon = true);
    if (start >= this.#masked.length) return false;
    const last = start + matchAt(/(?:[^\f\v]|\f[^\f\v]*\v)*/y, this.#masked, start)![0].length;
    const inside = this.#masked.slice(0, last);
    const labels = [...inside.slice(start).matchAll(words.LABEL)].slice(-4);
    const isField = (at: number) => new SaidMail(this.#whole, inside, at, this.#form).#read(false);
    const found = labels.find(({ index }) => index > 0 && isField(start + index));
    const end = (this.end = found ? start + found.index : last);
    this.#read(false);
    this.#at = Math.max(this.end, last);
    const doubt = doubtIn(this.#whole, start, end, label !== undefined);
    const question = `Is this the text, and nothing else? ${doubt} Edit the mail, or confirm it; in quotation marks it is taken as it is.`;
    const isPart = ` ${this.#masked.slice(start, end)}`.search(words.OF_SENTENCE) >= 0;
    if (isPart || doubt) this.asked.push(isPart ? lacksText(this.#whole) : ask('body', question));
    this.body = isPart ? '' : this.#whole.text.slice(start, end).replace(/(?<![\s,;([{<])[\s,;([{<]+$/, '');
    return true;
  }

  /** What the mail is about; or what is not understood, to the next field. */
  #skip(): boolean {
    this.#at = this.end;
    if (this.#form !== undefined) return false;
    const isBehind = this.body !== undefined;
    if (!isBehind && this.#take(words.DESCRIPTION)) return !(this.#isDirect = false);
    const rest = this.#masked.slice(this.end, isBehind ? this.end + 300 : undefined);
    const next = rest.search(words.FIELD);
    const isOver = `- ${rest.slice(0, next + 1)}`.search(isBehind ? words.ENDS : words.NEXT) >= 0;
    if (next <= 0 || isOver) return false;
    this.left.push(this.#whole.text.slice(this.end, (this.#at += next)));
    return !(this.#isDirect = false);
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const match = matchAt(expression, this.#masked, this.#at);
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
  if (isFramed(text)) return 'A quotation or a bracket is a part of it, or does not end.';
  const isLetter = isGreeting || isSigned || isMarked;
  const held = isGreeting && isSigned ? words.HELD_IN_LETTER : words.HELD;
  const forCapo = isLetter ? [held, words.NEXT_IN_LETTER] : [held, words.NEXT, words.REPORTED];
  return forCapo.some((each) => text.search(each) >= 0) ? 'A part of it may be meant for the capo.' : '';
}

export function withSignature(body: string, given: string | null, { masked }: Text): string {
  const signature = masked.search(words.NOTHING_TO_ADD) < 0 ? clean(given ?? '').trim() : '';
  const signed = `${body}\n\n${signature}`;
  const isSigned = body.endsWith(signature) || body.slice(-120).search(words.SIGNED) >= 0;
  return isSigned || signed.length > LIMITS.mail ? body : signed;
}

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject`, `body`, or one person with an `email`. */
export function contextOf(context: Readonly<Record<string, unknown>> | null) {
  const textOf = (value: unknown) => (typeof value === 'string' ? clean(value).trim() : '');
  const upTo = (max: number, text: string) => (text.length <= max ? text : '');
  const listOf = (value: unknown) => String([value].flat().slice(0, 200).map(textOf)).split(/[,;\n]/);
  const { to, cc, email, subject, body } = context ?? {};
  const [people, copies] = [listOf(to ?? email), listOf(cc)];
  const emails = Object.values(context ?? {}).map((each) => (each as { email?: unknown } | null)?.email);
  const known = emails.flatMap(listOf).flatMap(addressesIn);
  const unknown = [...people, ...copies].map(oneLine).filter((each) => each && !addressesIn(each)[0]);
  return {
    to: people.join('') === '' && known.length === 1 ? known : people.flatMap(addressesIn),
    cc: copies.flatMap(addressesIn),
    subject: upTo(LIMITS.title, oneLine(textOf(subject))),
    body: upTo(LIMITS.mail, textOf(body)),
    asked: unknown.slice(0, 10).map((each) => ask('to', `Who is “${each}”, which the context names?`)),
  };
}
