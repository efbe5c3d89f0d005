import { defineError } from '../../platform/kernel/define-error.js';

export const AlreadyExists = defineError(
  'ALREADY_EXISTS',
  409,
  'There is another record by that name already.',
);
