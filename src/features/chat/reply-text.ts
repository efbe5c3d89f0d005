import { cutText } from '../../platform/kernel/text.js';
import { withoutUnseen } from '../../platform/kernel/unseen.js';

/** What may stand in a reply: words that were written by others, or by a model. */

export const MAX_REPLY = 6_000;

/**
 * Whatever a client could turn into something to load or to follow, to an address that some data has named. Two slashes are enough
 * for a browser to leave its page, with or without a scheme before them, and it takes a backslash for a slash.
 */
const ADDRESS =
  /(?:(?:\b[a-z][a-z\d+.-]{1,20}:)?[/\\]{2,}|\bwww\.|\b(?:https?|ftp|file|blob|data|javascript|vbscript):)[^\s<>"'“”]+/giu;

/** What makes more than words of text in Markdown: the target of a link or an image, the name of one, a tag, an entity. */
const MARKUP: readonly (readonly [RegExp, string])[] = [
  [/\](?=[(:])/g, '] '],
  [/<(?=[a-z/!?])/gi, '< '],
  [/&(?=#?[a-z\d]+;)/gi, '& '],
];

/**
 * The text without what cannot be seen, without addresses other than those of `known`, and with nothing that a client which
 * renders Markdown would take for a link, an image, a tag or an entity: it would load an image from an address, and so tell its owner
 * what the text says. The text is plain: a space in the right place keeps the words as they are.
 *
 * Entities are broken up and not decoded, so what is left of an address that was written with them leads nowhere.
 */
export function plainWords(text: string, known: ReadonlySet<string> = new Set()): string {
  let shown = '';
  let end = 0;
  const visible = withoutUnseen(text);
  for (const { 0: address, index } of visible.matchAll(ADDRESS)) {
    shown += withoutMarkup(visible.slice(end, index));
    const named = trimmed(address);
    shown += known.has(named) ? named + withoutMarkup(address.slice(named.length)) : '[link removed]';
    end = index + address.length;
  }
  return shown + withoutMarkup(visible.slice(end));
}

const withoutMarkup = (words: string) =>
  MARKUP.reduce((text, [markup, apart]) => text.replace(markup, apart), words);

/** Of a member's own text, to be shown to them again. */
export function addressesIn(text: string): ReadonlySet<string> {
  return new Set((text.match(ADDRESS) ?? []).map(trimmed));
}

/** The reply of a model as it is shown and kept: {@link plainWords}, with the addresses that the member wrote. */
export function safeReply(reply: string, message: string): string {
  const text = plainWords(reply, addressesIn(message)).trim();
  return cutText(text === '' ? '…' : text, MAX_REPLY);
}

const trimmed = (address: string) => address.replace(/[).,;:!?\]]+$/, '');

export const spoken = (status: string) => status.replaceAll('_', ' ');

/** One line in quotation marks, which nothing inside closes. */
export function quoted(text: string, most = 160): string {
  return `“${cutText(text.replace(/\s+/g, ' ').trim(), most).replaceAll(/[“”]/g, '"')}”`;
}

/** Says that the one who speaks has decided or changed something. */
const CLAIM =
  /\b(?:i|we)(?:['’]ve| have| just| now| already|['’]ll| will| am going to)*\s+(?:approv|reject|releas|activat|paus|archiv|lift|revert|dismiss|sign(?:ed)? off|chang|switch|set|enabl|disabl|rais)(?:e|ed|es|ing)?\b(?!\s+(?:nothing|no\b))/i;

/** Whether a reply says that the chat has done what it never does. Words can be put otherwise: what was done stands below each reply. */
export function claimsAnAct(reply: string): boolean {
  return CLAIM.test(reply);
}
