import type { ApprovalSummary, BootstrapView } from '@consigliere/sdk';
import { mayAct, type Role } from '../me.js';

/** Who may approve, in a sentence; undefined where it is everybody who decides. */
export function approversOf({ votes: { need, have, by, approvers } }: ApprovalSummary): string[] {
  const named = approvers.map(({ name, roles, memberIds }) => {
    const who = [
      ...roles.map((role) => `the role ${role}`),
      ...(memberIds.length > 0
        ? [`${memberIds.length} named ${memberIds.length === 1 ? 'person' : 'people'}`]
        : []),
    ];
    return `The standing order “${name}” lets ${who.join(' or ')} approve.`;
  });
  if (need < 2) return named;
  const voted = by.map((vote) => vote.by.name).join(', ');
  return [`${have} of ${need} people have approved${voted && `: ${voted}`}.`, ...named];
}

/** Why this person may not decide; undefined: they may, as far as the page can tell. The service has the last word. */
export function refusalOf(approval: ApprovalSummary, me: BootstrapView | undefined): string | undefined {
  if (!me) return undefined;
  const { teamId, votes, requestedBy } = approval;
  if (!mayAct(me, 'operator', teamId)) {
    return 'You may read this. Deciding needs the role operator.';
  }
  const { memberId } = me.operator;
  if (votes.by.some(({ by }) => by.id === memberId)) {
    return 'You have approved this. Somebody else has to approve it too.';
  }
  const shut = votes.approvers.find(
    ({ roles, memberIds }) =>
      !memberIds.includes(memberId) && !roles.some((role) => mayAct(me, role as Role, teamId)),
  );
  if (shut) return `You may not approve this: the standing order “${shut.name}” names others.`;
  if (votes.need > 1 && requestedBy.id === memberId) {
    return 'You asked for this, so that others have to approve it.';
  }
  return undefined;
}
