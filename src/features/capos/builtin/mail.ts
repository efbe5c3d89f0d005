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
    const head = this.#take(form);
    if (!head) return undefined;
    mail.end = this.#at;
    const { list, name } = head.groups!;
    if (list !== undefined) mail.to = this.#people(list, head.index + head[0].lastIndexOf(list));
    else mail.asked.push(ask('to', `Who is to receive it? No address is known for “${name!.trim()}”.`));
    this.#fieldsAndText();
    if (mail.body === undefined) this.#endSentence(head.index);
    return mail;
  }

  #fieldsAndText(): void {
    while (this.#field() || (this.#mail.body === undefined && this.#text())) this.#mail.end = this.#at;
  }

  /** To the end of a sentence that is not in the form: a person words the message. */
  #endSentence(start: number): void {
    const mail = this.#mail;
    if (mail.to.length > 0 && matchAt(words.SOMEBODY_ELSE, this.#masked, mail.end)) {
      mail.asked.push(ask('to', `Who is to receive it: ${mail.to.join(', ')} alone, or somebody else, too?`));
      mail.to = [];
    }
    mail.end += matchAt(words.TO_SENTENCE_END, this.#masked, mail.end)![0].length;
    mail.isEach ||= this.#masked.slice(start, mail.end).search(words.EACH_WITHIN) >= 0;
  }

  /** A subject, or a list of copies. */
  #field(): boolean {
    const mail = this.#mail;
    this.#at = mail.end;
    this.#take(words.BETWEEN);
    const subject = this.#take(words.SUBJECT_QUOTED) ?? this.#take(words.SUBJECT_PLAIN);
    if (subject) {
      const { value, line, plain } = subject.groups!;
      const said = (value ?? line ?? plain)!;
      const start = subject.index + subject[0].lastIndexOf(said);
      this.#isHeader = plain === undefined;
      this.#setSubject(
        this.#quoteAt(start, said.length) ?? this.#whole.text.slice(start, start + said.length),
      );
      return true;
    }
    if (this.#take(words.EACH)) return (mail.isEach = true);
    const copies = this.#take(words.COPIES);
    if (!copies) return false;
    const list = copies.groups!['list']!;
    const people = this.#people(list, copies.index + copies[0].lastIndexOf(list));
    if (!/^bcc/i.test(copies[0])) mail.cc.push(...people);
    else {
      const message = `Mails have no blind copies here. Is ${people.join(', ')} to receive it openly, in a mail of its own, or not at all?`;
      mail.asked.push(ask('to', message));
    }
    return true;
  }

  #setSubject(given: string): void {
    const mail = this.#mail;
    const subject = oneLine(given);
    if (subject.length <= LIMITS.title && (mail.subject ?? subject) === subject) mail.subject = subject;
    else mail.asked.push(ask('subject', `Which subject is it? The directive says “${subject}”.`));
  }

  #text(): boolean {
    this.#at = this.#mail.end;
    const lines = this.#isBehindColon ? /^[ \t]*\n/ : /^[ \t]*\n[ \t]*\n/;
    const isBelow = this.#isHeader && lines.test(this.#masked.slice(this.#at));
    const colon = this.#take(words.TEXT_MARK)?.groups!['colon'];
    const behindMark = this.#at;
    const value = this.#take(words.QUOTE)?.groups!['value'];
    const quote = value === undefined ? undefined : this.#quoteAt(this.#at - value.length, value.length);
    if (quote !== undefined) return (this.#mail.body = quote) !== '';
    if (!colon && !isBelow) return false;
    this.#at = behindMark;
    this.#mail.end = this.#at;
    // "Email jane@...:", and "Subject: ..." on the line below.
    if (!this.#isBehindColon && !isBelow && this.#field()) return (this.#isBehindColon = true);
    return this.#rest(behindMark);
  }

  /** All that follows, but for subject and copies at the very end. */
  #rest(from: number): boolean {
    const mail = this.#mail;
    const start = from + /^\s*/.exec(this.#masked.slice(from))![0].length;
    const all = this.#masked.slice(start);
    if (all === '') return false;
    let end = this.#masked.length;
    for (const { index } of [...all.matchAll(words.LABEL)].slice(-4)) {
      mail.end = start + index;
      while (this.#field()) mail.end = this.#at;
      if (mail.end === start + index || !/^[\s.)]*$/.test(this.#masked.slice(mail.end))) continue;
      end = start + index;
      break;
    }
    this.#at = this.#masked.length;
    const doubt = doubtIn(this.#whole, start, end);
    if (doubt !== undefined) {
      const message = `Is this the text, and nothing else? ${doubt} Edit the mail, or confirm it; in quotation marks it is taken as it is.`;
      mail.asked.push(ask('body', message));
    }
    mail.body = this.#whole.text.slice(start, end).replace(/[\s,;(]+$/, '');
    return true;
  }

  #quoteAt(start: number, length: number): string | undefined {
    return this.#whole.quotes.find((each) => each.start === start && each.end === start + length)?.text;
  }

  #people(list: string, start: number): string[] {
    return within(start, start + list.length, this.#whole.addresses);
  }

  #take(expression: RegExp): RegExpExecArray | undefined {
    const match = matchAt(expression, this.#masked, this.#at);
    if (match) this.#at += match[0].length;
    return match;
  }
}

/** Why a text without quotation marks may hold more than the message. */
function doubtIn(whole: Text, start: number, end: number): string | undefined {
  const masked = whole.masked.slice(start, end);
  const people = within(start, end, [...whole.addresses, ...whole.lookAlikes]);
  if (people.length > 0) return `It names ${people.join(', ')}.`;
  if (masked.search(words.LABEL) >= 0) return 'It speaks of subject or copies.';
  if (/^[\uFDD0\uFDD3'‘]|["“”„«»]/u.test(masked)) return 'A quotation mark ends too early, or not at all.';
  const isHeld = masked.search(words.HELD) >= 0 || masked.search(words.NEXT) >= 0;
  return isHeld ? 'A part of it may be meant for the capo.' : undefined;
}

/** Adds the configured signature, where the text has none of its own. */
export function withSignature(body: string, given: string | null): string {
  const signature = clean(given ?? '').trim();
  const lines = body.split(/\n|(?<=[.!?])\s/).filter((line) => line.trim() !== '');
  const isSignOff = (line: string) =>
    line.length <= 50 && !/[.?]$/.test(line) && line.search(words.SIGN_OFF) >= 0;
  const isSigned = body.endsWith(signature) || lines.slice(1).slice(-3).some(isSignOff);
  const signed = `${body}\n\n${signature}`;
  return signature === '' || isSigned || signed.length > LIMITS.mail ? body : signed;
}
