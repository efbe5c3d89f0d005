import { z } from 'zod';
import { defineError } from '../../platform/kernel/define-error.js';
import { text, texts } from '../../platform/kernel/error-details.js';

export const PolicyDenied = defineError('POLICY_DENIED', 422, 'A standing order forbids this.', {
  details: z.object({
    explanation: texts('Why, in sentences.', ['The standing order Quiet weekends forbids it.']).optional(),
    actionRequestId: text('The action request.', 'act_01khqx3v2gs0a0k4y6t1r8m5cd').optional(),
  }),
});
