import { cutText } from '../../../platform/kernel/text.js';
import { LIMITS } from '../action-params.js';
import { ACTION_TYPES, type Action, type ActionTypeName } from '../action-types.js';
import type { Briefing, DraftContent, DraftPacket, FeedbackRound, NeededInput } from '../briefing.js';
import { CAPO_ROLES, capoCalled, type CapoRole, CAPOS, engineOf } from '../capo.js';
import { DRAFT_BOUNDS, placeholdersIn } from '../draft-bounds.js';
import { stringsIn } from '../draft-checks.js';
import { titleOf } from '../draft-output.js';
import { NO_TARGETS } from '../outside-targets.js';
import { addressesIn, clean, Marks, oneLine } from './marks.js';
import { ask, type Move, moveAt, outsideIn } from './moves.js';
import { type Parts, partsOf } from './parts.js';
import { anyOf } from './words.js';

const EXAMPLE = 'Say to whom and what: Email anna@acme.example, subject "Order": "It ships on Friday."';
const EDIT = "Please edit this yourself: the built-in runner doesn't rewrite what was drafted.";
/** How a parameter that is empty is asked for. */
const QUESTIONS: Record<string, string> = {
  to: 'Who is to receive it?',
  subject: 'Write a subject.',
  title: 'Write a title.',
  body: 'Write the text.',
  amount: 'Which amount is it?',
  currency: 'In which currency? Such as EUR.',
  source: 'From whom did the money come?',
};
/** "Regards, Mara" at the end of a text. */
const SIGNED = new RegExp(String.raw`${anyOf('closing')}\P{Ll}*(?:\p{Lu}[\p{L}.'’&-]*,?\s*){1,5}[.!]?$`, 'u');
const ATTACHED = new RegExp(anyOf('attached'), 'u');
const DELEGATE =
  /^\s*(?:please\s+)?(?:ask|have|tell|get|let)\s+(?:(?:the|our)\s+)?(\w+)(?:\s+team)?(?!['’\w-])[\s:,]*(?:to\s+)?/iu;

type Given = Partial<Pick<Briefing['directive'], 'capo' | 'context'>> &
  Pick<Briefing, 'targets'> & { signature?: string };

/** What the built-in runner makes of an instruction: nothing is worded, turned or made up. */
export function draftFrom({ directive, feedback, sender, targets }: Briefing): DraftContent {
  const round = feedback.at(-1);
  if (round && round.previous.packets.length > 0) return unchanged(round);
  const { capo, context, priority } = directive;
  const text = clean(directive.text);
  const signature = clean(sender.signature ?? '').trim();
  const { moves, remarks } = readMoves(directive.text, { capo, context, targets, signature });
  const others = moves.filter(({ type }) => !canDo(capo, type));
  const able = CAPO_ROLES.filter((role) => others.every(({ type }) => canDo(role, type)));
  const isPassedOn = capo === 'ceo' && others.length > 0 && able.length > 0;
  const refusal = `${CAPOS[capo].name} can't do this; it is for ${namesOf(able) || 'no single capo'}`;
  if (others.length > 0 && !isPassedOn) remarks.push(`${refusal}: ${others.map(titleOfMove).join('; ')}`);
  const own = isPassedOn ? [handOver(able, text)] : moves.filter((move) => !others.includes(move));
  const isTo = ({ path }: NeededInput) => path === 'params.to';
  const used = own.map(({ params, asked = [] }) => [{ ...params, description: '' }, asked.filter(isTo)]);
  const named = addressesIn(stringsIn(used).join(' ').toLowerCase());
  const left = unique(addressesIn(text)).filter((address) => !named.includes(address.toLowerCase()));
  if (left.length > 0) remarks.push(`Not written to: ${left.join(', ')}.`);
  if (own.length === 0) remarks.push('Nothing was prepared.');
  const rationale = `The directive says: “${cutText(oneLine(text), 1_500)}”`;
  const multipliers: DraftPacket['multipliers'] = priority === 'high' ? { priority: 1.5 } : {};
  const packets = own.map(({ asked = [], ...move }): DraftPacket => {
    const { type, params } = move;
    return { title: titleOfMove(move), type, target: '', params, rationale, multipliers, needsInput: asked };
  });
  return { remarks: cutText(unique(remarks).join('\n'), DRAFT_BOUNDS.remarks), packets, concerns: [] };
}

/** What the runner would prepare of an instruction. A capo that cannot do all of it is not chosen. */
export function movesIn(text: string): ActionTypeName[] {
  if (outsideIn(new Marks(text).text, NO_TARGETS) !== undefined) return ['http.call'];
  const types = new Set(readMoves(text, { targets: NO_TARGETS }).moves.map(({ type }) => type));
  return [...types].filter((type) => CAPO_ROLES.some((capo) => !canDo(capo, type)));
}

export function beginsAsInstruction(given: string): boolean {
  const marks = new Marks(given);
  const isVerb = (at: number) => marks.is(at, 'mail', 'write', 'record', 'file', 'raise', 'other');
  const at = marks.past(0, isVerb);
  return isVerb(at) && at + 1 < marks.tokens.length && !marks.isOurs(at);
}

const canDo = (capo: CapoRole, type: ActionTypeName) => ACTION_TYPES[type].engines.includes(engineOf(capo));
const titleOfMove = ({ type, params }: Move) => titleOf({ type, params } as Action);
const namesOf = (capos: readonly CapoRole[]) =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(capos.map((capo) => CAPOS[capo].name));
const unique = (list: readonly string[]) =>
  list.filter((each, at) => list.findIndex((one) => one.toLowerCase() === each.toLowerCase()) === at);
const quoted = (all: readonly string[]) => all.map((each) => `“${cutText(oneLine(each), 200)}”`).join(', ');

/** The parameter beside which a question stands about all of a work packet. */
const mainOf = (params: object) =>
  ['body', 'directive', 'amount', 'arguments', 'data'].find((name) => name in params) ?? 'body';

const handOver = (able: readonly CapoRole[], directive: string): Move => ({
  type: 'directive.create',
  params: { directive: cutText(directive.trim(), LIMITS.directive), capo: able[0] },
  asked: able.length > 1 ? [ask('capo', `Choose who does it: ${namesOf(able)}.`)] : [],
});

/** "Ask ops to ..." is handed on as it stands. */
function delegatedIn(text: string): Move[] {
  const [head = '', name = ''] = DELEGATE.exec(text) ?? [];
  const rest = text.slice(head.length).trim();
  const capos = [name, ...rest.split(/[^\p{L}\p{N}_]+/u)].flatMap((word) => capoCalled(word) ?? []);
  return capoCalled(name) === undefined || rest === '' ? [] : [handOver([...new Set(capos)], rest)];
}

/** What stands in the context of a directive for a mail: `to`, `cc`, `subject` and `body`. */
function contextOf(context: Given['context'] = null) {
  const textOf = (value: unknown) => (typeof value === 'string' ? clean(value).trim() : '');
  const listOf = (value: unknown) => clean(stringsIn(value).slice(0, 200).join(',')).split(/[,;\n]/);
  const [to, cc] = [listOf(context?.['to']), listOf(context?.['cc'])];
  return {
    to: to.flatMap(addressesIn),
    cc: cc.flatMap(addressesIn),
    left: [...to, ...cc].filter((each) => each.trim() !== '' && addressesIn(each).length === 0),
    subject: oneLine(textOf(context?.['subject'])),
    body: textOf(context?.['body']),
  };
}

function readMoves(text: string, { capo, ...given }: Given) {
  const [marks, context, remarks] = [new Marks(text), contextOf(given.context), [] as string[]];
  const [unread, entries, all] = [[...marks.unread], marks.entries(), marks.tokens.length];
  const moves = capo === 'ceo' ? delegatedIn(marks.text) : [];
  const outside = outsideIn(marks.text, given.targets);
  if (typeof outside === 'string') remarks.push(outside);
  else if (outside) moves.push(outside);
  let at = outside === undefined && moves.length === 0 ? 0 : all;
  while (at < all && moves.length <= DRAFT_BOUNDS.packets) {
    const last = entries.find((entry) => entry > at) ?? all;
    const isMove = (from: number) => moveAt(marks, from, last) !== undefined;
    const found = moveAt(marks, at, last) ?? partsOf(marks, at, last, isMove);
    if ('type' in found) moves.push(found);
    else if (found.isMail || (context.body !== '' && moves.length === 0))
      moves.push(...mailsOf(found, context, given.signature ?? ''));
    else unread.push(...found.left);
    at = found.end;
  }
  if (moves.splice(DRAFT_BOUNDS.packets).length > 0)
    unread.push(`all that stands behind the first ${DRAFT_BOUNDS.packets} instructions`);
  if (moves.length === 0 && remarks.length === 0) remarks.push(EXAMPLE);
  else remarks.push(...unread.map((said) => `Not acted on: ${quoted([said])}`));
  return { moves: moves.map((move) => ({ ...move, asked: questionsOf(move, marks.text, unread) })), remarks };
}

function mailsOf(parts: Parts, context: ReturnType<typeof contextOf>, signature: string): Move[] {
  const people = unique(parts.to.length > 0 ? parts.to : context.to);
  const copies = unique([...people, ...parts.copy, ...context.cc]).slice(people.length);
  const isMany = Math.max(people.length, copies.length) > LIMITS.recipients;
  const left = [...parts.left, ...context.left];
  const given = parts.subject ?? context.subject;
  const subject = given.length > LIMITS.title ? '' : given;
  const said = parts.body ?? context.body;
  const body = said.length <= LIMITS.mail && /[\p{L}\p{N}\p{S}]/u.test(said) ? said : '';
  const doubts = [...parts.doubts];
  if (ATTACHED.test(body)) doubts.push('Nothing can be attached.');
  const open = placeholdersIn(`${subject} ${body}`).join(', ');
  if (open) doubts.push(`It leaves open: ${open}.`);
  const signed = `${body}\n\n${signature}`;
  const isSigned = body.endsWith(signature) || SIGNED.test(body.slice(-120)) || signed.length > LIMITS.mail;
  const text = body === '' || isSigned ? body : signed;
  const mails = parts.isEach && people.length > 0 ? people.map((one) => [one]) : [isMany ? [] : people];
  return mails.map((to) => ({
    type: 'email.send',
    asked: isMany ? [ask('to', `One mail goes to ${LIMITS.recipients} people at most. Choose them.`)] : [],
    params: { to, ...(copies.length > 0 && !isMany && { cc: copies }), subject, body: text },
    doubts: body === '' ? [] : doubts,
    left,
  }));
}

const isEmpty = (value: unknown) => value === undefined || (value as unknown[]).length === 0;

/** Asks for all that is empty, and once about all that may not be right. */
function questionsOf(move: Move, text: string, unread: readonly string[]): NeededInput[] {
  const { type, params, asked = [], doubts = [], left = [] } = move;
  const rest = quoted([...left, ...unread]);
  const whom = rest ? `The directive says ${rest}.` : 'No address is given.';
  const isAsked = (name: string) => asked.some(({ path }) => path === `params.${name}`);
  for (const [name, value] of Object.entries(params)) {
    const said = name === 'to' ? whom : `The directive says: “${text}”`;
    if (name in QUESTIONS && isEmpty(value) && !isAsked(name))
      asked.push(ask(name, `${QUESTIONS[name]} ${said}`));
  }
  const isTo = type === 'email.send' && (/[^\s@]@[^\s@]/.test(rest) || isEmpty(params['to']));
  const name = isTo ? 'to' : mainOf(params);
  const without = rest && `It leaves out ${rest}. Approval carries it out at once.`;
  if ((doubts.length > 0 || rest !== '') && !isAsked(name)) {
    const question = ask(name, ['Is it right as it is?', ...doubts, without].join(' '));
    asked[isTo ? 'unshift' : 'push'](question);
  }
  return asked;
}

/** A draft that is sent back stays as it was, and the wish stands beside it. */
function unchanged({ text, previous }: FeedbackRound): DraftContent {
  const packets = previous.packets.map((packet): DraftPacket => {
    const { title, type, params, rationale, needsInput = [] } = packet;
    const asked = needsInput.filter(({ message }) => !message.startsWith(EDIT));
    asked.push(ask(mainOf(params), `${EDIT} The wish: “${text}”`));
    return { title, type, params, rationale, target: '', multipliers: {}, needsInput: asked };
  });
  return { remarks: `Nothing was changed. ${EDIT}`, packets, concerns: [] };
}
