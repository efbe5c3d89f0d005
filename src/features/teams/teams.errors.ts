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

export const LimitReached = defineError(
  'LIMIT_REACHED',
  409,
  'A limit is reached; details.what and details.limit name it.',
);

/** Says which limit was reached, and of what. */
export function limitReached(what: keyof typeof LIMITED, limit: number): Error {
  const { owner, noun } = LIMITED[what];
  const message = `This ${owner} has reached its limit of ${limit.toLocaleString('en')} ${noun}.`;
  return new LimitReached({ message, details: { what, limit } });
}

const LIMITED = {
  workspaces: { owner: 'service', noun: 'workspaces' },
  teams: { owner: 'workspace', noun: 'teams' },
  'open invites': { owner: 'workspace', noun: 'open invites' },
  members: { owner: 'workspace', noun: 'members' },
  'members of a team': { owner: 'team', noun: 'members' },
} as const;

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
