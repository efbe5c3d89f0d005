import { named } from './addressee.js';
import { readAlert, type Alert } from './alert.js';
import type { Calendar } from './calendar.js';
import { findDates } from './calendar.js';
import { readDelegation, type Delegation } from './delegation.js';
import { applyRequest, type Edits } from './edits.js';
import { leadingManner, pointsOf, type Point } from './mail-content.js';
import { readMail, type MailRequest } from './mail-request.js';
import { spokenMoney } from './money.js';
import { isOutgoing, readRevenue, type RevenueEntry } from './revenue.js';
import { plain, sentence, uncapitalised } from './text.js';

/** One thing that an instruction wants done. */
export type Step =
  | { kind: 'mail'; text: string; mail: MailRequest }
  | { kind: 'revenue'; text: string; entry: RevenueEntry }
  | { kind: 'outgoing'; text: string }
  | { kind: 'alert'; text: string; alert: Alert }
  | { kind: 'delegation'; text: string; delegation: Delegation }
  | { kind: 'document'; text: string };

export interface Instruction {
  steps: Step[];
  /** Sentences about the matter that are not orders; kept out of what leaves, shown to the operator. */
  background: string[];
}

/** Verbs that can open a step. */
const ACTION =
  'send|e-?mail|mail|write|draft|prepare|compose|reply|respond|answer|follow[ -]up|remind|tell|inform|notify|let|ask|invite|thank|' +
  'announce|apologi[sz]e|congratulate|share|forward|chase|nudge|check in|confirm|contact|reach out|get in touch|get back|update|' +
  'offer|welcome|schedule|arrange|set up|book|organi[sz]e|record|log|register|enter|flag|alert|raise|escalate|warn|delegate|hand|' +
  'assign|have|get|file|summari[sz]e|brief|plan|list|outline|analy[sz]e|review|report|compile|research|compare|create|make|build|' +
  'publish|post|propose|suggest|collect|gather|define|describe|document|track|find|identify|estimate|evaluate|ping|message|text';
