import { LIMITS } from '../action-params.js';
import type { NeededInput } from '../briefing.js';
import { ask, matchAt } from './move.js';
import { clean, oneLine, type Text, within } from './text.js';
import * as words from './words.js';

/** A mail as an instruction gives it. */
export interface SaidMail {
  /** Where it ends. */
  end: number;
  to: string[];
  cc: string[];
  subject?: string;
  /** Word for word. */
  body?: string;
  isEach: boolean;
  /** What a person has to say, besides what is not there. */
  asked: NeededInput[];
}

/**
 * The rule for mails. The message is what stands in quotation marks directly behind the addresses, a colon or "saying"; or all
 * that follows a colon directly behind the addresses. Subject, cc and bcc may stand before it or behind it, and nothing else.
 */
export class MailReader {
  readonly #whole: Text;
  /** Up to where the instruction may go. */
  readonly #masked: string;
  #at: number;
  readonly #mail: SaidMail;
  /** Behind `Subject: ...` on a line of its own the message begins on a line of its own. */
  #isHeader = false;
  #isBehindColon = false;
  #textAt = Number.POSITIVE_INFINITY;

  private constructor(whole: Text, masked: string, start: number) {
    this.#whole = whole;
    this.#masked = masked;
    this.#at = start;
    this.#mail = { end: start, to: [], cc: [], isEach: false, asked: [] };
  }

  /** @param form words.MAIL_HEAD, or words.MAIL_NAMED for a mail to somebody without an address */
  static read(whole: Text, masked: string, start: number, form = words.MAIL_HEAD): SaidMail | undefined {
    return new MailReader(whole, masked, start).#read(form);
  }

  /** The subject, copies and text that a wish for changes is made of, if it is made of nothing else. */
  static readFields(whole: Text): SaidMail | undefined {
    const reader = new MailReader(whole, whole.masked, 0);
    reader.#fieldsAndText();
    const { end, asked } = reader.#mail;
    return end > 0 && asked.length === 0 && /^[\s.!]*$/.test(whole.masked.slice(end))
      ? reader.#mail
      : undefined;
  }

