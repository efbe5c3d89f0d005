import { defineError } from '../../platform/kernel/define-error.js';

export const ExportRunning = defineError(
  'EXPORT_RUNNING',
  409,
  'The service makes another export at the moment, and one at a time; try again when that has ended.',
  { retryAfterSeconds: 30 },
);

export const ExportRequired = defineError(
  'EXPORT_REQUIRED',
  409,
  'A workspace is deleted only after an export of it that was read to its end and is not older than 7 days: export it first.',
);

export const FirstWorkspace = defineError(
  'FIRST_WORKSPACE',
  409,
  'The first workspace of the service cannot be deleted: its owners make the others, and its receipts tell of them.',
);

export const DeletionRequested = defineError(
  'DELETION_REQUESTED',
  409,
  'The deletion of this workspace was requested already.',
);

export const DeletionBegun = defineError(
  'DELETION_BEGUN',
  409,
  'The deletion of this workspace has begun; it cannot be taken back any more.',
);
