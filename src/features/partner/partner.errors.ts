import { z } from 'zod';
import { defineError } from '../../platform/kernel/define-error.js';
import { count } from '../../platform/kernel/error-details.js';

export const StaleEvent = defineError(
  'STALE_EVENT',
  400,
  'firedAt is more than 5 minutes before or after the current time.',
  {
    details: z.object({
      firedAt: count('The time of the event, Unix milliseconds.', 1_771_401_600_000),
      serverTime: count('The current time, Unix milliseconds.', 1_771_402_200_000),
    }),
  },
);
