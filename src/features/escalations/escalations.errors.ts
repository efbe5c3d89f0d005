import { defineError } from '../../platform/kernel/define-error.js';
import { STATUS, text } from '../../platform/kernel/error-details.js';

export const EscalationAlreadyDecided = defineError(
  'ESCALATION_ALREADY_DECIDED',
  409,
  'This escalation has already been decided differently, or its cause is gone. The details say how it ended.',
  { details: STATUS.extend({ decision: text('The decision that was made.', 'dismiss').nullable() }) },
);
