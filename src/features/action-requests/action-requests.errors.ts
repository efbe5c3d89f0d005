import { defineError } from '../../platform/kernel/define-error.js';

export const AlreadyConsumed = defineError(
  'ALREADY_CONSUMED',
  409,
  'Another attempt has consumed this action request. Whether it was carried out is not known from here: do not act on it.',
);
export const ActionNotDecided = defineError(
  'APPROVAL_NOT_READY',
  409,
  'Nobody has decided about this action request yet.',
  { retryAfterSeconds: 5 },
);
export const ToolChanged = defineError(
  'TOOL_CHANGED',
  409,
  'The tool is not described as it was when this was decided. Ask again.',
);
export const ActionExpired = defineError(
  'ACTION_EXPIRED',
  410,
  'The time in which this action request could be consumed has passed. Ask again.',
);
export const OtherParams = defineError(
  'CONTENT_CHANGED',
  412,
  'These are not the parameters that were decided: use those of the action request.',
);
