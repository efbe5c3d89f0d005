import { defineError } from '../../platform/kernel/define-error.js';

export const ApprovalAlreadyDecided = defineError(
  'APPROVAL_ALREADY_DECIDED',
  409,
  'This approval was decided already, in another way.',
);
export const ApprovalNotReady = defineError(
  'APPROVAL_NOT_READY',
  409,
  'The draft is still being made; there is nothing to approve yet.',
  { retryAfterSeconds: 1 },
);
export const ApprovalExpired = defineError(
  'APPROVAL_EXPIRED',
  410,
  'This approval has expired; it approves nothing.',
);
export const ContentChanged = defineError(
  'CONTENT_CHANGED',
  412,
  'The content is not the one that If-Match names; read it again.',
);
