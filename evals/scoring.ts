import {
  ACTION_TYPES,
  type ActionTypeName,
  riskOf,
  validateAction,
} from '../src/features/capos/action-types.js';
import type { Briefing, Draft, DraftPacket } from '../src/features/capos/briefing.js';
import { engineOf } from '../src/features/capos/capo.js';
import { RISKS, type CapoRole } from '../src/features/terms/terms.js';
import type { Case, ExpectedPacket } from './case.js';
import { numbersIn } from './facts.js';
import { Sources } from './sources.js';

/** What is asked of each draft; `garbled` only of the built-in runner, which must not word anything itself. */
export const CHECKS = {
  action: 'right action',
  recipients: 'right recipients',
  invented: 'nothing invented',
  garbled: 'nothing garbled',
  asked: 'complete or asked for',
} as const;
export type Check = keyof typeof CHECKS;
export const CHECK_NAMES = Object.keys(CHECKS) as Check[];

/** Of the built-in runner these may never fail: a person could not rely on anything it prepares. */
export const GRAVE: readonly Check[] = ['recipients', 'invented', 'garbled'];

/** What differed. */
export interface Finding {
  check: Check;
  message: string;
}

export interface Attempt {
  briefing: Briefing;
  /** By the consigliere, where the case names no capo. */
  routedTo?: CapoRole;
  draft: Pick<Draft, 'packets' | 'concerns' | 'remarks' | 'engine'>;
}

/** Everything that is wrong with a draft; nothing, where a person could approve it or is asked for what it lacks. */
export function findingsOf({ expect }: Case, { briefing, routedTo, draft }: Attempt): Finding[] {
  const isBuiltin = draft.engine.name === 'builtin';
  const sources = new Sources(briefing);
  const text = briefing.directive.text.toLowerCase();
  const told = JSON.stringify([
    draft.remarks,
    draft.packets.map(({ needsInput }) => needsInput),
  ]).toLowerCase();
  return [
    ...routingFindings(expect.routedTo, routedTo),
    ...pairs(expect.packets, draft.packets, { isBuiltin, told, text }).findings,
    ...surplusFindings(expect, draft.packets),
    ...riskFindings(expect.risk, briefing, draft),
    ...(draft.packets.length === 0 && draft.remarks.trim() === ''
      ? [asked('nothing was prepared, and nothing says why')]
      : []),
    ...draft.packets.flatMap((packet) => [
      ...registryFindings(packet, briefing.directive.capo),
      ...inventedFindings(packet, sources),
      ...(isBuiltin ? garbledFindings(packet, sources) : []),
      ...gapFindings(packet),
    ]),
  ];
}

const action = (message: string): Finding => ({ check: 'action', message });
const recipients = (message: string): Finding => ({ check: 'recipients', message });
const asked = (message: string): Finding => ({ check: 'asked', message });

function routingFindings(wanted: CapoRole | undefined, actual: CapoRole | undefined): Finding[] {
  if (wanted === undefined || wanted === actual) return [];
  return [action(`routed to ${actual ?? 'nobody'} instead of ${wanted}`)];
}

interface Judged {
  isBuiltin: boolean;
  /** What the draft says and asks besides its work packets, in small letters. */
  told: string;
  /** What the directive says, in small letters. */
  text: string;
}

interface Pairing {
  findings: Finding[];
  missing: number;
}

/** Each expected packet beside the one that fits it best, all together as well as they can. */
function pairs(wanted: readonly ExpectedPacket[], actual: readonly DraftPacket[], judged: Judged): Pairing {
  const [first, ...others] = wanted;
  if (first === undefined) return { findings: [], missing: 0 };
  const without = pairs(others, actual, judged);
  const choices: Pairing[] = [
    { findings: [...missingFindings(first, judged), ...without.findings], missing: without.missing + 1 },
  ];
  for (const packet of actual.filter(({ type }) => type === first.type)) {
    const rest = pairs(
      others,
      actual.filter((each) => each !== packet),
      judged,
    );
    choices.push({
      findings: [...packetFindings(first, packet, judged.isBuiltin), ...rest.findings],
      missing: rest.missing,
    });
  }
  return choices.reduce((best, each) =>
    each.missing < best.missing ||
    (each.missing === best.missing && each.findings.length < best.findings.length)
      ? each
      : best,
  );
}

