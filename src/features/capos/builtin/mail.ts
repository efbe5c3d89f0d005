import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import type { NeededInput } from '../briefing.js';
import type { Ask } from './asks.js';
import type { DraftBuilder } from './draft-builder.js';
import { doubtfulIn, pairsOf } from './pairs.js';
import { copiesFrom, describedFrom, recipientsOf } from './people.js';
import { clean, oneLine, type Passage, within } from './text.js';
import * as words from './words.js';

/** What is sent, word for word, or what it is to say. */
interface Message {
  body: string;
  subject: string;
  /** Only described: a person words it. */
  isDescribed: boolean;
  /** Where it stands in quotation marks. */
  quote?: Passage | undefined;
}

const MAX_SUBJECT = 78;
const WORD_IT =
  'Write the message: the directive only describes it, and the built-in runner words nothing itself.';

export function prepareMail(draft: DraftBuilder, ask: Ask): void {
  for (const part of pairsOf(draft, ask)) prepareOne(draft, part);
}

function prepareOne(draft: DraftBuilder, ask: Ask): void {
  const { whole, contacts } = draft;
  const { body, subject, isDescribed, quote } = messageOf(draft, ask);
  const { cc, remarks, ...found } = recipientsOf(whole, ask, contacts, !isDescribed, quote);
  const doubt = doubtfulIn(draft, ask);
  const unused = within({ start: ask.start, end: ask.headEnd }, whole.quotes)
    .map(({ text }) => text)
    .filter(
      (text) =>
        !isDescribed && ![body, subject].some((used) => used.includes(oneLine(text)) || used.includes(text)),
    );
  // "Ask Bob whether ..., then tell him “...”"
  const before = { start: ask.start, end: quote?.start ?? ask.start };
  const left = words.TOLD.test(whole.masked.slice(before.start, before.end)) ? [draft.words(before)] : unused;
  // "Check the oven and mail ..."
  const verb = words.at(whole.masked.slice(ask.start, ask.headEnd), words.MAIL);
  const lead = draft.words({ start: ask.start, end: ask.start + Math.max(0, verb) });
  const isOther = !lead.includes('@') && /(?:\p{L}{2,}[^\p{L}]+){3}/u.test(`${lead} `);
  // One text was taken for all of them, and others are left.
  const isUnpaired = unused.length > 0 && found.to.length > 1;
  const to = isUnpaired ? [] : found.to;
  const question = isUnpaired ? `Who is to receive it: ${found.to.join(', ')}?` : found.question;
  const needsInput: NeededInput[] = [];
  if (to.length === 0)
    needsInput.push({ path: 'params.to', message: cutText(question ?? 'Who is to receive it?', 500) });
  for (const [role, unread] of Object.entries(contacts.unread))
    if (unread.length > 0) needsInput.push({ path: `params.${role}`, message: unreadSentence(role, unread) });
  if (isDescribed || isOnlyLinks(body) || !/[\p{L}\p{N}\p{S}]/u.test(body))
    needsInput.push({ path: 'params.body', message: WORD_IT });
  else if (doubt !== undefined) needsInput.push({ path: 'params.body', message: doubt });
  else if (left.length > 0) {
    const texts = left.map((text) => `“${cutText(oneLine(text), 120)}”`).join(', ');
    const message = cutText(`Is this the text? The directive also has ${texts}.`, 500);
    needsInput.push({ path: 'params.body', message });
  }
  if (subject === '') needsInput.push({ path: 'params.subject', message: 'Write a subject.' });
  const signed = isDescribed ? body : withSignature(body, draft.signature);
  const limited = limits(draft, ask, isDescribed);
  // Nobody would read it where standing orders let the mail go.
  for (const limit of limited) draft.concern('high', limit);
  draft.remarks.push(...remarks, ...limited);
  for (const text of isOther ? [lead, ...left] : left)
    draft.remarks.push(`Not acted on: “${cutText(oneLine(text), 120)}”`);
  const isApart = words.at(whole.masked.slice(ask.start, ask.headEnd), words.SEPARATELY) >= 0;
  for (const each of isApart && to.length > 0 ? to.map((address) => [address]) : [to]) {
    draft.add({
      title: `Mail to ${each.join(', ') || 'a recipient who is still to be named'}`,
      type: 'email.send',
      target: [...each, ...cc].join(', '),
      params: { to: each, ...(cc.length > 0 && { cc }), subject, body: signed },
      needsInput,
      ask,
    });
  }
}