  #read(form: RegExp): SaidMail | undefined {
    const mail = this.#mail;
    const start = this.#at;
    const head = this.#take(form);
    if (!head) return undefined;
    mail.end = this.#at;
    const { list, quote, name } = head.groups!;
    if (list !== undefined) mail.to = this.#people(list, start + head[0].lastIndexOf(list) + list.length);
    else mail.asked.push(ask('to', `Who is to receive it? No address is known for “${name!.trim()}”.`));
    const before = quote && this.#quoteAt(start + head[0].indexOf(quote), quote.length);
    this.#fieldsAndText();
    if (mail.body === undefined && before) {
      mail.body = before;
      mail.asked.push(
        ask('body', 'Is this the text? It stands before the addresses. Edit it, or confirm it.'),
      );
    } else if (mail.body === undefined) this.#goOn();
    const sentence =
      start - /[^.!?\n\uFDD3]*$/u.exec(this.#masked.slice(Math.max(0, start - 60), start))![0].length;
    mail.isEach ||= words.EACH.test(this.#masked.slice(sentence, Math.min(mail.end, this.#textAt)));
    return mail;
  }

  #fieldsAndText(): void {
    while (this.#field() || (this.#mail.body === undefined && this.#text())) this.#mail.end = this.#at;
    this.#at = this.#mail.end;
  }

  /** To the end of a sentence that is not wholly in the form: a person words the message. */
  #goOn(): void {
    const mail = this.#mail;
    const from = mail.end;
    if (mail.to.length > 0 && matchAt(words.SOMEBODY_ELSE, this.#masked, from)) {
      mail.asked.push(ask('to', `Who is to receive it: ${mail.to.join(', ')} alone, or somebody else, too?`));
      mail.to = [];
    }
    do mail.end += matchAt(words.TO_SENTENCE_END, this.#masked, mail.end)?.[0].length ?? 0;
    while (this.#goesOn());
    const rest = this.#masked.slice(from, mail.end);
    for (const { index } of [...rest.matchAll(words.COPY_WORD)].slice(0, 20)) {
      this.#at = from + index;
      if (this.#field() && this.#at > mail.end) mail.end = this.#at;
    }
    this.#at = mail.end;
    while (this.#field()) mail.end = this.#at;
  }

  /** Whether the next sentence only says more, such as "She can call." */
  #goesOn(): boolean {
    const mail = this.#mail;
    const at = mail.end + (matchAt(words.LEAD, this.#masked, mail.end)?.[0].length ?? 0);
    const isNext = [words.MAIL_HEAD, words.RECORD, words.SIGNAL, words.DOCUMENT].some((each) =>
      matchAt(each, this.#masked, at),
    );
    if (isNext || at >= this.#masked.length) return false;
    mail.end = at;
    return true;
  }

  /** A subject, or a list of copies. */
  #field(): boolean {
    const mail = this.#mail;
    const from = this.#at;
    this.#take(words.BETWEEN);
    const subject = this.#take(words.FIELDS.quotedSubject) ?? this.#take(words.FIELDS.subject);
    if (subject) {
      const value = Object.values(subject.groups!).find((each) => each !== undefined)!;
      const start = subject.index + subject[0].lastIndexOf(value);
      this.#isHeader = subject.groups!['value'] !== undefined;
      this.#setSubject(
        this.#quoteAt(start, value.length) ?? this.#whole.text.slice(start, start + value.length),
      );
      return true;
    }
    if (this.#take(words.FIELDS.each)) return (mail.isEach = true);
    const blind = this.#take(words.FIELDS.bcc);
    const copies = blind ?? this.#take(words.FIELDS.cc);
    if (copies) {
      const list = copies.groups!['list']!;
      const people = this.#people(list, copies.index + copies[0].indexOf(list) + list.length);
      if (!blind) mail.cc.push(...people);
      else {
        const message = `Mails have no blind copies here. Is ${people.join(', ')} to receive it openly, in a mail of its own, or not at all?`;
        mail.asked.push(ask('to', message));
      }
      return true;
    }
    this.#at = from;
    return false;
  }

  #setSubject(given: string): void {
    const mail = this.#mail;
    const subject = oneLine(given);
    if (subject.length <= LIMITS.title && (mail.subject ?? subject) === subject) mail.subject = subject;
    else mail.asked.push(ask('subject', `Which subject is it? The directive says “${subject}”.`));
  }

  #text(): boolean {
    const from = this.#at;
    const isBelow =
      this.#isHeader &&
      (this.#isBehindColon ? /^[ \t]*\n/ : /^[ \t]*\n[ \t]*\n/).test(this.#masked.slice(from));
    const colon = this.#take(words.TEXT_MARK)?.groups!['colon'];
    const quoted = this.#take(words.QUOTE);
    const value = quoted?.groups!['value'];
    const quote = value === undefined ? undefined : this.#quoteAt(this.#at - value.length, value.length);
    if (quote !== undefined) {
      this.#mail.body = quote;
      return true;
    }
    if (!colon && !isBelow) {
      this.#at = from;
      return false;
    }
    this.#at -= quoted?.[0].length ?? 0;
    this.#skipSpace();
    // "Email jane@...:", and "Subject: ..." on the line below.
    if (!this.#isBehindColon && !isBelow && this.#field()) return (this.#isBehindColon = true);
    return this.#rest();
  }

  /** All that follows, but for subject and copies at the very end. */
  #rest(): boolean {
    this.#skipSpace();
    const start = this.#at;
    this.#textAt = start;
    const all = this.#masked.slice(start);
    if (all.trim() === '') return false;
    let end = this.#masked.length;
    for (const { index } of [...all.matchAll(words.LABEL)].slice(-4)) {
      this.#at = start + index;
      while (this.#field());
      if (!/^[\s.)]*$/.test(this.#masked.slice(this.#at))) continue;
      end = start + index;
      break;
    }
    this.#at = this.#masked.length;
    const doubt = this.#doubtIn(start, end);
    if (doubt !== undefined) {
      const message = `Is this the text, and nothing else? ${doubt} Edit the mail, or confirm it; in quotation marks it is taken as it is.`;
      this.#mail.asked.push(ask('body', message));
    }
    this.#mail.body = this.#whole.text.slice(start, end).trim();
    return true;
  }

  /** Why a text without quotation marks may hold more than the message. */
  #doubtIn(start: number, end: number): string | undefined {
    const masked = this.#masked.slice(start, end);
    if (within({ start, end }, [...this.#whole.addresses, ...this.#whole.lookAlikes]).length > 0)
      return 'It names an address.';
    if (masked.search(words.LABEL) >= 0) return 'It speaks of subject or copies.';
    if (/^[\uFDD0\uFDD3'‘]|["“”„«»]/u.test(masked)) return 'A quotation mark ends too early, or not at all.';
    if (words.HELD.test(masked) || words.NEXT.test(masked)) return 'A part of it may be meant for the capo.';
    return undefined;
  }

  #skipSpace(): void {
    this.#take(/\s*/y);
  }

  #quoteAt(start: number, length: number): string | undefined {
    return this.#whole.quotes.find((each) => each.start === start && each.end === start + length)?.text;
  }

  #people(list: string, end: number): string[] {
    return within({ start: end - list.length, end }, this.#whole.addresses).map(({ text }) => text);
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const match = matchAt(expression, this.#masked, this.#at);
    if (match) this.#at += match[0].length;
    return match;
  }
}

/** Adds the configured signature, where the text has none of its own. */
export function withSignature(body: string, given: string | null): string {
  const signature = clean(given ?? '').trim();
  const lines = body.split(/\n|(?<=[.!?])\s/).filter((line) => line.trim() !== '');
  const isSignOff = (line: string) => line.length <= 50 && !/[.?]$/.test(line) && words.SIGN_OFF.test(line);
  const isSigned = body.endsWith(signature) || lines.slice(1).slice(-3).some(isSignOff);
  const signed = `${body}\n\n${signature}`;
  return signature === '' || isSigned || signed.length > LIMITS.mail ? body : signed;
}
