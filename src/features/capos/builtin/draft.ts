import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { ACTION_TYPES, type ActionTypeName } from '../action-types.js';
import type { Briefing, DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import { CAPO_ROLES, CAPOS, capoCalled, type CapoRole, engineOf } from '../capo.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import { placeholdersIn } from '../placeholders.js';
import { addressesIn, clean, Marks, oneLine } from './marks.js';
import { ask, headAt, isSpent, lacksText, type Move, moveAt, titleOfMove } from './moves.js';
import { outsideIn } from './outside.js';
import { Parts } from './parts.js';
import { anyOf } from './words.js';

const EXAMPLE = 'Say to whom and what: Email anna@acme.example, subject "Order": "It ships on Friday."';
const SPENT =
  'Money cannot be paid out, paid back or recorded as spent here, and what comes back is no revenue.';
const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
const UNCHANGED = "Nothing was changed: the built-in runner doesn't rewrite. Please edit the draft.";
const ALIASES = CAPO_ROLES.filter((role) => role !== 'ceo').flatMap((role) => CAPOS[role].aliases);
const NAMES = new RegExp(String.raw`(?<![\p{L}\p{N}_])(?:${ALIASES.join('|')})(?![\p{L}\p{N}_])`, 'giu');
const DELEGATE = new RegExp(
  String.raw`(?:^|[.;,!\n]\s*|\sand\s)(?:(?:please|and|also|then)[\s,]+)*(?:ask|have|tell|get|let)\s+(?:(?:the|our)\s+)?` +
    String.raw`(${ALIASES.join('|')})(?:\s+team)?(?!['’\w-])[\s:,]*(?:to\s+)?`,
  'giu',
);
/** "Regards, Mara" at the end of a text. */
const SIGNED = new RegExp(String.raw`${anyOf('closing')}\P{Ll}*(?:\p{Lu}[\p{L}.'’&-]*,?\s*){1,5}[.!]?$`, 'u');

/** What the built-in runner makes of an instruction: nothing is worded, turned or made up. */
export function draftFrom(briefing: Briefing): DraftContent {
  const { directive, feedback, sender } = briefing;
  const round = feedback.at(-1);
  if (round && round.previous.packets.length > 0) return unchanged(round);
  const text = clean(directive.text);
  const isForCeo = directive.capo === 'ceo';
  const { moves, remarks } = readDirective({
    ...directive,
    targets: briefing.targets,
    signature: clean(sender.signature ?? '').trim(),
    isForCeo,
  });
  const others = moves.filter(({ type }) => !canDo(directive.capo, type));
  const able = CAPO_ROLES.filter((capo) => others.every(({ type }) => canDo(capo, type)));
  const isPassedOn = isForCeo && able.length > 0 && others.length > 0 && text.length <= LIMITS.directive;
  const refusal = `${CAPOS[directive.capo].name} can't do this; it is for ${namesOf(able) || 'no single capo'}`;
  if (others.length > 0 && !isPassedOn) remarks.push(`${refusal}: ${others.map(titleOfMove).join('; ')}`);
  const own = isPassedOn ? [handOver(able, text)] : moves.filter((move) => !others.includes(move));
  const used = addressesUsed(own);
  const left = unique(addressesIn(text)).filter((address) => !used.has(address.toLowerCase()));
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

/** What the runner would prepare of an instruction. A capo that cannot do all of it is not chosen. */
export function movesIn(text: string): ActionTypeName[] {
  const targets = { destinations: [], operations: [] };
  if (outsideIn(new Marks(text).text, targets) !== undefined) return ['http.call'];
  const given = { text, context: null, targets, signature: '', isForCeo: false };
  const types = new Set(readDirective(given).moves.map(({ type }) => type));
  return [...types].filter((type) => CAPO_ROLES.some((capo) => !canDo(capo, type)));
}

export function beginsAsInstruction(given: string): boolean {
  const marks = new Marks(given);
  const isVerb = (at: number) => marks.is(at, 'mail', 'write', 'record', 'file', 'raise', 'other');
  const at = marks.find(0, marks.tokens.length, (each) => isVerb(each) || !marks.isFiller(each)) ?? 0;
  return isVerb(at) && at + 1 < marks.tokens.length && !marks.isOurs(at);
}

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

interface Given extends Pick<Briefing['directive'], 'text' | 'context'>, Pick<Briefing, 'targets'> {
  signature: string;
  isForCeo: boolean;
}

function readDirective(given: Given): { moves: Move[]; remarks: string[] } {
  const marks = new Marks(given.text);
  const outside = outsideIn(marks.text, given.targets);
  if (typeof outside === 'string') return { moves: [], remarks: [outside] };
  if (outside) return { moves: [outside], remarks: [] };
  const delegated = given.isForCeo ? delegatedIn(marks.text) : [];
  if (delegated.length > 0) return { moves: delegated, remarks: [] };
  const [moves, remarks, unread]: [Move[], string[], string[]] = [[], [], [...marks.unread]];
  const [entries, context] = [marks.entries(), contextOf(given.context)];
  let at = 0;
  while (at < marks.tokens.length && moves.length <= DRAFT_BOUNDS.packets) {
    const last = entries.find((entry) => entry > at) ?? marks.tokens.length;
    const move = moveAt(marks, at, last);
    if (move?.type === 'revenue.record' && isSpent(marks, at, move.end)) remarks.push(SPENT);
    else if (move) moves.push(move);
    const parts = move ?? new Parts(marks, at, last, (from) => headAt(marks, from, last) !== undefined);
    if (parts instanceof Parts) {
      const isMail = parts.isMail() || (context.body !== '' && moves.length === 0);
      if (isMail) moves.push(...mailsOf(parts, marks, context, given.signature));
      else unread.push(...parts.left);
    }
    at = parts.end;
  }
  if (moves.splice(DRAFT_BOUNDS.packets).length > 0)
    unread.push(`all that stands behind the first ${DRAFT_BOUNDS.packets} instructions`);
  for (const move of moves) askAbout(move, unread);
  if (moves.length === 0 && remarks.length === 0) remarks.push(EXAMPLE);
  else remarks.push(...unread.map((said) => `Not acted on: ${quoted([said])}`));
  return { moves, remarks };
}

/** "Ask ops to ..., and have marketing ...": each is handed on as it stands. */
function delegatedIn(text: string): Move[] {
  const found = [...text.matchAll(DELEGATE)];
  if (found[0]?.index !== 0) return [];
  return found.flatMap(({ index, 0: lead, 1: name }, at) => {
    const said = text.slice(index + lead.length, found[at + 1]?.index);
    const rest = said.replace(/[\s,;]{0,5}(?:\s(?:and|und))?[\s,;]*$/iu, '').trim();
    const names = [name!, ...(rest.match(NAMES) ?? [])].map((each) => capoCalled(each)!);
    return rest === '' ? [] : [handOver([...new Set(names)], rest)];
  });
}

/** One mail, or one for each recipient. */
function mailsOf(
  parts: Parts,
  marks: Marks,
  context: ReturnType<typeof contextOf>,
  signature: string,
): Move[] {
  const asked: NeededInput[] = [];
  const people = unique(parts.to.length > 0 ? parts.to : context.to);
  const copies = unique([...people, ...parts.copy, ...context.cc]).slice(people.length);
  const given = parts.subject ?? context.subject;
  const subject = given.length > LIMITS.title ? '' : given;
  const body = parts.body ?? context.body;
  const isMany = Math.max(people.length, copies.length) > LIMITS.recipients;
  if (isMany) asked.push(ask('to', `One mail goes to ${LIMITS.recipients} people at most. Choose them.`));
  const openly = `Is ${parts.blind.join(', ')} to receive it openly, in a mail of its own, or not at all?`;
  if (parts.blind.length > 0) asked.push(ask('to', `Mails have no blind copies here. ${openly}`));
  if (subject === '')
    asked.push(ask('subject', `Write a subject.${parts.said && ` Is it “${parts.said}”?`}`));
  const isText = /[\p{L}\p{N}\p{S}]/u.test(body);
  if (!isText) asked.push(lacksText(marks));
  const open = placeholdersIn(`${subject} ${body}`).join(', ');
  const doubts = [
    ...parts.doubts,
    ...(new RegExp(anyOf('attached'), 'u').test(body) ? ['Nothing can be attached.'] : []),
    ...(open ? [`It leaves open: ${open}.`] : []),
  ];
  const isSigned = body.endsWith(signature) || SIGNED.test(body.slice(-120));
  const signed = isSigned ? body : `${body}\n\n${signature}`;
  const text = signed.length > LIMITS.mail ? body : signed;
  const copied = copies.length > 0 && !isMany && { cc: copies };
  const mails = parts.isEach && people.length > 0 ? people.map((one) => [one]) : [isMany ? [] : people];
  return mails.map((to) => ({
    type: 'email.send',
    params: { to, ...copied, subject, body: isText ? text : '' },
    asked: [...asked],
    doubts: isText ? doubts : [],
    left: [...parts.left, ...context.left],
  }));
}

/** Asks once about all that may not be right. */
function askAbout({ params, asked, doubts = [], left = [], type }: Move, unread: readonly string[]): void {
  const askOnce = (name: string, message: string) =>
    asked.some(({ path }) => path === `params.${name}`) ||
    asked[name === 'to' ? 'unshift' : 'push'](ask(name, message));
  const rest = quoted([...left, ...unread]);
  const isMail = type === 'email.send';
  if (isMail && (params['to'] as string[]).length === 0)
    return void askOnce(
      'to',
      `Who is to receive it? ${rest ? `The directive says ${rest}.` : 'No address is given.'}`,
    );
  const without = rest === '' ? '' : `It leaves out ${rest}. Approval carries it out at once.`;
  if (doubts.length === 0 && without === '') return;
  const name = type === 'revenue.record' ? 'amount' : isMail && /[^\s@]@[^\s@]/.test(without) ? 'to' : 'body';
  askOnce(name, ['Is it right as it is?', ...doubts, without].join(' ').trim());
}

/** Those that the moves write to, pass on or ask about. */
function addressesUsed(moves: readonly Move[]): Set<string> {
  const isTo = ({ path }: NeededInput) => path === 'params.to';
  const used = moves.map(({ params, asked }) => [{ ...params, description: '' }, asked.filter(isTo)]);
  return new Set(addressesIn(JSON.stringify(used).replaceAll(/\\./g, ' ').toLowerCase()));
}

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject` and `body`. */
function contextOf(context: Readonly<Record<string, unknown>> | null) {
  const textOf = (value: unknown, max: number) =>
    typeof value === 'string' && value.length <= max ? clean(value).trim() : '';
  const listOf = (value: unknown) => clean([value].flat().slice(0, 200).join(',')).split(/[,;\n]/);
  const { to, cc, email, subject, body } = context ?? {};
  const [people, copies] = [listOf(to ?? email), listOf(cc)];
  return {
    to: people.flatMap(addressesIn),
    cc: copies.flatMap(addressesIn),
    left: [...people, ...copies].filter((each) => each.trim() !== '' && addressesIn(each).length === 0),
    subject: oneLine(textOf(subject, LIMITS.title)),
    body: textOf(body, LIMITS.mail),
  };
}

/** A draft that is sent back stays as it was, and the wish stands beside it. */
function unchanged({ text, previous }: FeedbackRound): DraftContent {
  const packets = previous.packets.map((packet): DraftPacket => {
    const { title, type, params, rationale, needsInput = [] } = packet;
    const asked = needsInput.filter(({ message }) => !message.startsWith(EDIT));
    const name = ['body', 'directive', 'description'].find((each) => typeof params[each] === 'string');
    asked.push(ask(name ?? 'amount', `${EDIT} The wish: “${text}”`));
    return { title, type, params, rationale, target: '', multipliers: {}, needsInput: asked };
  });
  return { remarks: UNCHANGED, packets, concerns: [] };
}
