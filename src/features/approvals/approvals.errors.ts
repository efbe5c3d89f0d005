import { z } from 'zod';
import { defineError, MAX_DETAILS } from '../../platform/kernel/define-error.js';
import { count, FAULT, STATUS, text } from '../../platform/kernel/error-details.js';

export const ApprovalAlreadyDecided = defineError(
  'APPROVAL_ALREADY_DECIDED',
  409,
  'This approval has already been decided differently.',
  { details: STATUS },
);
export const ApprovalNotReady = defineError(
  'APPROVAL_NOT_READY',
  409,
  'The draft is not ready yet, so there is nothing to approve.',
  {
    retryAfterSeconds: 1,
    details: z
      .object({
        approvalId: text('The approval that is waited for.', 'apr_01khqw6q00tp9w1md2nw5hc13a').nullable(),
        retryAt: count('When a limit lets it through, Unix milliseconds.', 1_771_402_200_000).nullable(),
      })
      .optional(),
  },
);
const INPUT = FAULT.extend({
  rule: text('Always the same.', 'needsInput'),
  workPacketId: text('The work packet that lacks it.', 'pkt_01khqw6sb0xg7v9zhwnqcrxds8'),
});
export type InputDetail = z.infer<typeof INPUT>;
export const InputRequired = defineError(
  'INPUT_REQUIRED',
  409,
  'The draft lacks input, which the details name. Supply it with PATCH /approvals/{approvalId} and the contentHash in If-Match: { "packets": [{ "workPacketId": "…", "params": { … } }] } with all parameters of the work packet, or "confirm": ["params.body"] for a value that is right as it stands.',
  { details: z.array(INPUT).max(MAX_DETAILS) },
);
export const ApprovalExpired = defineError('APPROVAL_EXPIRED', 410, 'This approval has expired.');
