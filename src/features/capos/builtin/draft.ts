import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { ACTION_TYPES, type Action, type ActionTypeName } from '../action-types.js';
import type { Briefing, DraftContent, DraftPacket } from '../briefing.js';
import { CAPO_ROLES, CAPOS, type CapoRole } from '../capo.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { titleOf } from '../draft-output.js';
import { contextOf, type GivenInContext } from './context.js';
import { figuresOf } from './figures.js';
import { MailReader, type SaidMail, withSignature } from './mail.js';
import { ask, matchAt, type Move } from './move.js';
import { isCall, outsideIn } from './outside.js';
import { documentAt, recordAt, signalAt } from './records.js';
import { revise } from './revision.js';
import { addressesIn, clean, oneLine, READABLE, readText, type Text } from './text.js';
import * as words from './words.js';

const MAX_MOVES = 100;
const KNOWS =
  'The built-in runner takes a mail as `Email jane@acme.example, subject "...": the text`, a document as `Write a document "title": the text`, ' +
  'revenue as `Record 120 EUR from Acme`, a call as `Call <operation> of <connector> with a = b`.';

/** What the built-in runner makes of an instruction: nothing is worded, turned or made up. */
export function draftFrom(briefing: Briefing): DraftContent {
  const { directive, feedback } = briefing;
  const round = feedback.at(-1);
  if (round && round.previous.packets.length > 0) return revise(round);
  const reader = new DirectiveReader(briefing);
  const moves = reader.read();
  const isOwn = ({ type }: Move) => ACTION_TYPES[type].engines.includes(CAPOS[directive.capo].engine);
  const others = moves.filter((move) => !isOwn(move));
  const able = CAPO_ROLES.filter((capo) =>
    others.every(({ type }) => ACTION_TYPES[type].engines.includes(CAPOS[capo].engine)),
  );
  const text = clean(directive.text);
  const isHandedOn =
    others.length > 0 && directive.capo === 'ceo' && able.length > 0 && text.length <= LIMITS.directive;
  const own = isHandedOn ? [handOver(able, text)] : moves.filter(isOwn);
  if (others.length > 0 && !isHandedOn) {
    const whom = able.length > 0 ? `it is for ${namesOf(able)}` : 'no capo can do all of it';
    const said = others.map(({ type, params }) => titleOf({ type, params } as unknown as Action)).join('; ');
    reader.remarks.push(`${CAPOS[directive.capo].name} can't do this; ${whom}: ${said}`);
  }
  const left = unique(addressesIn(text)).filter((each) => !names(own, each));
  if (left.length > 0) reader.remarks.push(`Not written to: ${left.join(', ')}.`);
  if (own.length === 0) reader.remarks.push(...(others.length > 0 ? [] : [KNOWS]), 'Nothing was prepared.');
  return {
    remarks: cutText(unique(reader.remarks).join('\n'), DRAFT_BOUNDS.remarks),
    packets: own.slice(0, DRAFT_BOUNDS.packets).map((move) => packetOf(move, briefing)),
    concerns: [],
  };
}

/** The action types that an instruction plainly asks for: a capo that can't take them all is no place for it. */
export function movesIn(given: string): ActionTypeName[] {
  const whole = readText(cutText(given, READABLE, ''));
  if (isCall(whole.text)) return ['http.call'];
  const at = matchAt(words.LEAD, whole.masked, 0)![0].length;
  if (matchAt(words.MAIL_HEAD, whole.masked, at)) return ['email.send'];
  return recordAt(whole, whole.masked, at) ? ['revenue.record'] : [];
}

/** Where several capos could do it, a person says which. */
const handOver = (able: readonly CapoRole[], directive: string): Move => ({
  type: 'directive.create',
  params: { directive: cutText(directive.trim(), LIMITS.directive), capo: able[0] },
  asked: able.length > 1 ? [ask('capo', `Choose who does it: ${namesOf(able)}.`)] : [],
});

const namesOf = (capos: readonly CapoRole[]) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(capos.map((capo) => CAPOS[capo].name));

function packetOf({ type, params, asked }: Move, { directive }: Briefing): DraftPacket {
  return {
    title: titleOf({ type, params } as unknown as Action),
    type,
    target: '',
    params,
    rationale: `The directive says: “${cutText(oneLine(clean(directive.text)), 1_500)}”`,
    multipliers: directive.priority === 'high' ? { priority: 1.5 } : {},
    needsInput: asked,
  };
}

class DirectiveReader {
  readonly remarks: string[] = [];
  readonly #briefing: Briefing;
  readonly #whole: Text;
  readonly #context: GivenInContext;
  readonly #moves: Move[] = [];
  /** What is no part of a move: it may take one back, delay it or forbid it. */
  readonly #unread: string[] = [];
  /** A sentence that is not understood names an address: perhaps a mail is to go there. */
  #isMailPossible = false;

  constructor(briefing: Briefing) {
    this.#briefing = briefing;
    const { text, context } = briefing.directive;
    this.#whole = readText(cutText(text, READABLE, ''));
    this.#context = contextOf(context);
    if (text.length > READABLE) this.#unread.push(`all that stands behind the first ${READABLE} characters`);
  }