function unreadSentence(role: string, unread: readonly string[]): string {
  const said = unread.map((each) => `“${each}”`).join(', ');
  return cutText(`Who is meant? The context's “${role}” has ${said}, which is no mail address.`, 500);
}

/** "W: https://…" is the end of a signature, not a message. */
function isOnlyLinks(body: string): boolean {
  const rest = body.replace(/https?:\/\/\S+|\S{1,64}@\S{1,100}|(?<!\p{L})\p{L}{1,8}:/gu, '');
  return rest !== body ? !/[^\s\p{P}|]/u.test(rest) : body === '';
}

/** A file is not attached, and nothing waits for a date: whoever approves is told. */
function limits(draft: DraftBuilder, ask: Ask, isDescribed: boolean): string[] {
  const { whole } = draft;
  const head = whole.masked.slice(ask.start, Math.min(ask.headEnd, describedFrom(whole, ask)));
  // Behind the address of a mail that is only described a date is a part of the message.
  const timed = isDescribed ? head.slice(0, Math.max(0, head.indexOf('\uFDD1'))) : head;
  const when =
    draft.dateIn(timed.replace(/guten morgen|good morning/giu, '')) ??
    [...timed.matchAll(words.WHEN)][0]?.[0];
  return [
    ...(when === undefined ? [] : [`It is sent when it is approved: “${oneLine(when)}” is not waited for.`]),
    ...(words.at(head, words.ATTACHES) < 0 ? [] : ["The built-in runner can't attach files."]),
  ];
}

