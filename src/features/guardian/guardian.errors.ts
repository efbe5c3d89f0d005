import { defineError } from '../../platform/kernel/define-error.js';

export const GuardianHalted = defineError(
  'GUARDIAN_HALTED',
  423,
  'The kill switch is engaged; nothing is sent until an admin reverts it.',
);
export const PolicyDenied = defineError('POLICY_DENIED', 422, 'A standing order forbids this.');
