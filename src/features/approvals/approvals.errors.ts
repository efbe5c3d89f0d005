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
  'The draft lacks input, which the details name. Supply it with PATCH /approvals/{approvalId} and the contentHash in If-Match: { "packets": [{ "workPacketId": "…", "params": { … } }] } with all parameters of the work packet, or "confirm": ["params.body"] for a value that is right as it stands.',
);
export const ApprovalExpired = defineError('APPROVAL_EXPIRED', 410, 'This approval has expired.');
