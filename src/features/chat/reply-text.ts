import { cutText } from '../../platform/kernel/text.js';

/** What may stand in a reply that a model wrote. */

export const MAX_REPLY = 6_000;

/** C0 except line breaks and tabs, DEL, C1, and what turns the direction of text or shows as nothing. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- removing control characters is the purpose
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

/** Whatever a client could turn into something to load or to follow, to an address that some data has named. */
const ADDRESS = /(?:\b[a-z][a-z\d+.-]{1,20}:\/\/|\bwww\.|\b(?:data|javascript|vbscript):)[^\s<>"']+/giu;

/**
 * The reply as it is shown and kept: without invisible characters, and without addresses other than those that the member
 * wrote. A client that renders Markdown would load an image from one, and tell its owner what the reply says.
 */
export function safeReply(reply: string, message: string): string {
  const written = new Set((message.match(ADDRESS) ?? []).map(trimmed));
  const text = reply
    .toWellFormed()
    .replace(INVISIBLE, '')
    .replace(ADDRESS, (address) => (written.has(trimmed(address)) ? address : '[link removed]'))
    .trim();
  return cutText(text === '' ? '…' : text, MAX_REPLY);
}

function trimmed(address: string): string {
  return address.replace(/[).,;:!?\]]+$/, '');
}

/** In the words of several languages: that the one who speaks has decided or changed something. */
const CLAIMS = [
  /\b(?:i|we)(?:['’]ve| have| just| now| already|['’]ll| will| am going to)*\s+(?:approv|reject|releas|activat|paus|archiv|lift|revert|dismiss|sign(?:ed)? off|chang|switch|set|enabl|disabl|rais)(?:e|ed|es|ing)?\b(?!\s+(?:nothing|no\b))/i,
  /\bich habe\b.{0,80}\b(?:genehmigt|freigegeben|abgelehnt|aktiviert|geändert|umgestellt|umgeschaltet)\b/i,
  /\bj['’]ai\b.{0,80}\b(?:approuvé|validé|rejeté|activé|changé|modifié)(?!\p{L})/iu,
  /\bhe\b.{0,80}\b(?:aprobado|rechazado|activado|cambiado)\b/i,
  /\bho\b.{0,80}\b(?:approvato|respinto|attivato|cambiato)\b/i,
];

/** Whether a reply says that the chat has done what it never does. Words can be put otherwise: what was done stands below each reply. */
export function claimsAnAct(reply: string): boolean {
  return CLAIMS.some((claim) => claim.test(reply));
}
