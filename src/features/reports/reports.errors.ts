import { defineError } from '../../platform/kernel/define-error.js';

export const TooManySections = defineError(
  'TOO_MANY_SECTIONS',
  409,
  'A workspace can have ten report sections of its own: delete one first.',
);

export const ReportMailOff = defineError(
  'REPORT_MAIL_OFF',
  409,
  'Reports are not mailed: set delivery.emailAddress and delivery.email with PUT /reports/config first.',
);
