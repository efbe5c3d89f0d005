import { defineError } from '../../platform/kernel/define-error.js';
import { LIMIT, text } from '../../platform/kernel/error-details.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';

export const LimitReached = defineError(
  'LIMIT_REACHED',
  409,
  'A limit is reached; details.what and details.limit name it.',
  { details: LIMIT.extend({ what: text('Of what.', 'members') }) },
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
  'agent tokens': { owner: 'workspace', noun: 'tokens of agents' },
  'members of a team': { owner: 'team', noun: 'members' },
} as const;

/** A member of several teams who names none. */
export function teamNotNamed(): Error {
  const message = 'you are a member of several teams: name the team this is for';
  return new ValidationFailed({ details: [{ path: 'teamId', rule: 'isDefined', message }] });
}
