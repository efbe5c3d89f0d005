import { defineError } from '../../platform/kernel/define-error.js';

export const ApprovalAlreadyDecided = defineError(
  'APPROVAL_ALREADY_DECIDED',
  409,
  'This approval has already been decided differently.',
);
export const ApprovalNotReady = defineError(
  'APPROVAL_NOT_READY',
  409,
  'The draft is not ready yet, so there is nothing to approve.',
  { retryAfterSeconds: 1 },
);
export const InputRequired = defineError(
  'INPUT_REQUIRED',
  409,
  'The draft lacks input, which the details name: edit it, or confirm the values that are right, with PATCH /approvals/{approvalId} with { "packets": [{ "workPacketId": "…", "confirm": ["params.body"] }] }.',
);
export const ApprovalExpired = defineError('APPROVAL_EXPIRED', 410, 'This approval has expired.');
