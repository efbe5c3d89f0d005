import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { ACTION_TYPES, type ActionTypeName } from '../action-types.js';
import type { Briefing, DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import { CAPO_ROLES, CAPOS, capoCalled, type CapoRole, engineOf } from '../capo.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { placeholdersIn } from '../placeholders.js';
import { Parts } from './parts.js';
import { addressesIn, clean, Marks, oneLine } from './marks.js';
import { ask, headAt, isSpent, lacksText, type Move, moveAt, titleOfMove } from './moves.js';
import { figuresOf, outsideIn } from './outside.js';

const EXAMPLE = 'Say to whom and what: Email anna@acme.example, subject "Order": "It ships on Friday."';
const SPENT =
  'Money cannot be paid out, paid back or recorded as spent here, and what comes back is no revenue.';
const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
const ALIASES = CAPO_ROLES.filter((role) => role !== 'ceo').flatMap((role) => CAPOS[role].aliases);
const LEAD = String.raw`(?:^|[.;,!\n]\s*|\sand\s)(?:(?:please|and|also|then)[\s,]+)*(?:ask|have|tell|get|let)\s+(?:(?:the|our)\s+)?`;
const NAMES = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${ALIASES.join('|')})(?![\p{L}\p{N}_])`, 'giu');
const DELEGATE = new RegExp(
  `${LEAD}(${ALIASES.join('|')})(?:\\s+team)?(?!['’\\w-])[\\s:,]*(?:to\\s+)?`,
  'giu',
);

/** What the built-in runner makes of an instruction: nothing is worded, turned or made up. */
export function draftFrom(briefing: Briefing): DraftContent {
  const { directive, feedback } = briefing;
  const round = feedback.at(-1);
  if (round && round.previous.packets.length > 0) return revise(round);
  const { moves, remarks } = readerFor(briefing).read();
  const text = clean(directive.text);
  const others = moves.filter(({ type }) => !canDo(directive.capo, type));
  const able = CAPO_ROLES.filter((capo) => others.every(({ type }) => canDo(capo, type)));
  const isPassedOn = directive.capo === 'ceo' && able.length > 0 && text.length <= LIMITS.directive;
  const titles = others.map(titleOfMove).join('; ');
  const refusal = `${CAPOS[directive.capo].name} can't do this; it is for ${namesOf(able) || 'no single capo'}: ${titles}`;
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

const readerFor = (briefing: Briefing) =>
  new DirectiveReader({
    ...briefing.directive,
    targets: briefing.targets,
    signature: briefing.sender.signature,
    isForCeo: briefing.directive.capo === 'ceo',
    figures: () => figuresOf(briefing),
  });

/** What the runner would prepare of an instruction. A capo that cannot do all of it is not chosen. */
export function movesIn(given: string): ActionTypeName[] {
  const targets = { destinations: [], operations: [] };
  if (outsideIn(new Marks(given).text, targets) !== undefined) return ['http.call'];
  const reader = new DirectiveReader({
    text: given,
    context: null,
    targets,
    signature: null,
    isForCeo: false,
    figures: () => '',
  });
  const types = new Set(reader.read().moves.map(({ type }) => type));
  return [...types].filter((type) => CAPO_ROLES.some((capo) => !canDo(capo, type)));
}

export function beginsAsInstruction(given: string): boolean {
  const marks = new Marks(given);
  const isVerb = (at: number) => marks.is(at, 'mail', 'write', 'record', 'file', 'raise', 'other');
  let at = 0;
  while (marks.isFiller(at) && !isVerb(at)) at += 1;
  return isVerb(at) && at + 1 < marks.tokens.length && !marks.isOurs(at);
}

const isMail = ({ type }: { type: string }) => type === 'email.send';
const canDo = (capo: CapoRole, type: ActionTypeName) => ACTION_TYPES[type].engines.includes(engineOf(capo));
const namesOf = (capos: readonly CapoRole[]) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(capos.map((capo) => CAPOS[capo].name));
const unique = (list: readonly string[]) =>
  list.filter((each, at) => list.findIndex((one) => one.toLowerCase() === each.toLowerCase()) === at);
const quoted = (all: readonly string[]) => all.map((each) => `“${cutText(oneLine(each), 200)}”`).join(', ');

/** "Send this to the customer", whom the context names. */
const namesOnly = (said: string): boolean => {
  const marks = new Marks(said.replace(/\b(?:customer|client|buyer|contact|kund(?:e|en|in))\b/i, ''));
  return marks.past(0) >= marks.tokens.length;
};

const handOver = (able: readonly CapoRole[], directive: string): Move => ({
  type: 'directive.create',
  params: { directive: cutText(directive.trim(), LIMITS.directive), capo: able[0] },
  asked: able.length > 1 ? [ask('capo', `Choose who does it: ${namesOf(able)}.`)] : [],
});

interface Given extends Pick<Briefing['directive'], 'text' | 'context'>, Pick<Briefing, 'targets'> {
  signature: string | null;
  isForCeo: boolean;
  figures: () => string;
}

class DirectiveReader {
  readonly moves: Move[] = [];
  readonly remarks: string[] = [];
  /** What is no part of a move: it may take one back, delay it or forbid it. */
  readonly #unread: string[] = [];
  readonly #given: Given;
  readonly #marks: Marks;
  readonly #context: ReturnType<typeof contextOf>;

  constructor(given: Given) {
    [this.#given, this.#marks, this.#context] = [given, new Marks(given.text), contextOf(given.context)];
  }

  read(): this {
    const { text, tokens, unread } = this.#marks;
    const outside = outsideIn(text, this.#given.targets);
    if (typeof outside === 'string') this.remarks.push(outside);
    else if (outside) this.moves.push(outside);
    if (outside !== undefined || (this.#given.isForCeo && this.#delegate())) return this;
    const starts = [0, ...this.#marks.entries()];
    for (const [index, start] of starts.entries()) {
      const last = starts[index + 1] ?? tokens.length;
      for (let at = start; at < last && this.moves.length <= DRAFT_BOUNDS.packets;)
        at = this.#readAt(at, last);
    }
    this.#unread.push(...unread);
    if (this.moves.splice(DRAFT_BOUNDS.packets).length > 0)
      this.#unread.push(`all that stands behind the first ${DRAFT_BOUNDS.packets} instructions`);
    for (const move of this.moves) this.#askAbout(move);
    if (this.moves.length === 0 && this.remarks.length === 0) this.remarks.push(EXAMPLE);
    else this.remarks.push(...this.#unread.map((said) => `Not acted on: ${quoted([said])}`));
    return this;
  }

  /** "Ask ops to ..., and have marketing ...": each is handed on as it stands. */
  #delegate(): boolean {
    const { text } = this.#marks;
    const found = [...text.matchAll(DELEGATE)];
    for (const [index, { index: start, 0: lead, 1: capo }] of found[0]?.index === 0 ? found.entries() : []) {
      const rest = text
        .slice(start + lead.length, found[index + 1]?.index)
        .replace(/[\s,;]{0,5}(?:\s(?:and|und))?[\s,;]*$/iu, '')
        .trim();
      const names = [capo!, ...(rest.match(NAMES) ?? [])];
      if (rest !== '') this.moves.push(handOver([...new Set(names.map((name) => capoCalled(name)!))], rest));
    }
    return this.moves.length > 0;
  }

  /** Reads one move, or words that are none, and answers where they end. */
  #readAt(at: number, last: number): number {
    const marks = this.#marks;
    const startsOther = (from: number) => headAt(marks, from, last) !== undefined;
    const move = moveAt(this.#given.figures, marks, at, last);
    if (move?.type === 'revenue.record' && isSpent(marks, at, move.end)) this.remarks.push(SPENT);
    else if (move) this.moves.push(move);
    if (move) return move.end;
    const parts = new Parts(marks, at, last, startsOther);
    const isOfContext = this.#context.body !== '' && this.moves.length === 0;
    if (parts.isMail() || isOfContext) this.#addMail(parts);
    else this.#unread.push(...parts.left);
    return parts.end;
  }

  #addMail(parts: Parts): void {
    const context = this.#context;
    const asked: NeededInput[] = [...context.asked];
    const people = unique(parts.to.length > 0 ? parts.to : context.to);
    const copies = unique([...people, ...parts.copy, ...context.cc]).slice(people.length);
    const given = parts.subject ?? context.subject;
    const subject = given.length > LIMITS.title ? '' : given;
    const body = parts.body ?? context.body;
    const isMany = Math.max(people.length, copies.length) > LIMITS.recipients;
    const blind = parts.blind.join(', ');
    if (isMany) asked.push(ask('to', `One mail goes to ${LIMITS.recipients} people at most. Choose them.`));
    const openly = `Is ${blind} to receive it openly, in a mail of its own, or not at all?`;
    if (blind) asked.push(ask('to', `Mails have no blind copies here. ${openly}`));
    for (const name of parts.unknown) asked.push(ask('cc', `Who is “${name}”? No address is given.`));
    if (subject === '') asked.push(ask('subject', 'Write a subject.'));
    const isText = /[\p{L}\p{N}\p{S}]/u.test(body);
    const words = new Marks(body);
    const isFile = words.find(0, words.tokens.length, (at) => words.is(at, 'attached')) !== undefined;
    const open = placeholdersIn(`${subject} ${body}`).join(', ');
    const doubts = [
      ...parts.doubts,
      ...(isFile ? ['Nothing can be attached.'] : []),
      ...(open ? [`It leaves open: ${open}.`] : []),
    ];
    if (!isText) asked.push(lacksText(this.#marks));
    const isOfContext = parts.to.length === 0 && people.length > 0;
    const left = isOfContext ? parts.left.filter((said) => !namesOnly(said)) : parts.left;
    for (const each of parts.isEach && people.length > 0
      ? people.map((one) => [one])
      : [isMany ? [] : people]) {
      const text = isText ? withSignature(body, this.#given.signature) : '';
      const params = { to: each, ...(copies.length > 0 && !isMany && { cc: copies }), subject, body: text };
      this.moves.push({
        type: 'email.send',
        params,
        asked: asked.slice(0, 20),
        doubts: isText ? doubts : [],
        left,
      });
    }
  }

  /** Asks once about all that may not be right. */
  #askAbout({ params, asked, doubts = [], left = [], type }: Move): void {
    const rest = quoted([...left, ...this.#unread]);
    const isToNobody = type === 'email.send' && (params['to'] as string[]).length === 0;
    const without =
      isToNobody || rest === '' ? '' : `It leaves out ${rest}. Approval carries it out at once.`;
    if (isToNobody)
      askOnce(
        asked,
        'to',
        `Who is to receive it? ${rest ? `The directive says ${rest}.` : 'No address is given.'}`,
      );
    if (doubts.length === 0 && without === '') return;
    const name =
      type === 'revenue.record'
        ? 'amount'
        : type === 'email.send' && /[^\s@]@[^\s@]/.test(without)
          ? 'to'
          : 'body';
    askOnce(asked, name, ['Is it right as it is?', ...doubts, without].join(' ').trim());
  }
}

const isAsked = (asked: NeededInput[], name: string) => asked.some(({ path }) => path === `params.${name}`);
const askOnce = (asked: NeededInput[], name: string, message: string) =>
  isAsked(asked, name) || asked[name === 'to' ? 'unshift' : 'push'](ask(name, message));

/** Whether the moves neither use an address nor ask about it. */
function isMissingIn(moves: readonly Move[]): (address: string) => boolean {
  const isTo = ({ path }: NeededInput) => path === 'params.to';
  const used = moves.map(({ params, asked }) => [{ ...params, description: '' }, asked.filter(isTo)]);
  const all = new Set(addressesIn(JSON.stringify(used).replaceAll(/\\./g, ' ').toLowerCase()));
  return (address) => !all.has(address.toLowerCase());
}

function withSignature(body: string, given: string | null): string {
  const signature = clean(given ?? '').trim();
  const marks = new Marks(body.slice(-120));
  const isClosed = marks.find(
    0,
    marks.tokens.length,
    (at) =>
      marks.is(at, 'closing') &&
      /^\P{Ll}*(?:\p{Lu}[\p{L}.'’&-]*,?\s*){1,5}[.!]?$/u.test(marks.slice(at + 1, marks.tokens.length)),
  );
  const signed = `${body}\n\n${signature}`;
  return body.endsWith(signature) || isClosed !== undefined || signed.length > LIMITS.mail ? body : signed;
}

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject`, `body`, or one person with an `email`. */
function contextOf(context: Readonly<Record<string, unknown>> | null) {
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
  const marks = new Marks(wish);
  const { subject, body, copy: more, ...others } = new Parts(marks, 0, marks.tokens.length, () => false);
  const { to = [], cc = [] } = packet.params as { to?: string[]; cc?: string[] };
  const copies = unique([...to, ...cc, ...more]).slice(to.length);
  const isRoom = copies.length === cc.length + more.length && copies.length <= LIMITS.recipients;
  const isOther =
    [...others.to, ...others.blind, ...others.unknown, ...others.left, ...others.doubts, ...marks.unread]
      .length > 0;
  if (
    isOther ||
    others.isEach ||
    !isRoom ||
    (subject ?? body ?? more[0]) === undefined ||
    (more.length > 0 && !isMail(packet))
  )
    return undefined;
  const title = subject !== undefined && { [isMail(packet) ? 'subject' : 'title']: subject };
  return { ...title, ...(body !== undefined && { body }), ...(more.length > 0 && { cc: copies }) };
}
