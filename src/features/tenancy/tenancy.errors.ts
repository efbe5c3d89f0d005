import { defineError } from '../../platform/kernel/define-error.js';

export const ExportRunning = defineError(
  'EXPORT_RUNNING',
  409,
  'Another export is running, and the service runs one at a time; try again later.',
  { retryAfterSeconds: 30 },
);

export const ExportRequired = defineError(
  'EXPORT_REQUIRED',
  409,
  'Export this workspace first: its deletion needs a complete export from the last 7 days.',
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
  'The deletion of this workspace has begun and cannot be cancelled.',
);
