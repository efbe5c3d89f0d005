import { defineError } from '../../platform/kernel/define-error.js';

export const PolicyDenied = defineError('POLICY_DENIED', 422, 'A standing order forbids this.');