  read(): Move[] {
    const { text, masked } = this.#whole;
    const { targets, directive } = this.#briefing;
    const outside = outsideIn(text, targets);
    if (typeof outside === 'object') return [outside];
    if (outside !== undefined) this.remarks.push(outside);
    if (directive.capo === 'ceo' && this.#delegate()) return this.#moves;
    // What somebody else wrote asks for nothing.
    const pasted = masked.search(words.PASTED);
    const own = pasted < 0 ? masked : masked.slice(0, pasted);
    let start = 0;
    for (const end of [...entriesIn(own), own.length]) {
      this.#readEntry(own.slice(0, end), start);
      start = end;
    }
    this.#leave(own.length, masked.length);
    for (const said of this.#unread) this.remarks.push(`Not acted on: “${cutText(oneLine(said), 300)}”`);
    this.#askForRest();
    return this.#moves;
  }

  /** "Ask ops to ..., and have marketing ...": each is handed on as it stands. */
  #delegate(): boolean {
    const { text, masked } = this.#whole;
    const found = [...masked.matchAll(words.DELEGATES)];
    if (found[0]?.index !== 0) return false;
    for (const [index, { index: start, 0: lead, groups }] of found.entries()) {
      const said = text.slice(start + lead.length, found[index + 1]?.index ?? text.length);
      const rest = said.replace(/(?:[\s,;]{1,5}(?:and|und|et|y)){0,1}[\s,;]*$/iu, '').trim();
      const capo = capoNamed(groups!['capo']!);
      // "Product should ..." in the next sentence is for somebody else.
      const isForOthers = [...rest.matchAll(words.CAPO_NAMES)].some(([name]) => capoNamed(name) !== capo);
      const question = `Is all of this for ${CAPOS[capo].name}? Edit it, or confirm it.`;
      if (rest !== '')
        this.#moves.push({
          ...handOver([capo], rest),
          asked: isForOthers ? [ask('directive', question)] : [],
        });
    }
    return this.#moves.length > 0;
  }

  /** One instruction behind the other, to the end of the entry. */
  #readEntry(entry: string, start: number): void {
    for (let at = start; at < entry.length;) {
      at += matchAt(words.LEAD, entry, at)![0].length;
      if (at >= entry.length) return;
      if (this.#moves.length + this.#unread.length >= MAX_MOVES)
        return void this.#unread.push(this.#whole.text.slice(at, at + 300));
      at =
        this.#mailAt(entry, at, words.MAIL_HEAD) ??
        this.#recordAt(entry, at) ??
        this.#mailAt(entry, at, words.MAIL_NAMED) ??
        this.#sentenceAt(entry, at);
    }
  }

  #mailAt(entry: string, at: number, form: RegExp): number | undefined {
    const mail = MailReader.read(this.#whole, entry, at, form);
    if (mail) this.#addMail(mail);
    return mail?.end;
  }

  #recordAt(entry: string, at: number): number | undefined {
    if (matchAt(words.FIGURES, entry, at)) {
      const said = oneLine(this.#whole.text.slice(at, entry.length)).replace(/[\s.!?:]+$/u, '');
      const params = { title: cutText(said, LIMITS.title), body: figuresOf(this.#briefing) };
      this.#moves.push({ type: 'document.file', params, asked: [] });
      return entry.length;
    }
    const found =
      signalAt(this.#whole, entry, at) ??
      documentAt(this.#whole, entry, at) ??
      recordAt(this.#whole, entry, at);
    if (found) this.#moves.push(found.move);
    return found?.end;
  }

  #addMail({ to, cc, isEach, asked, ...said }: SaidMail): void {
    const context = this.#context;
    const { subject = context.subject, body = context.body } = said;
    const lacks = (name: string) => !asked.some(({ path }) => path === `params.${name}`);
    const people = unique(to.length > 0 || !lacks('to') ? to : context.to);
    const copies = unique([...cc, ...context.cc]).filter((each) => !has(people, each));
    const isText = /[\p{L}\p{N}\p{S}]/u.test(body) && body.length <= LIMITS.mail;
    const isMany = Math.max(people.length, copies.length) > LIMITS.recipients;
    for (const each of context.unread)
      asked.push(ask('to', `Who is meant? The context has “${each}”, which is no mail address.`));
    if (isMany) asked.push(ask('to', `One mail goes to ${LIMITS.recipients} people at most. Choose them.`));
    if (subject === '' && lacks('subject')) asked.push(ask('subject', 'Write a subject.'));
    if (!isText) asked.push(ask('body', `Write the text. The directive says: “${this.#whole.text}”`));
    else if ((isEach || said.body === undefined) && lacks('body'))
      asked.push(ask('body', 'Is this the text as it is meant? Edit it, or confirm it.'));
    for (const each of isEach && people.length > 0 ? people.map((one) => [one]) : [isMany ? [] : people]) {
      const params = {
        to: each,
        ...(copies.length > 0 && !isMany && { cc: copies }),
        subject,
        body: isText ? withSignature(body, this.#briefing.sender.signature) : '',
      };
      this.#moves.push({ type: 'email.send', params, asked: asked.slice(0, 20) });
    }
  }

  /** A sentence that describes a mail; or else one that is not understood. */
  #sentenceAt(entry: string, at: number): number {
    const end = at + matchAt(words.TO_SENTENCE_END, entry, at)![0].length;
    const sentence = entry.slice(at, end);
    const { body } = this.#context;
    const mail: SaidMail = { end, to: [], cc: [], isEach: false, asked: [] };
    if (body !== '' && matchAt(words.MAIL_IN_CONTEXT, sentence, 0)) this.#addMail({ ...mail, body });
    else if (matchAt(words.MAIL_DESCRIBED, sentence, 0)) this.#addMail(mail);
    else {
      const isNamed = sentence.includes('\uFDD1') || body !== '';
      this.#isMailPossible ||= isNamed && !matchAt(words.NO_MAIL, sentence, 0);
      this.#leave(at, end);
    }
    return end;
  }

  #leave(start: number, end: number): void {
    const said = this.#whole.text.slice(start, end).trim();
    if (/[\p{L}\p{N}]/u.test(said) && !words.PLEASANTRY.test(said)) this.#unread.push(said);
  }

  /** What is left may be about any of the moves, and every address is used or asked about. */
  #askForRest(): void {
    const { capo } = this.#briefing.directive;
    const sends = capo === 'ceo' || ACTION_TYPES['email.send'].engines.includes(CAPOS[capo].engine);
    if (this.#isMailPossible && sends && this.#moves.every(({ type }) => type !== 'email.send'))
      this.#addMail({ end: 0, to: [], cc: [], isEach: false, asked: [] });
    const rest = this.#unread.map((said) => `“${cutText(oneLine(said), 200)}”`).join(', ');
    const question = `Does this hold as it stands? The directive says besides: ${rest}. Edit it, or confirm it.`;
    for (const { params, asked } of this.#moves)
      if (rest !== '' && asked.length === 0)
        asked.push(ask(params['body'] === undefined ? 'amount' : 'body', question));
    const { text, lookAlikes } = this.#whole;
    const others = unique([...addressesIn(text), ...lookAlikes.map((each) => each.text)])
      .filter((address) => !names(this.#moves, address))
      .join(', ');
    for (const { type, params, asked } of this.#moves) {
      const isToNobody = (params['to'] as string[] | undefined)?.length === 0;
      if (type !== 'email.send') continue;
      if (others !== '')
        asked.push(ask('to', `Is any of these to receive it${isToNobody ? '' : ', too'}: ${others}?`));
      else if (isToNobody && asked.every(({ path }) => path !== 'params.to'))
        asked.push(ask('to', 'Who is to receive it? No address is given.'));
    }
  }
}

const capoNamed = (name: string): CapoRole =>
  CAPO_ROLES.find((role) =>
    CAPOS[role].aliases.some(
      (alias) => alias.replace(/^the /, '') === name.toLowerCase().replace(/\s+/g, ' '),
    ),
  )!;

/** Whether the moves use the address or ask about it; a text that is still to be worded does neither. */
function names(moves: readonly Move[], address: string): boolean {
  const used = moves.map(({ params: { description: _said, ...params }, asked }) => [
    params,
    asked.filter(({ path }) => path !== 'params.body'),
  ]);
  return JSON.stringify(used).toLowerCase().includes(JSON.stringify(address.toLowerCase()).slice(1, -1));
}

/** Where the entries of a list begin, or the lines that begin a mail of their own. */
function entriesIn(masked: string): number[] {
  const [first] = masked.matchAll(/^([ \t]*)(?:[-*•–]|\(?\d{1,2}[.)])\s/gmu);
  const before = masked.slice(0, first?.index);
  const at = matchAt(words.LEAD, before, 0)![0].length;
  const heads = [words.MAIL_NAMED, words.DOCUMENT, words.SIGNAL, words.RECORD];
  const isList = first && !before.includes('\uFDD1') && !heads.some((each) => matchAt(each, before, at));
  const starts = [...masked.matchAll(/^[ \t]*(?=\S)/gmu)].slice(0, 1_000);
  return starts
    .filter(({ index, 0: indent }) => {
      const line = masked.slice(index, index + 600).split('\n', 1)[0]!;
      if (isList)
        return indent === first[1] && /^(?:[-*•–]|\(?\d{1,2}[.)])\s/u.test(line.slice(indent.length));
      const head = matchAt(words.MAIL_HEAD, line, matchAt(words.LEAD, line, 0)![0].length);
      return head && /^[^.!?]*[:：]|^\s*[\uFDD0\uFDD3]/u.test(line.slice(head.index + head[0].length));
    })
    .map(({ index }) => index);
}

const has = (list: readonly string[], address: string) =>
  list.some((each) => each.toLowerCase() === address.toLowerCase());
const unique = (list: readonly string[]) => list.filter((each, index) => !has(list.slice(0, index), each));
