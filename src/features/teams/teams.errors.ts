import { defineError } from '../../platform/kernel/define-error.js';

export const LastOwner = defineError(
  'LAST_OWNER',
  409,
  'A workspace must keep an owner: make another member an owner first.',
);

export const TeamHasOpenWork = defineError(
  'TEAM_HAS_OPEN_WORK',
  409,
  'The team has open work: say with moveTo which team it goes to, or null for no team.',
);

export const InviteExpired = defineError(
  'INVITE_EXPIRED',
  410,
  'This invite has expired or was withdrawn; ask for another.',
);

export const InviteAccepted = defineError(
  'INVITE_ACCEPTED',
  409,
  'This invite was accepted already; it can be used once.',
);

export const AccountExists = defineError(
  'ACCOUNT_EXISTS',
  409,
  'An account with the invited address exists already, and this is not its password.',
);
