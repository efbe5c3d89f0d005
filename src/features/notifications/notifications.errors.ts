import { defineError } from '../../platform/kernel/define-error.js';

export const LinkUsed = defineError('LINK_USED', 410, 'This link has been used; it works once.');
