import { domainToUnicode } from 'node:url';
import type { Fault } from '../../platform/kernel/define-error.js';
import { lookAlike } from '../../platform/kernel/look-alikes.js';
import { cutText } from '../../platform/kernel/text.js';
import { hasUnseen } from '../../platform/kernel/unseen.js';
import { ACTION_TYPES, isActionType } from './action-types.js';
import type { Briefing, Concern, Draft, DraftPacket } from './briefing.js';
import * as words from './danger-words.js';
import { stringsIn } from './draft-checks.js';
import { addressesIn, linksIn, plainText } from './text-facts.js';

/** Whether a text of a value, or a name in it, holds what cannot be seen. */
function hasUnseenText(value: unknown): boolean {
  return unseenFaults(value, '').length > 0;
}

/** Each text of a value, and each name in it, that holds what cannot be seen. */
export function unseenFaults(value: unknown, path: string): Fault[] {
  if (typeof value === 'string') return hasUnseen(value) ? [unseenFault(path)] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) =>
    hasUnseen(name) ? [unseenFault(path)] : unseenFaults(each, `${path}.${name}`),
  );
}

function unseenFault(path: string): Fault {
  return { path, rule: 'visible', message: MUST_BE_SEEN };
}

export const MUST_BE_SEEN = 'must not contain characters that cannot be seen';

/**
 * The dangers of a draft by any author: a runner of ours, a model, or a person who edited it. Every draft and every
 * edit passes here, so that no danger depends on who drafts.
 */

type Checked = Pick<DraftPacket, 'type' | 'title' | 'rationale' | 'params'>;

/** The draft with what is to be feared of its directive and of itself. */
export function withDangers<T extends Pick<Draft, 'packets' | 'concerns'>>(draft: T, briefing: Briefing): T {
  const { concerns, packets } = draft;
  const found = [...concerns, ...dangersOfDirective(briefing, packets), ...dangersOfPackets(packets)];
  return { ...draft, concerns: [...new Map(found.map((each) => [each.reason, each])).values()] };
}

/** What is to be feared of work packets by what stands in them. */
export function dangersOfPackets(packets: readonly Checked[]): Concern[] {
  const all = packets.map(({ title, rationale, params }) => [title, rationale, params]);
  const text = textIn(packets.map(({ params }) => params));
  const leaving = textIn(packets.filter(leaves).map(({ params }) => params));
  return concernsIf([
    [hasUnseenText(all), 'critical', UNSEEN],
    [hasSecrets(text), 'critical', `The draft ${SECRETS}`],
    [has(leaving, words.OVERRIDE), 'critical', 'The draft asks to go round an approval or a rule.'],
    [has(leaving, words.PAID), 'critical', 'The draft says that money was paid or moved.'],
    ...lookAlikesIn(text),
  ]);
}

