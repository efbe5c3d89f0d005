import { defineError } from '../../platform/kernel/define-error.js';
import { LIMIT } from '../../platform/kernel/error-details.js';

export const TooManySchedules = defineError(
  'TOO_MANY_SCHEDULES',
  409,
  'A team can have 100 schedules, and so can the workspace for no team: delete one first.',
  { details: LIMIT },
);
