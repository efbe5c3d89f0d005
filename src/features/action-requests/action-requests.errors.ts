import { defineError } from '../../platform/kernel/define-error.js';

export const AlreadyConsumed = defineError(
  'ALREADY_CONSUMED',
  409,
  'Another attempt has consumed this action request. Whether it was carried out is not known from here: do not act on it.',
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