/** For each address and link: it may lead to somebody else than the reader believes. */
function lookAlikesIn(text: string): [boolean, Concern['risk'], string][] {
  // Looking for addresses takes most of the time, and without such letters there is none to find.
  if (!/\P{ASCII}|xn--|%/iu.test(text)) return [];
  const hosts = linksIn(text).map((link) => /^(?:[^/?#]*@)?([^/:?#]*)/.exec(link)![1]!);
  const found = [...new Set([...addressesIn(text), ...hosts])].flatMap((name) => {
    const reason = lookAlike(name);
    return reason === undefined ? [] : [`The address ${named(name)} ${reason}.`];
  });
  return found.slice(0, MAX_LOOK_ALIKES).map((reason) => [true, 'critical', reason]);
}

/** As it is read, and as it is sent to. */
function named(name: string): string {
  const at = name.lastIndexOf('@') + 1;
  const read = `${name.slice(0, at)}${domainToUnicode(name.slice(at))}`;
  return cutText(read === name ? `“${read}”` : `“${read}” (${name.slice(at)})`, 300);
}

function dangersOfDirective(
  { directive, feedback }: Pick<Briefing, 'directive' | 'feedback'>,
  packets: readonly Checked[],
): Concern[] {
  const given = [directive.text, directive.context, feedback.map(({ text }) => text)];
  const text = textIn(given);
  const unquoted = textIn([directive.text, feedback.map((round) => round.text)]).replace(QUOTED, ' ');
  const sentences = sentencesIn(unquoted);
  const asksFor = (command: RegExp) => sentences.some((sentence) => has(sentence, command));
  const isMail = packets.some(({ type }) => type === 'email.send' || type === 'directive.create');
  return concernsIf([
    [hasUnseenText(given), 'critical', UNSEEN],
    [has(text, words.OVERRIDE), 'critical', 'The directive asks to go round an approval or a rule.'],
    [hasSecrets(text), 'critical', `The directive ${SECRETS}`],
    [
      packets.some(leaves) && has(text, words.PAID),
      'critical',
      'The directive says that money was paid or moved.',
    ],
    [asksFor(words.PAYMENT), 'high', 'The directive asks for a payment.'],
    [asksFor(words.DELETION), 'high', 'The directive asks for a deletion.'],
    [asksFor(words.UNPROTECTED), 'high', 'The directive asks to switch protection off.'],
    [has(unquoted, words.FIRST_ASK), 'high', FIRST_ASK],
    [isMail && asksFor(words.EVERYBODY), 'high', 'The directive asks to write to everybody.'],
    ...lookAlikesIn(text),
  ]);
}

const MAX_LOOK_ALIKES = 10;
const UNSEEN = 'The text contains characters that cannot be seen.';
const SECRETS = 'speaks of secrets, such as passwords, keys or bank details.';
const FIRST_ASK = 'The directive wants somebody asked, or something to be so, before anything is sent.';

function concernsIf(found: readonly [boolean, Concern['risk'], string][]): Concern[] {
  return found.flatMap(([isFound, risk, reason]) => (isFound ? [{ risk, reason }] : []));
}

/** Whether somebody acts on it: what stays in the workspace misleads nobody outside, and no capo. */
function leaves({ type }: Checked): boolean {
  return isActionType(type) && ['message', 'call', 'delegation'].includes(ACTION_TYPES[type].kind);
}

const QUOTED = /“[^“”]*[”“]|„[^„“”"]*[“”"]|«[^«»]*»|(?<![\p{L}\p{N}])"[^"]*"/gu;
const MAX_SENTENCE = 400;

/** What each sentence asks for; a message begins behind an address and a colon, and ends with its paragraph. */
function sentencesIn(text: string): string[] {
  const asked = text.split(/\n\s*\n/).map((paragraph) => {
    const lines = paragraph.split('\n');
    const colons = lines.map((line) =>
      line.indexOf(':', line.includes('@') ? line.indexOf('@') : line.length),
    );
    const first = colons.findIndex((colon) => colon >= 0);
    if (first < 0) return paragraph;
    return [...lines.slice(0, first), lines[first]!.slice(0, colons[first])].join('\n');
  });
  return asked
    .flatMap((part) => part.split(/[.!?;:\n]+/))
    .map((sentence) => cutText(sentence.trim(), MAX_SENTENCE, ''));
}

/** All texts of a value, in the letters in which they are read. */
function textIn(value: unknown): string {
  return plainText(stringsIn(value).join('\n'));
}

function hasSecrets(text: string): boolean {
  return has(text, words.SECRETS) || has(text, words.SECRET_VALUE);
}

/** The expressions of the tables keep no state with `search`. */
function has(text: string, expression: RegExp): boolean {
  return text.search(expression) >= 0;
}

/**
 * Gives every mail of a draft the Reply-To of the workspace, and takes away any that the runner wrote: where answers go is
 * the workspace's to say. It becomes part of the work packet instead of being looked up when the mail is sent, so a person
 * sees it, the approval is bound to it, and a later change of the settings changes no mail that was approved.
 */
export function withReplyTo(draft: Draft, { sender }: Pick<Briefing, 'sender'>): Draft {
  const packets = draft.packets.map((packet) => {
    if (packet.type !== 'email.send') return packet;
    const { replyTo: _runners, ...params } = packet.params;
    return { ...packet, params: sender.replyTo === null ? params : { ...params, replyTo: sender.replyTo } };
  });
  return { ...draft, packets };
}
