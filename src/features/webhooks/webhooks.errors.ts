import { z } from 'zod';
import { defineError } from '../../platform/kernel/define-error.js';
import { LIMIT, text } from '../../platform/kernel/error-details.js';
import { MAX_DESTINATIONS } from './destination.js';

export const InvalidDestination = defineError(
  'INVALID_DESTINATION',
  422,
  'Nothing can be sent to this URL; details.reason names the rule.',
  { details: z.object({ reason: text('The rule that does not hold.', 'address') }) },
);

export const TooManyDestinations = defineError(
  'TOO_MANY_DESTINATIONS',
  409,
  `A workspace has at most ${MAX_DESTINATIONS} destinations; delete one first.`,
  { details: LIMIT },
);
