import { z } from 'zod';
import { defineError } from '../../platform/kernel/define-error.js';
import { count } from '../../platform/kernel/error-details.js';

export const LastOwner = defineError(
  'LAST_OWNER',
  409,
  'A workspace must keep an owner: make another member an owner first.',
);

export const TeamHasOpenWork = defineError(
  'TEAM_HAS_OPEN_WORK',
  409,
  'The team has open work: say with moveTo which team it goes to, or null for no team.',
  {
    details: z.object({
      directives: count('Directives that are open.', 2),
      approvals: count('Approvals that are pending.', 1),
      workPackets: count('Work packets that are open.', 3),
      standingOrders: count('Standing orders in force.', 0),
      actionRequests: count('Action requests of agents that have neither ended nor been completed.', 0),
    }),
  },
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
