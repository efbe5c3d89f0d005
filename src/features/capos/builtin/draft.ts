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
import { outsideIn } from './outside.js';
import { documentAt, recordAt, signalAt } from './records.js';
import { revise } from './revision.js';
import { addressesIn, clean, oneLine, READABLE, readText, type Text, within } from './text.js';
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
  const left = unique(addressesIn(text).map((each) => each.text)).filter((each) => !names(own, each));
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
  const { text, masked } = readText(cutText(clean(given), READABLE, ''));
  if (/^\s*(?:please\s+)?call\s[^\n]*\s(?:of|connector)\s[^\n]*=/iu.test(text)) return ['http.call'];
  const at = matchAt(words.LEAD, masked, 0)?.[0].length ?? 0;
  if (matchAt(words.MAIL_HEAD, masked, at)) return ['email.send'];
  return recordAt(text, masked, at) ? ['revenue.record'] : [];
}

/** Whether a text begins with a verb that instructions begin with. */
export function beginsAsInstruction(given: string): boolean {
  const { masked } = readText(cutText(clean(given), READABLE, ''));
  const at = matchAt(words.LEAD, masked, 0)?.[0].length ?? 0;
  return matchAt(words.INSTRUCTION, masked, at) !== undefined;
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

  constructor(briefing: Briefing) {
    this.#briefing = briefing;
    const { text, context } = briefing.directive;
    this.#whole = readText(cutText(clean(text), READABLE, ''));
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
    this.#askForRest();
    return this.#moves;
  }

  /** "Ask ops to ..., and have marketing ...": each is handed on as it stands. */
  #delegate(): boolean {
    const { text, masked } = this.#whole;
    const found = [...masked.matchAll(words.DELEGATES)];
    if (found.length === 0 || masked.slice(0, found[0]!.index).trim() !== '') return false;
    for (const [index, { index: start, 0: lead, groups }] of found.entries()) {
      const said = text.slice(start + lead.length, found[index + 1]?.index ?? text.length);
      const rest = said.replace(/(?:[\s,;]{1,5}(?:and|und|et|y|also|then)){0,3}[\s,;]*$/iu, '').trim();
      const capo = CAPO_ROLES.find((role) => groups?.[role] !== undefined)!;
      // "Product should ..." in the next sentence is for somebody else.
      const others = [...` ${rest}`.matchAll(words.CAPO_NAME)].filter(
        ({ groups: named }) => named?.[capo] === undefined,
      );
      const asked =
        others.length > 0
          ? [ask('directive', `Is all of this for ${CAPOS[capo].name}? Edit it, or confirm it.`)]
          : [];
      if (rest !== '') this.#moves.push({ ...handOver([capo], rest), asked });
    }
    return this.#moves.length > 0;
  }

  /** One instruction behind the other, to the end of the entry. */
  #readEntry(entry: string, start: number): void {
    const { text } = this.#whole;
    const isFull = () => this.#moves.length + this.#unread.length >= MAX_MOVES;
    for (let at = start; at < entry.length;) {
      at += matchAt(words.LEAD, entry, at)?.[0].length ?? 0;
      if (at >= entry.length) return;
      if (isFull()) return void this.#unread.push(text.slice(at, at + 300));
      at = this.#mailAt(entry, at) ?? this.#recordAt(entry, at) ?? this.#sentenceAt(entry, at);
    }
  }

  #mailAt(entry: string, at: number, form?: RegExp): number | undefined {
    const mail = MailReader.read(this.#whole, entry, at, form);
    if (mail) this.#addMail(mail);
    return mail?.end;
  }

  #recordAt(entry: string, at: number): number | undefined {
    const { text, quotes } = this.#whole;
    const found =
      signalAt(text, entry, at) ?? documentAt(text, quotes, entry, at) ?? recordAt(text, entry, at);
    if (found) this.#moves.push(found.move);
    return found?.end;
  }

  #addMail({ to, cc, isEach, asked, ...said }: SaidMail): void {
    const context = this.#context;
    const subject = said.subject ?? context.subject;
    const body = said.body ?? context.body;
    const lacks = (name: string) => !asked.some(({ path }) => path === `params.${name}`);
    const people = unique(to.length > 0 || !lacks('to') ? to : context.to);
    const copies = unique([...cc, ...context.cc]).filter((each) => !has(people, each));
    const isText = body !== undefined && /[\p{L}\p{N}\p{S}]/u.test(body) && body.length <= LIMITS.mail;
    const isMany = Math.max(people.length, copies.length) > LIMITS.recipients;
    if (people.length === 0 && lacks('to'))
      asked.push(ask('to', 'Who is to receive it? No address is given.'));
    for (const each of context.unread)
      asked.push(ask('to', `Who is meant? The context has “${each}”, which is no mail address.`));
    if (isMany) asked.push(ask('to', `One mail goes to ${LIMITS.recipients} people at most. Choose them.`));
    if (subject === undefined && lacks('subject')) asked.push(ask('subject', 'Write a subject.'));
    if (!isText) asked.push(ask('body', `Write the text. The directive says: “${this.#whole.text}”`));
    else if (isEach && lacks('body'))
      asked.push(ask('body', 'Is this the text for each of them? Edit it, or confirm it.'));
    for (const each of isEach && people.length > 0 ? people.map((one) => [one]) : [isMany ? [] : people]) {
      const params = {
        to: each,
        ...(copies.length > 0 && !isMany && { cc: copies }),
        subject: subject ?? '',
        body: isText ? withSignature(body, this.#briefing.sender.signature) : '',
      };
      this.#moves.push({ type: 'email.send', params, asked: asked.slice(0, 20) });
    }
  }

  /** A sentence that asks for the figures or describes a mail; or else nothing that is understood. */
  #sentenceAt(entry: string, at: number): number {
    const end = at + matchAt(words.TO_SENTENCE_END, entry, at)![0].length;
    const sentence = entry.slice(at, end);
    if (matchAt(words.FIGURES, sentence, 0) && !sentence.includes('\uFDD1')) {
      const title = cutText(
        oneLine(this.#whole.text.slice(at, end)).replace(/[\s.!?:]+$/u, ''),
        LIMITS.title,
      );
      this.#moves.push({
        type: 'document.file',
        params: { title, body: figuresOf(this.#briefing) },
        asked: [],
      });
      return entry.length;
    }
    if (matchAt(words.MAIL_IN_CONTEXT, sentence.trimEnd(), 0) && this.#context.body !== undefined) {
      this.#addMail({ end, to: [], cc: [], isEach: false, asked: [] });
      return end;
    }
    return (
      this.#mailAt(entry, at, words.MAIL_NAMED) ?? this.#mailWithin(entry, at, end) ?? this.#leave(at, end)
    );
  }

  /** "If he agrees, email ...": what stands before it is unread, so the mail asks. */
  #mailWithin(entry: string, at: number, end: number): number | undefined {
    const sentence = entry.slice(at, end);
    const isDescribed = matchAt(words.MAIL_DESCRIBED, entry, at) !== undefined;
    if (words.QUESTION.test(sentence) && !isDescribed) return undefined;
    for (const { index } of [...cutText(sentence, 600, '').matchAll(words.MAIL_VERB)].slice(0, 10)) {
      const before = sentence.slice(0, index);
      if (words.NEGATED.test(before)) return undefined;
      if (!/[,;:–—\uFDD3-]\s*$/u.test(before) && !words.IF.test(before)) continue;
      const mailEnd = this.#mailAt(entry, at + index);
      if (mailEnd === undefined) continue;
      this.#leave(at, at + index);
      return mailEnd;
    }
    const addresses = within({ start: at, end }, this.#whole.addresses).map(({ text }) => text);
    const { to, body } = this.#context;
    const isMail = addresses.length + to.length > 0 ? sentence.search(words.MAIL_VERB) >= 0 : isDescribed;
    if (!isMail || words.NEGATED.test(sentence)) return undefined;
    const asked = [
      ...(addresses.length > 0 ? [ask('to', `Who is to receive it: ${addresses.join(', ')}?`)] : []),
      ...(body === undefined
        ? []
        : [ask('body', 'Is this mail meant, as it stands? Edit it, or confirm it.')]),
    ];
    this.#addMail({ end, to: [], cc: [], isEach: false, asked });
    return end;
  }

  #leave(start: number, end: number): number {
    const said = this.#whole.text.slice(start, end).trim();
    if (/[\p{L}\p{N}]/u.test(said) && !words.PLEASANTRY.test(said)) this.#unread.push(said);
    return end;
  }

  /** What is left may be about any of the moves, and every address is used or asked about. */
  #askForRest(): void {
    const { text, lookAlikes } = this.#whole;
    for (const said of this.#unread) this.remarks.push(`Not acted on: “${cutText(oneLine(said), 300)}”`);
    const rest = this.#unread.map((said) => `“${cutText(oneLine(said), 200)}”`).join(', ');
    for (const { params, asked } of rest === ''
      ? []
      : this.#moves.filter((move) => move.asked.length === 0)) {
      const name = params['body'] === undefined ? 'amount' : 'body';
      asked.push(
        ask(
          name,
          `Does this hold as it stands? The directive says besides: ${rest}. Edit it, or confirm it.`,
        ),
      );
    }
    const others = unique([...addressesIn(text), ...lookAlikes].map((each) => each.text))
      .filter((address) => !names(this.#moves, address))
      .join(', ');
    for (const { type, asked } of others === '' ? [] : this.#moves)
      if (type === 'email.send') asked.push(ask('to', `Is any of these to receive it, too: ${others}?`));
  }
}

/** Whether the moves use the address or ask about it; a text that is still to be worded does neither. */
function names(moves: readonly Move[], address: string): boolean {
  const used = moves.map(({ params: { description: _said, ...params }, asked }) => [
    params,
    asked.filter(({ path }) => path !== 'params.body'),
  ]);
  return JSON.stringify(used).toLowerCase().includes(JSON.stringify(address.toLowerCase()).slice(1, -1));
}

/** Where a line, or an entry of a list, begins an instruction of its own. */
function entriesIn(masked: string): number[] {
  const starts = [...masked.matchAll(/\n[ \t]*(?=\S)/g)].map(({ index, 0: { length } }) => index + length);
  return starts.slice(0, 1_000).filter((start) => {
    const line = masked.slice(start, start + 600).split('\n', 1)[0]!;
    const at = matchAt(words.LEAD, line, 0)?.[0].length ?? 0;
    const head = matchAt(words.MAIL_HEAD, line, at);
    const isEntry = /^(?:[-*•–]|\(?\d{1,2}[.)])\s/.test(line);
    if (head && !isEntry) return /^[^.!?]*[:：]|^\s*[\uFDD0\uFDD3]/u.test(line.slice(at + head[0].length));
    const others = [words.RECORD, words.DOCUMENT, words.SIGNAL, words.MAIL_DESCRIBED];
    return isEntry && (head !== undefined || others.some((each) => matchAt(each, line, at)));
  });
}

const has = (list: readonly string[], address: string) =>
  list.some((each) => each.toLowerCase() === address.toLowerCase());
const unique = (list: readonly string[]) => list.filter((each, index) => !has(list.slice(0, index), each));