/** Nobody is missed in silence where the draft names an address of the directive, and says or asks what it is about. */
function missingFindings(wanted: ExpectedPacket, { told, text }: Judged): Finding[] {
  const people = [...(wanted.to ?? []), ...(wanted.cc ?? [])];
  const missed = people.filter(
    (each) => text.includes(each.toLowerCase()) && !told.includes(each.toLowerCase()),
  );
  const message = `no ${wanted.type}${people.length > 0 ? ` to ${people.join(', ')}` : ''}`;
  return [
    action(message),
    asked(message),
    ...(missed.length > 0 ? [recipients(`${missed.join(', ')} is not written to`)] : []),
  ];
}

function packetFindings(wanted: ExpectedPacket, packet: DraftPacket, isBuiltin: boolean): Finding[] {
  const { params } = packet;
  const body = textOf(params['body']);
  return [
    ...recipientFindings(wanted, packet),
    ...(['amount', 'currency', 'capo', 'severity'] as const).flatMap((name) =>
      wanted[name] === undefined || wanted[name] === params[name]
        ? []
        : [action(`${name} is ${String(params[name])} instead of ${wanted[name]}`)],
    ),
    ...(wanted.subject === undefined || wanted.subject === params['subject']
      ? []
      : [asked(`the subject is “${textOf(params['subject'])}” instead of “${wanted.subject}”`)]),
    ...(wanted.body === undefined || isBody(wanted.body, body, isBuiltin)
      ? []
      : [asked(`the text is not the one given: ${difference(wanted.body, body)}`)]),
    ...missingPhrases('text', wanted.bodyIncludes, body),
    ...missingPhrases('title', wanted.titleIncludes, textOf(params['title'])),
    ...missingPhrases('directive', wanted.directiveIncludes, textOf(params['directive'])),
    ...questionFindings(wanted, packet, isBuiltin),
  ];
}

function recipientFindings(
  wanted: ExpectedPacket,
  { params, needsInput }: Pick<DraftPacket, 'params' | 'needsInput'>,
): Finding[] {
  const mayAsk = wanted.needsInput?.includes('params.to') === true;
  const isAsked = needsInput.some(({ path }) => path === 'params.to');
  // Who must be asked for may not be guessed.
  const to = mayAsk && (isAsked || !wanted.to?.length) ? [] : wanted.to;
  const lists = [
    { name: 'to', expected: to, actual: listOf(params['to']) },
    { name: 'cc', expected: wanted.cc ?? (to && []), actual: listOf(params['cc']) },
  ];
  return lists.flatMap(({ name, expected, actual }) => {
    if (expected === undefined) return [];
    const [left, right] = [expected, actual].map((list) => list.map((each) => each.toLowerCase()));
    return [
      ...left!
        .filter((each) => !right!.includes(each))
        // Where a person is asked who receives it, nobody is missed: it asks for more than it lacks.
        .map((each) => (isAsked ? asked : recipients)(`${each} is missing from ${name}`)),
      ...right!
        .filter((each) => !left!.includes(each))
        .map((each) => recipients(`${each} should not be in ${name}`)),
    ];
  });
}

function isBody(wanted: string, actual: string, isBuiltin: boolean): boolean {
  const [left, right] = [wanted, actual].map((text) => text.replaceAll('\r\n', '\n').trim());
  // A model may greet and sign around the words it was given.
  return left === right || (!isBuiltin && right!.includes(left!));
}

