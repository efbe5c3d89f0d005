import { defineError } from '../../platform/kernel/define-error.js';

/** What every feature answers that would let something leave while nothing may. */
export const GuardianHalted = defineError(
  'GUARDIAN_HALTED',
  423,
  'The kill switch is engaged; nothing is sent until an admin reverts it.',
);