export function messageOf(draft: DraftBuilder, ask: Ask): Message {
  const { whole } = draft;
  const head = { start: ask.start, end: ask.headEnd };
  const subject = subjectIn(draft, ask) ?? draft.take('subject');
  const quote = ask.said ? undefined : within(head, whole.quotes).find((each) => isMessage(draft, ask, each));
  const said = ask.said ?? quote;
  if (said) {
    const labelled = withoutLabels(said.text.replace(/^("""|```)\n([^]*)\n\1$/, '$2'));
    return { ...made(labelled.body, subject ?? labelled.subject, false), quote };
  }
  const body = draft.take('body');
  if (body !== undefined) return made(body, subject, false);
  const from = described(draft, ask);
  const end = Math.max(from, copiesFrom(whole, ask));
  return made(cutText(draft.words({ start: from, end }), LIMITS.mail, ''), subject, true);
}

function made(given: string, subject: string | undefined, isDescribed: boolean): Message {
  const body = cutText(given, LIMITS.mail, '');
  // The first words of a mail that is handed on are no subject: a person writes it.
  const line = oneLine(subject ?? '') || (HEADER.test(body) ? '' : firstWords(body));
  return { body, subject: cutText(line, LIMITS.title), isDescribed };
}

const HEADER =
  /^[ \t]*(?:from|to|cc|date|sent|subject|von|an|datum|gesendet|betreff|de|à|envoyé|objet|asunto|fecha)[ \t]*[:：]/iu;

function described({ whole }: DraftBuilder, ask: Ask): number {
  const { text, masked, addresses } = whole;
  const from = describedFrom(whole, ask);
  const [first, ...others] = within({ start: ask.start, end: Math.max(from, ask.start) }, addresses);
  let last = first?.end ?? ask.start;
  for (const { start, end } of others) if (words.NAMED_NEXT.test(masked.slice(last, start))) last = end;
  const begin = from < ask.headEnd ? from : last;
  const lead = words.LEAD.exec(text.slice(begin, begin + 200))?.[0].length ?? 0;
  const rest = masked.slice(begin + lead, ask.headEnd);
  return /\p{L}{2}[^\p{L}]+\p{L}/u.test(rest) ? begin + lead : ask.start;
}

/** Quoted words within a description, a title or a subject are not the message. */
function isMessage(
  { whole }: DraftBuilder,
  ask: Ask,
  { start, end }: { start: number; end: number },
): boolean {
  const before = whole.masked.slice(ask.start, start);
  const near = before.slice(-60);
  if (words.TITLED.test(near) || /(?:subject|betreff|objet|sujet|asunto)(?: line)?\W*$/iu.test(near))
    return false;
  if (words.SAYS.test(near) || !/[\p{L}\uFDD1]/u.test(before)) return true;
  if (words.at(before, words.DESCRIBES) >= 0) return false;
  // "Invite jane@... to “Jazz Night”"
  const address = before.lastIndexOf('\uFDD1');
  if (address >= 0 && !words.NOTHING_MORE.test(before.slice(address + 1))) return false;
  const after = whole.masked.slice(end, ask.headEnd);
  return (
    !/\p{L}/u.test(after) ||
    /^[\s,]*(?:to|an|à|a|para|and|und|et|y|cc|with|mit|avec|con)(?!\p{L})/iu.test(after)
  );
}

function subjectIn({ whole }: DraftBuilder, ask: Ask): string | undefined {
  const head = whole.masked.slice(ask.start, ask.headEnd);
  const named = within({ start: ask.start, end: ask.headEnd }, whole.quotes).find(({ end }) =>
    words.AS_SUBJECT.test(whole.masked.slice(end, end + 40)),
  );
  if (named) return named.text;
  const match = words.SUBJECT.exec(head);
  if (!match) return undefined;
  const start = ask.start + match.index + match[0].length;
  const quote = whole.quotes.find((each) => each.start === start);
  if (quote) return quote.text;
  const rest = head.slice(match.index + match[0].length);
  const length =
    /[,;\n\uFDD0\uFDD3]|(?<!\d)[.!?](?=\s|$)|\s(?:and|und|et|y)\s|\s(?:saying|body|text|message|msg|nachricht)(?!\p{L})|$/iu.exec(
      rest,
    )!.index;
  return whole.text.slice(start, start + length).trim() || undefined;
}

/** "Subject: ..." and the like at the top of what stands behind a colon. */
function withoutLabels(text: string): { body: string; subject?: string } {
  let rest = text;
  let subject: string | undefined;
  for (let match = words.LABEL.exec(rest); match; match = words.LABEL.exec(rest)) {
    const value = rest.slice(match[0].length);
    if (match.groups!['body']) return { body: value.trim(), ...(subject && { subject }) };
    if (!match.groups!['subject'] || subject !== undefined) break;
    const end =
      /\n|\s(?=(?:body|text|message|msg|nachricht|corps|texte|cuerpo|texto|mensaje)\s*[:：])|$/iu.exec(
        value,
      )!.index;
    subject = value.slice(0, end).trim();
    rest = value.slice(end).trimStart();
  }
  return rest === '' ? { body: text } : { body: rest, ...(subject && { subject }) };
}

/** "Hi Tom, your pallet arrives": what it is about stands behind the greeting, and begins with a capital as a subject. */
function withoutGreeting(line: string): string {
  const greeting = words.GREETING.exec(cutText(line, 200, ''))?.[0];
  if (greeting === undefined) return line;
  return line.slice(greeting.length).replace(/^\p{Ll}/u, (letter) => letter.toUpperCase());
}

/** The first sentence that is no greeting. */
export function firstWords(body: string): string {
  const lines = body
    .split('\n')
    .map(oneLine)
    .filter((line) => line !== '');
  const isGreeting = (line: string) => line.length <= 60 && /[,!]$/.test(line);
  const line = (lines.length > 1 && isGreeting(lines[0]!) ? lines[1] : lines[0]) ?? '';
  const news = withoutGreeting(line);
  const sentence = /^.{8,}?(?<!\b\p{L}{1,3}|\d)[.!?](?=\s)/u.exec(news)?.[0] ?? news;
  return cutText(sentence.replace(/[.,:;]+$/u, ''), MAX_SUBJECT) || cutText(sentence, MAX_SUBJECT);
}

/** Only at the end: "Thanks for your order. It goes out today." is not signed, nor is "Ihre Uhr ist fertig." */
function endsWithSignOff(body: string): boolean {
  const lines = body
    .split('\n')
    .map(oneLine)
    .filter((line) => line !== '');
  const isLine = (line: string) =>
    line.length <= 50 && !/[.?]$/.test(line) && words.at(line, words.SIGN_OFF) >= 0;
  if (lines.length > 1 && lines.slice(1).slice(-3).some(isLine)) return true;
  const last = lines.at(-1)?.slice(-120) ?? '';
  const signOffs = [...last.matchAll(words.SIGN_OFF)];
  return signOffs.some(({ index, 0: { length } }) =>
    /^[\s,!.–-]*(?:\p{Lu}[\p{L}'’.-]*[\s,.!]*){0,4}$/u.test(last.slice(index + length)),
  );
}

/** The configured one, where the text has none of its own. */
function withSignature(body: string, given: string | undefined): string {
  const signature = clean(given ?? '').trim();
  const isSigned = body.endsWith(signature) || endsWithSignOff(body);
  const signed = `${body}\n\n${signature}`;
  return signature === '' || isSigned || signed.length > LIMITS.mail ? body : signed;
}