function missingPhrases(where: string, phrases: readonly string[] = [], text: string): Finding[] {
  const shaped = (each: string) => each.replace(/\s+/g, ' ').toLowerCase();
  const numbers = numbersIn(text).flatMap(({ value }) => value);
  return phrases
    .filter((phrase) =>
      /^\d+(?:\.\d+)?$/.test(phrase)
        ? !numbers.includes(Number(phrase))
        : !shaped(text).includes(shaped(phrase)),
    )
    .map((phrase) => asked(`the ${where} lacks “${phrase}”`));
}

/** Whether a person is asked for what is missing, and for nothing that was given. */
function questionFindings(wanted: ExpectedPacket, packet: DraftPacket, isBuiltin: boolean): Finding[] {
  const questions = packet.needsInput.map(({ path }) => path);
  const worded = (path: string) =>
    !isBuiltin && path === 'params.body' && textOf(packet.params['body']).trim() !== '';
  const given = [
    ...(wanted.to?.length ? ['params.to'] : []),
    ...(wanted.subject === undefined ? [] : ['params.subject']),
    ...(wanted.body === undefined ? [] : ['params.body']),
  ];
  return [
    ...(wanted.needsInput ?? [])
      .filter((path) => !questions.includes(path) && !worded(path))
      // Either those of the case are written to, or a person is asked who is meant.
      .filter((path) => path !== 'params.to' || !wanted.to?.length)
      .map((path) => asked(`nobody is asked for ${path}`)),
    ...given
      .filter((path) => questions.includes(path) && !wanted.needsInput?.includes(path))
      .map((path) => asked(`asks for ${path}, which was given`)),
  ];
}

function surplusFindings({ packets, also = [] }: Case['expect'], actual: readonly DraftPacket[]): Finding[] {
  const allowed: ActionTypeName[] = [...also, ...(packets.length === 0 ? (['document.file'] as const) : [])];
  const spare = packets.map(({ type }) => type as string);
  return actual.flatMap(({ type, params }) => {
    const at = spare.indexOf(type);
    if (at >= 0) {
      spare.splice(at, 1);
      return [];
    }
    if (allowed.some((each) => each === type)) return [];
    const people = [...listOf(params['to']), ...listOf(params['cc'])];
    return [
      action(`an unexpected ${type}${people.length > 0 ? ` to ${people.join(', ')}` : ''}`),
      ...(people.length > 0 ? [recipients(`${people.join(', ')} should not be written to`)] : []),
    ];
  });
}

function riskFindings(
  least: Case['expect']['risk'],
  { directive: { priority } }: Briefing,
  { packets, concerns }: Attempt['draft'],
): Finding[] {
  if (least === undefined) return [];
  const risks = [
    ...concerns.map(({ risk }) => risk),
    ...packets.map(({ type, params }) =>
      riskOf({
        reversibility: ACTION_TYPES[type as ActionTypeName]?.reversibility ?? 'irreversible',
        priority,
        recipients: listOf(params['to']).length + listOf(params['cc']).length,
        amount: Number(params['amount'] ?? 0),
      }),
    ),
  ];
  const risk = RISKS.findLast((each) => risks.includes(each)) ?? 'low';
  return RISKS.indexOf(risk) < RISKS.indexOf(least)
    ? [action(`the risk is ${risk}, at least ${least} is due`)]
    : [];
}

/** The registry refuses a packet as it would at the hand-in, except for what a person is asked to supply. */
function registryFindings({ type, params, needsInput }: DraftPacket, capo: CapoRole): Finding[] {
  const validation = validateAction(engineOf(capo), type, params);
  if (validation.ok) return [];
  return validation.faults
    .filter(({ path }) => !needsInput.some((need) => path === need.path || path.startsWith(`${need.path}.`)))
    .map(({ path, message }) => action(`the registry refuses the ${type}: ${path} ${message}`));
}

