import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { ACTION_TYPES, type ActionTypeName } from '../action-types.js';
import type { Briefing, DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import { CAPO_ROLES, CAPOS, capoCalled, type CapoRole, engineOf } from '../capo.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { placeholdersIn } from '../placeholders.js';
import { contextOf, SaidMail, withSignature } from './mail.js';
import { ask, lacksText, type Move, moveAt, outsideIn, recordAt, titleOfMove } from './moves.js';
import { addressesIn, clean, matchAt, oneLine, readText, type Text } from './text.js';
import * as words from './words.js';

const EXAMPLE = 'Say to whom and what: Email anna@acme.example, subject "Order": "It ships on Friday."';
const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";

/** What the built-in runner makes of an instruction: nothing is worded, turned or made up. */
export function draftFrom(briefing: Briefing): DraftContent {
  const { directive, feedback } = briefing;
  const round = feedback.at(-1);
  if (round && round.previous.packets.length > 0) return revise(round);
  const { moves, remarks } = new DirectiveReader(briefing).read();
  const text = clean(directive.text);
  const others = moves.filter(({ type }) => !canDo(directive.capo, type));
  const able = CAPO_ROLES.filter((capo) => others.every(({ type }) => canDo(capo, type)));
  const isPassedOn = directive.capo === 'ceo' && able.length > 0 && text.length <= LIMITS.directive;
  const refusal = `${CAPOS[directive.capo].name} can't do this; it is for ${namesOf(able) || 'no single capo'}: ${others.map(titleOfMove).join('; ')}`;
  if (others.length > 0 && !isPassedOn) remarks.push(refusal);
  const rest = moves.filter((move) => !others.includes(move));
  const own = others.length > 0 && isPassedOn ? [handOver(able, text)] : rest;
  const left = unique(addressesIn(text)).filter(isMissingIn(own));
  if (left.length > 0) remarks.push(`Not written to: ${left.join(', ')}.`);
  if (own.length === 0) remarks.push('Nothing was prepared.');
  const rationale = `The directive says: “${cutText(oneLine(text), 1_500)}”`;
  const multipliers: DraftPacket['multipliers'] = directive.priority === 'high' ? { priority: 1.5 } : {};
  const packets = own.map(({ type, params, asked }): DraftPacket => {
    const title = titleOfMove({ type, params });
    return { title, type, target: '', params, rationale, multipliers, needsInput: asked };
  });
  return { remarks: cutText(unique(remarks).join('\n'), DRAFT_BOUNDS.remarks), packets, concerns: [] };
}

/** What an instruction plainly asks for. A capo that cannot do all of it is not chosen. */
export function movesIn(given: string): ActionTypeName[] {
  const whole = readText(given);
  const outside = outsideIn(whole.text, { destinations: [], operations: [] });
  if (outside !== undefined) return [typeof outside === 'string' ? 'http.call' : outside.type];
  const at = matchAt(words.LEAD, whole.masked, 0)![0].length;
  if ([words.MAIL_HEAD, words.MAIL_DESCRIBED].some((each) => matchAt(each, whole.masked, at)))
    return ['email.send'];
  return recordAt(whole, whole.masked, at) ? ['revenue.record'] : [];
}

export const beginsAsInstruction = (given: string): boolean =>
  matchAt(words.INSTRUCTION, readText(given).masked, 0) !== undefined;

const isMail = ({ type }: { type: string }) => type === 'email.send';
const canDo = (capo: CapoRole, type: ActionTypeName) => ACTION_TYPES[type].engines.includes(engineOf(capo));
const namesOf = (capos: readonly CapoRole[]) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(capos.map((capo) => CAPOS[capo].name));
const unique = (list: readonly string[]) =>
  list.filter((each, at) => list.findIndex((one) => one.toLowerCase() === each.toLowerCase()) === at);
const quoted = (all: readonly string[]) => all.map((each) => `“${cutText(oneLine(each), 200)}”`).join(', ');

const handOver = (able: readonly CapoRole[], directive: string): Move => ({
  type: 'directive.create',
  params: { directive: cutText(directive.trim(), LIMITS.directive), capo: able[0] },
  asked: able.length > 1 ? [ask('capo', `Choose who does it: ${namesOf(able)}.`)] : [],
});

class DirectiveReader {
  readonly moves: Move[] = [];
  readonly remarks: string[] = [];
  /** What is no part of a move: it may take one back, delay it or forbid it. */
  readonly #unread: string[] = [];
  readonly #briefing: Briefing;
  readonly #whole: Text;
  readonly #context: ReturnType<typeof contextOf>;

  constructor(briefing: Briefing, { text, context } = briefing.directive) {
    [this.#briefing, this.#whole, this.#context] = [briefing, readText(text), contextOf(context)];
  }

  read(): this {
    const { text, masked, unread } = this.#whole;
    const outside = outsideIn(text, this.#briefing.targets);
    if (typeof outside === 'string') this.remarks.push(outside);
    else if (outside) this.moves.push(outside);
    if (outside !== undefined || (this.#briefing.directive.capo === 'ceo' && this.#delegate())) return this;
    const starts = [0, ...entriesIn(masked)];
    for (const [index, start] of starts.entries()) {
      const entry = masked.slice(0, starts[index + 1]);
      for (let at = start; at < entry.length;) {
        at += matchAt(words.LEAD, entry, at)![0].length;
        if (at < entry.length) at = this.#readAt(entry, at);
      }
    }
    const open = this.#unread.filter((said) => this.#context.body || /[^\s@]@[^\s@]/.test(said));
    if (!this.moves.some(isMail) && open.some((said) => !matchAt(words.NO_MAIL, said, 0))) this.#addMail({});
    this.#unread.push(...unread);
    if (this.moves.splice(DRAFT_BOUNDS.packets).length > 0)
      this.#unread.push(`all that stands behind the first ${DRAFT_BOUNDS.packets} instructions`);
    this.#askForRest();
    for (const [none] of masked.matchAll(words.NO_ADDRESS)) this.remarks.push(`${none} is no mail address.`);
    const rest = [...this.moves.flatMap(({ left = [] }) => left), ...this.#unread];
    if (this.moves.length > 0)
      this.remarks.push(...rest.map((said) => `Not acted on: ${quoted([said])} ${reasonOf(said)}`.trim()));
    else this.remarks.push(this.#unread.map(reasonOf).find(Boolean) ?? EXAMPLE);
    return this;
  }

  /** "Ask ops to ..., and have marketing ...": each is handed on as it stands. */
  #delegate(): boolean {
    const { text, masked } = this.#whole;
    const found = [...masked.matchAll(words.DELEGATES)];
    for (const [index, { index: start, 0: lead, groups }] of found[0]?.index === 0 ? found.entries() : []) {
      const said = text.slice(start + lead.length, found[index + 1]?.index);
      const rest = said.replace(/[\s,;]{0,5}(?:\s(?:and|und|et|y))?[\s,;]*$/iu, '').trim();
      const names = [groups!['capo']!, ...(rest.match(words.CAPO_NAMES) ?? [])];
      if (rest !== '') this.moves.push(handOver([...new Set(names.map((name) => capoCalled(name)!))], rest));
    }
    return this.moves.length > 0;
  }

  /** Reads an instruction, or a sentence that is none, and answers where it ends. */
  #readAt(entry: string, at: number): number {
    const place = [this.#whole, entry, at] as const;
    const [sentence] = matchAt(words.TO_SENTENCE_END, entry, at)!;
    const { body } = this.#context;
    const mail = SaidMail.at(...place, words.MAIL_HEAD);
    const move = mail ? undefined : moveAt(this.#briefing, ...place);
    if (move) return this.moves.push(move) && move.end;
    const said = mail ?? SaidMail.at(...place, words.MAIL_NAMED) ?? this.#mailWithin(entry, at, sentence);
    const inContext = body !== '' && matchAt(words.MAIL_IN_CONTEXT, sentence, 0) ? { body } : undefined;
    const found = said ?? inContext ?? (matchAt(words.MAIL_DESCRIBED, sentence, 0) && {});
    if (found) this.#addMail(found);
    const end = found ? (said?.start ?? at) : at + sentence.length;
    this.#unread.push(...leftIn(this.#whole.text.slice(at, end)));
    return said?.end ?? at + sentence.length;
  }

  #addMail(said: Partial<SaidMail>): void {
    const context = this.#context;
    const { to = [], cc = [], isEach, left = [], subject = context.subject, body = context.body } = said;
    const asked = [...(said.asked ?? []), ...context.asked];
    const people = unique(to.length > 0 || isAsked(asked, 'to') ? to : context.to);
    const copies = unique([...people, ...cc, ...context.cc]).slice(people.length);
    const isMany = Math.max(people.length, copies.length) > LIMITS.recipients;
    if (isMany) asked.push(ask('to', `One mail goes to ${LIMITS.recipients} people at most. Choose them.`));
    if (subject === '') askOnce(asked, 'subject', 'Write a subject.');
    const isText = /[\p{L}\p{N}\p{S}]/u.test(body);
    const isFile = `${this.#whole.text.slice(said.start, said.end)} ${body}`.search(words.ATTACHMENT) >= 0;
    const open = placeholdersIn(`${subject} ${body}`).join(', ');
    const doubt = isFile ? 'Nothing can be attached.' : open && `It leaves open: ${open}.`;
    const question = `Is this the text as it is meant? ${doubt} Edit it, or confirm it.`;
    if (!isText && !isAsked(asked, 'body')) asked.push(lacksText(this.#whole));
    else if (said.body === undefined || doubt !== '') askOnce(asked, 'body', question);
    for (const each of isEach && people.length > 0 ? people.map((one) => [one]) : [isMany ? [] : people]) {
      const text = isText ? withSignature(body, this.#briefing.sender.signature, this.#whole) : '';
      const params = { to: each, ...(copies.length > 0 && !isMany && { cc: copies }), subject, body: text };
      this.moves.push({ type: 'email.send', params, asked: asked.slice(0, 20), left: left.flatMap(leftIn) });
    }
  }

  /** "Tomorrow email ...", "Don't write to ..., but to ...": what stands before a mail is asked about. */
  #mailWithin(entry: string, at: number, sentence: string): SaidMail | undefined {
    if ([words.ASKED, words.REMINDER].some((each) => matchAt(each, sentence, 0))) return undefined;
    for (const { index, groups } of sentence.matchAll(words.MAIL_WITHIN)) {
      const mail = SaidMail.at(this.#whole, entry, at + index, words.MAIL_HEAD);
      const isWhole = mail?.body !== undefined || groups!['joint'] !== undefined;
      if (mail && isWhole && !mail.to.some((each) => this.#whole.excluded.includes(each))) return mail;
    }
    const isMarked = entry.slice(at, at + sentence.length + 20).search(words.FIELD) > 0;
    const told = isMarked ? SaidMail.told(this.#whole, entry, at) : undefined;
    return told && (told.to.length > 0 || !matchAt(words.NEGATED, sentence, 0)) ? told : undefined;
  }

  #askForRest(): void {
    const { addresses, lookAlikes, excluded, named } = this.#whole;
    const isMissing = isMissingIn(this.moves);
    const own = [...addresses, ...lookAlikes].map(({ text }) => text);
    for (const move of this.moves) {
      const { params, asked, left = [] } = move;
      const rest = quoted([...left, ...this.#unread]);
      const text = isMail(move) && matchAt(words.AND_SOMEBODY, rest, 0) ? 'to' : 'body';
      const name = params['body'] === undefined ? 'amount' : text;
      if (rest !== '') askOnce(asked, name, `Is it right without ${rest}? Approval carries it out at once.`);
      if (!isMail(move)) continue;
      const isToSome = (params['to'] as string[]).length > 0;
      const open = (isToSome ? own : [...own, ...named]).filter((each) => !excluded.includes(each));
      const who = isToSome ? 'Is any of these to receive it, too' : 'Who is to receive it';
      const others = unique(open.filter(isMissing)).join(', ');
      if (others !== '') asked.unshift(ask('to', `${who}: ${others}?`));
      else if (!isToSome) askOnce(asked, 'to', `${who}? No address is given.`);
    }
  }
}

const isAsked = (asked: NeededInput[], name: string) => asked.some(({ path }) => path === `params.${name}`);
const askOnce = (asked: NeededInput[], name: string, message: string) =>
  isAsked(asked, name) || asked[name === 'to' ? 'unshift' : 'push'](ask(name, message));
const reasonOf = (said: string) =>
  Object.keys(words.REASONS).find((why) => matchAt(words.REASONS[why]!, said, 0)) ?? '';

/** What is no part of a move, unless it says nothing. */
function leftIn(given: string): string[] {
  const said = given.replace(/^[\s,;–—-]+|(?<![\s,;])[\s,;]+$/g, '');
  return /[\p{L}\p{N}]/u.test(said) && !matchAt(words.PLEASANTRY, said, 0) ? [said] : [];
}

/** Whether the moves neither use an address nor ask about it. */
function isMissingIn(moves: readonly Move[]): (address: string) => boolean {
  const isTo = ({ path }: NeededInput) => path === 'params.to';
  const used = moves.map(({ params, asked }) => [{ ...params, description: '' }, asked.filter(isTo)]);
  const all = new Set(addressesIn(JSON.stringify(used).replaceAll(/\\./g, ' ').toLowerCase()));
  return (address) => !all.has(address.toLowerCase());
}

/** Where the entries of a list begin, or the mails. */
function entriesIn(masked: string): number[] {
  const [first, ...others] = masked.matchAll(words.ENTRY);
  const before = masked.slice(0, first?.index);
  const at = matchAt(words.LEAD, before, 0)![0].length;
  const heads = [words.MAIL_NAMED, words.DOCUMENT, words.SIGNAL, words.RECORD];
  const isList = first && !before.includes('\uFDD1') && !heads.some((each) => matchAt(each, before, at));
  const outer = others.filter(([, indent]) => indent === first?.[1]);
  const isMailAt = ({ index, 0: lead, groups }: RegExpExecArray) => {
    const head = matchAt(words.MAIL_HEAD, masked, index + lead.length);
    const rest = groups!['line'] === undefined ? words.WITH_SUBJECT : words.ON_A_LINE;
    return head && matchAt(rest, masked, head.index + head[0].length);
  };
  const starts = isList ? [first, ...outer] : [...masked.matchAll(words.MAIL_START)].filter(isMailAt);
  return starts.map(({ index }) => index);
}

/** Takes subject, copies and text into the one mail or document that they can mean; everything else comes back and asks. */
function revise({ text, previous }: FeedbackRound): DraftContent {
  const packets = previous.packets.map(({ title, type, params, rationale, needsInput = [] }): DraftPacket => {
    const asked = needsInput.filter(({ message }) => !message.startsWith(EDIT));
    return { title, type, params: { ...params }, rationale, target: '', multipliers: {}, needsInput: asked };
  });
  const [only, ...others] = packets.filter(({ params }) => typeof params['body'] === 'string');
  const given = only && others.length === 0 ? changesOf(only, text) : undefined;
  for (const { params, needsInput } of given ? [] : packets) {
    const name = ['body', 'directive', 'description'].find((each) => typeof params[each] === 'string');
    needsInput.push(ask(name ?? 'amount', `${EDIT} The wish: “${text}”`));
  }
  const unchanged = "Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.";
  if (!only || !given) return { remarks: unchanged, packets, concerns: [] };
  Object.assign(only.params, given);
  only.title = titleOfMove(only);
  only.needsInput = only.needsInput.filter(({ path }) => !(path.slice('params.'.length) in given));
  return { remarks: 'Changed as asked; the rest is as it was.', packets, concerns: [] };
}

/** What a wish changes; undefined unless it says nothing but that. */
function changesOf(packet: DraftPacket, wish: string): Record<string, unknown> | undefined {
  const { subject, body, cc: more = [], isEach = true } = SaidMail.fieldsOf(readText(wish)) ?? {};
  const { to = [], cc = [] } = packet.params as { to?: string[]; cc?: string[] };
  const copies = unique([...to, ...cc, ...more]).slice(to.length);
  const isRoom = copies.length === cc.length + more.length && copies.length <= LIMITS.recipients;
  if (isEach || !isRoom || (more.length > 0 && !isMail(packet))) return undefined;
  const title = subject !== undefined && { [isMail(packet) ? 'subject' : 'title']: subject };
  return { ...title, ...(body !== undefined && { body }), ...(more.length > 0 && { cc: copies }) };
}
