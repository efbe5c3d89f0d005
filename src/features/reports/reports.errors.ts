import { defineError } from '../../platform/kernel/define-error.js';
import { LIMIT } from '../../platform/kernel/error-details.js';

export const TooManySections = defineError(
  'TOO_MANY_SECTIONS',
  409,
  'A workspace can have ten report sections of its own: delete one first.',
  { details: LIMIT },
);

export const ReportMailOff = defineError(
  'REPORT_MAIL_OFF',
  409,
  'Reports are not mailed: set delivery.email and name a recipient with PUT /reports/config first.',
);