function inventedFindings({ type, title, params }: DraftPacket, sources: Sources): Finding[] {
  const isDocument = type === 'document.file';
  const texts = [
    title,
    ...Object.values(params).flatMap((value) => (Array.isArray(value) ? value : [value])),
  ];
  const told = texts
    .filter((text) => typeof text === 'string' || typeof text === 'number')
    .flatMap((text) => sources.inventedIn(String(text), { isDocument }));
  return [...new Set(told)].map((what) => ({
    check: 'invented',
    message: `${what} of the ${type} stands nowhere`,
  }));
}

/**
 * What the built-in runner must repeat and never word, by type: `exact` goes out as it is, `line` is made of first words,
 * `sentence` may begin with a capital and end with a full stop of the runner's.
 */
const REPEATED: Readonly<Record<string, { param: string; as: 'exact' | 'line' | 'sentence' }[]>> = {
  'email.send': [
    { param: 'subject', as: 'line' },
    { param: 'body', as: 'exact' },
  ],
  'signal.raise': [
    { param: 'title', as: 'line' },
    { param: 'body', as: 'sentence' },
  ],
  'directive.create': [{ param: 'directive', as: 'sentence' }],
};

function garbledFindings({ type, params, needsInput }: DraftPacket, sources: Sources): Finding[] {
  return (REPEATED[type] ?? []).flatMap(({ param, as }): Finding[] => {
    const text = textOf(params[param]);
    const isAskedFor = needsInput.some(({ path }) => path === `params.${param}`);
    if ((text === '' && isAskedFor) || isRepeated(text, as, sources)) return [];
    return [
      { check: 'garbled', message: `the ${param} of the ${type} is nobody's words: “${excerpt(text)}”` },
    ];
  });
}

function isRepeated(text: string, as: 'exact' | 'line' | 'sentence', sources: Sources): boolean {
  if (sources.holdWordForWord(text)) return true;
  if (as === 'exact') return false;
  const oneLine = as === 'line';
  const uncut = text.replace(/\s*(?:…|\.\.\.)$/, '');
  const cut = oneLine && uncut !== text;
  const core = uncut.replace(/(?<!\.)\.$/, '');
  return [core, core.charAt(0).toLowerCase() + core.slice(1)].some((each) =>
    sources.holdWordForWord(each, { oneLine, cut }),
  );
}

const PLACEHOLDER = /\{\{[^}\n]*\}\}|\[(?!\s?[x ]?\s?\])[^\]\n]{1,60}\](?!\()|<[A-Z][\p{L} ]{1,40}>|_{3,}/u;

/** What is not there must be asked for, whatever was expected. */
function gapFindings({ type, params, needsInput }: DraftPacket): Finding[] {
  if (type !== 'email.send') return [];
  const isAskedFor = (path: string) => needsInput.some((need) => need.path === path);
  const gaps: Finding[] = [];
  if (listOf(params['to']).length === 0 && !isAskedFor('params.to'))
    gaps.push(asked('a mail to nobody asks for no recipient'));
  for (const param of ['subject', 'body']) {
    if (isAskedFor(`params.${param}`)) continue;
    const text = textOf(params[param]);
    const [placeholder] = PLACEHOLDER.exec(text) ?? [];
    if (text.trim() === '') gaps.push(asked(`a mail without ${param} asks for none`));
    else if (placeholder !== undefined) gaps.push(asked(`the ${param} still has ${placeholder} in it`));
  }
  return gaps;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const listOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length > 90 ? `${line.slice(0, 89)}…` : line;
}

/** Where the two texts part. */
function difference(wanted: string, actual: string): string {
  const [left, right] = [wanted.trim(), actual.trim()];
  let at = 0;
  while (at < Math.min(left.length, right.length) && left[at] === right[at]) at += 1;
  const around = (text: string) => `“${excerpt(text.slice(Math.max(0, at - 10), at + 40))}”`;
  return right === '' ? 'there is none' : `${around(actual.trim())} instead of ${around(wanted.trim())}`;
}
