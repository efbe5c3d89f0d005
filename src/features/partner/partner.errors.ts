import { defineError } from '../../platform/kernel/define-error.js';

export const StaleEvent = defineError(
  'STALE_EVENT',
  400,
  'firedAt is more than 5 minutes before or after the current time.',
);
