import { z } from 'zod';
import { defineError, type DomainError } from '../../platform/kernel/define-error.js';
import { text } from '../../platform/kernel/error-details.js';
import type { GuardianMode } from './terms.js';

/** What every feature answers that would let something leave while nothing may. */
export const GuardianHalted = defineError(
  'GUARDIAN_HALTED',
  423,
  'The kill switch is engaged; nothing is sent until an admin reverts it.',
  { details: z.object({ mode: text("The guardian's mode.", 'killed') }).optional() },
);

/** The same for a mode that is known, in the words of that mode. */
export function haltedIn(mode: GuardianMode): DomainError {
  const message = MESSAGES[mode];
  return new GuardianHalted({ ...(message && { message }), details: { mode } });
}

const MESSAGES: Partial<Record<GuardianMode, string>> = {
  observe: 'The guardian only observes; nothing is sent until an admin sets another mode.',
  recovering: 'A kill is being reverted; nothing is sent until that is done.',
};
