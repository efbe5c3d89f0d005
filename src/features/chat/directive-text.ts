import { DomainError } from '../../platform/kernel/define-error.js';
import { hasUnseen, isBlank, withoutUnseen } from '../../platform/kernel/unseen.js';
import { beginsAsInstruction } from '../capos/index.js';
import type { DirectiveEntity } from '../directives/index.js';
import { addressesIn, plainWords } from './reply-text.js';

/** A message that hands in work: what of it is the directive, and what is said about it. */

const DIRECTIVE = /^\s*directive\s*:\s*/i;

/** The directive that a message is, as a person sees it; undefined where it does not begin like one. */
export function directiveIn(message: string): string | undefined {
  const seen = withoutUnseen(message);
  const text = seen.replace(DIRECTIVE, '').trim();
  if (isBlank(text)) return undefined;
  return DIRECTIVE.test(seen) || beginsAsInstruction(text) ? text : undefined;
}

/** Asks back, with all of the text. */
export function askBack(directive: string, message: string): string {
  const left = hasUnseen(message) ? '\nCharacters in it that cannot be seen are left out.' : '';
  return `Shall I hand this in as a directive? Answer "yes". Any other message drops it.\n\n${shown(directive)}${left}`;
}

export function createdText({ directiveId, approvalId, text }: DirectiveEntity, isKilled: boolean): string {
  const killed = isKilled ? ' The kill switch is engaged: work on it begins once that is lifted.' : '';
  return `Handed in as ${directiveId}:\n\n${shown(text)}\n\nThe draft waits for approval as ${approvalId}; nothing is sent before.${killed}`;
}

/** What was refused before anything was written. @throws any other error */
export function refusedText(directive: string, error: unknown): string {
  if (!(error instanceof DomainError) || error.status >= 500) throw error;
  const [first] = Array.isArray(error.details) ? (error.details as { message?: unknown }[]) : [];
  const why = typeof first?.message === 'string' ? `${first.message}.` : error.message;
  return `${shown(directive)}\n\nThis was not handed in: ${why}`;
}

const shown = (text: string) => `"${plainWords(text, addressesIn(text))}"`;