const CAPO = String.raw`(?:the\s+|our\s+)?(?:marketing|revenue|sales|ops|operations|logistics|product|engineering)\b`;
const OPENS_STEP = new RegExp(String.raw`^(?:(?:please|also|then)\s+)*(?:${ACTION})\b`, 'i');
const BETWEEN_STEPS = new RegExp(
  String.raw`(?<mark>;\s*(?:and\s+)?(?:then\s+)?|,?\s+(?:and\s+)?then\s+|,\s*(?:and\s+)?(?:also\s+)?|\s+and\s+(?:also\s+|please\s+)?)(?=(?:${ACTION})\b|${CAPO})`,
  'giu',
);
/** A clause that is open to its right: an "and send" behind it may still belong to it. */
const OPEN_CLAUSE = /\b(?:that|whether|if|saying|to\s+(?!the\b|our\b|all\b|my\b|every)\p{Ll}+\s)|:\s/iu;
const CAPO_NAMED = new RegExp(String.raw`^\S+\s+${CAPO}`, 'i');
/** "have sales call Acme and product fix the export": the second capo needs no verb of its own. */
const CAPO_FIRST = new RegExp(String.raw`^${CAPO}\s+(?:to\s+)?\p{Ll}`, 'iu');
const DELEGATES = new RegExp(String.raw`^(?:have|get|let|make|ask|tell|want|need)\s+${CAPO}`, 'i');
const QUOTED = /["“][^"“”]{0,5000}["”]/g;

const POLITE =
  /^(?:please|kindly|urgent(?:ly)?|asap|hi|hey|hello|ok(?:ay)?|so|then|also|now|and|just|can you|could you|would you|will you|i(?: would|['’]d)? (?:want|need|like) you to|(?:i|we) (?:need|want|have) to|you (?:need to|should|must|have to)|let['’]s|make sure (?:to|you|that you)|don['’]t forget to|go ahead and|try to|help me(?: to)?)\b[\s,:!-]*/i;
const CHATTER =
  /^(?:thanks?(?: a lot| you)?|thank you(?: very much)?|cheers|best|regards|please|(?:this|it) is (?:very )?urgent|it['’]s (?:very )?urgent|asap)[.!\s]*$/i;
/** Sentences that tell the reader something, rather than the capo something about the reader. */
const FOR_THE_READER = /^(?:the|our|we|it|there|your|please|I|this|these|everything|all)\b/i;
const DICTATION = /^[^:]{1,300}:\s+[\p{L}\p{N}]/u;
const ABOUT_STYLE =
  /^(?:(?:keep|make) (?:it|the)\b|be (?:more |less |very )?\p{L}+$|use (?:a|an|the)\b|sign\b|(?:the )?(?:tone|subject)\b|short(?:er)?\b|(?:more )?(?:formal|friendly)\b|don['’]?t mention|do not mention|leave out|cc\b)/iu;

export function readInstruction(text: string, calendar: Calendar, edits: Edits): Instruction {
  const steps: Step[] = [];
  const background: string[] = [];
  /** Behind "Email Ada: ..." the text of the mail goes on to the end. */
  let dictated = false;
  for (const raw of sentencesOutsideQuotes(plain(text))) {
    const said = withoutPoliteness(raw);
    if (said === '' || CHATTER.test(raw)) continue;
    if (!OPENS_STEP.test(said) && !readDelegation(said, calendar)) {
      if (steps.length > 0) aside(said, steps, background, edits, dictated);
      else steps.push(readStep(said, calendar));
      continue;
    }
    for (const part of partsOf(said)) {
      const also = steps.at(-1)?.kind === 'delegation' && CAPO_FIRST.test(part) ? 'have ' : '';
      const step = readStep(withoutPoliteness(also + part), calendar);
      if (!joined(step, steps)) steps.push(step);
      dictated = step.kind === 'mail' && DICTATION.test(part);
    }
  }
  return { steps, background };
}

function readStep(text: string, calendar: Calendar): Step {
  const { rest, when } = withoutLeadingDay(text, calendar);
  const delegation = readDelegation(rest, calendar);
  if (delegation !== undefined) return { kind: 'delegation', text, delegation };
  const entry = readRevenue(rest);
  if (entry !== undefined) return { kind: 'revenue', text, entry };
  if (isOutgoing(rest)) return { kind: 'outgoing', text };
  const alert = readAlert(rest, calendar);
  if (alert !== undefined) return { kind: 'alert', text, alert };
  const mail = readMail(rest, calendar);
  if (mail !== undefined) return { kind: 'mail', text, mail: { ...mail, when: mail.when ?? when } };
  return { kind: 'document', text };
}

/** "Tomorrow, email Ada ...": when to act, not part of what is said. */
function withoutLeadingDay(text: string, calendar: Calendar): { rest: string; when: string | null } {
  const first = findDates(text, calendar)[0];
  if (first === undefined || !/^(?:on |by |before )?$/i.test(text.slice(0, first.index)))
    return { rest: text, when: null };
  const rest = withoutPoliteness(text.slice(first.index + first.text.length).replace(/^[\s,:]+/, ''));
  return OPENS_STEP.test(rest) ? { rest, when: first.text } : { rest: text, when: null };
}

/** "Email ada@example.com. Ask whether ..." is one mail: a step addressed to nobody new continues the one before. */
function joined(step: Step, steps: readonly Step[]): boolean {
  const last = steps.at(-1);
  if (last === undefined) return false;
  if (last.kind === 'mail' && last.mail.points.length === 0 && step.kind === 'document') {
    // "Write to the hotel and book a room": the order is what the mail says.
    const led = leadingManner(step.text);
    const intent: Point = { act: 'intend', text: uncapitalised(step.text) };
    last.mail.points.push(...(led === undefined ? [intent] : pointsOf(step.text, led.manner)));
    return true;
  }
  if (step.kind !== 'mail') return false;
  const { to } = step.mail;
  const anew = to.some((one) => !one.generic || !/^(?:him|her|them)$/i.test(one.text));
  if (anew) return false;
  if (last.kind === 'mail') {
    last.mail.points.push(...step.mail.points);
    last.mail.subject ??= step.mail.subject;
    last.mail.cc.push(...step.mail.cc);
    return true;
  }
  // "Record 500 EUR from Acme and thank them": the payer is meant.
  if (last.kind === 'revenue' && last.entry.source !== null && to.length > 0) {
    step.mail.to = [named(last.entry.source)];
    const { amount, currency } = last.entry;
    const paid = currency === null ? 'your payment' : `your payment of ${spokenMoney(amount, currency)}`;
    step.mail.points = step.mail.points.map((point) =>
      point.act === 'thank' && point.text === '' ? { ...point, text: paid } : point,
    );
  }
  return false;
}

function aside(
  said: string,
  steps: readonly Step[],
  background: string[],
  edits: Edits,
  dictated: boolean,
): void {
  if (!dictated && ABOUT_STYLE.test(said) && applyRequest(edits, said.replace(/[.!\s]+$/, ''), 0)) return;
  const last = steps.at(-1);
  const manner = leadingManner(said);
  if (last?.kind === 'mail' && manner !== undefined) last.mail.points.push(...pointsOf(said, manner.manner));
  else if (last?.kind === 'mail' && (dictated || FOR_THE_READER.test(said)))
    last.mail.points.push({ act: 'state', text: sentence(said) });
  else background.push(sentence(said));
}

function partsOf(text: string): string[] {
  const quotes = quotedSpans(text);
  const parts: string[] = [];
  let start = 0;
  for (const match of text.matchAll(BETWEEN_STEPS)) {
    const { index } = match;
    const next = index + match[0].length;
    if (quotes.some(([from, to]) => index >= from && index < to)) continue;
    const left = text.slice(start, index);
    const follows = text.slice(next);
    if (CAPO_FIRST.test(follows) && !DELEGATES.test(left)) continue;
    const firm =
      /;|then/i.test(match.groups?.mark ?? '') || CAPO_NAMED.test(follows) || CAPO_FIRST.test(follows);
    if (!firm && OPEN_CLAUSE.test(left.replace(/^\S+\s/, ''))) continue;
    parts.push(left);
    start = next;
  }
  return [...parts, text.slice(start)].map((part) => part.trim()).filter((part) => part !== '');
}

function sentencesOutsideQuotes(text: string): string[] {
  const quotes = quotedSpans(text);
  const sentences: string[] = [];
  let start = 0;
  for (const end of text.matchAll(SENTENCE_END)) {
    const at = end.index + end[0].length;
    if (quotes.some(([from, to]) => end.index > from && end.index < to)) continue;
    sentences.push(text.slice(start, at));
    start = at;
  }
  return [...sentences, text.slice(start)].map((each) => each.trim()).filter((each) => each !== '');
}

const SENTENCE_END =
  /(?<!\b(?:e\.g|i\.e|Mr|Mrs|Ms|Dr|Prof|St|No|vs|approx|Inc|Ltd|Co|resp))[.!?]+["”)]?\s+(?=["“'(]?[\p{Lu}\p{Lo}])|\n{2,}|\n(?![-*•\d])/gu;

function quotedSpans(text: string): (readonly [number, number])[] {
  return [...text.matchAll(QUOTED)].map((match) => [match.index, match.index + match[0].length] as const);
}

function withoutPoliteness(text: string): string {
  let bare = text.trim();
  while (POLITE.test(bare)) bare = bare.replace(POLITE, '');
  return bare
    .replace(/[,\s]+please[.?!\s]*$/i, '')
    .replace(/(?<=[^?]{20})\?$/, /^(?:can|could|would|will) you\b/i.test(text) ? '.' : '?');
}
