import type { BootstrapView, InviteView, MemberView, ReportConfigView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { useMails } from '../people/mails.js';
import { client } from '../session.js';
import { nameOf } from './use-config.js';

/** Those who are named and are mailed now, in words. */
export function namedIn(
  { delivery: { email, emailAddress, memberIds } }: ReportConfigView,
  members: readonly MemberView[] | undefined,
): string[] {
  if (!email) return [];
  const names = memberIds.map((id) => nameOf(members, id));
  return emailAddress === null ? names : [...names, emailAddress];
}

/** The addresses of those who are chosen and have not accepted. */
export function invitedIn({ delivery }: ReportConfigView, invites: readonly InviteView[]): string[] {
  const chosen = delivery.inviteIds.flatMap(
    (id) => invites.find(({ inviteId }) => inviteId === id)?.email ?? [],
  );
  return [...new Set(chosen)];
}

export function MailedLater({
  config,
  invites,
}: {
  config: ReportConfigView;
  invites: readonly InviteView[];
}) {
  const later = invitedIn(config, invites);
  return later.length === 0 ? null : <>{listed(later)}: mailed once they accept their invite.</>;
}

export const listed = (names: readonly string[]) => new Intl.ListFormat('en').format(names);

/** To whom it goes really: a member may have chosen none, and without a mail server it reaches nobody. */
export function MailedTo({
  me,
  config,
  members,
}: {
  me: BootstrapView;
  config: ReportConfigView;
  members: readonly MemberView[];
}) {
  const mailed = useMails().data?.mailed?.reports;
  const named = namedIn(config, members);
  if (named.length === 0) return <>It is mailed to nobody.</>;
  if (!me.features.mailServer)
    return <>It would be mailed to {listed(named)}, and is mailed to nobody without a mail server.</>;
  if (!mailed) return null;
  const { emailAddress, memberIds } = config.delivery;
  const addresses = new Set(mailed.map((address) => address.toLowerCase()));
  const reached = members.filter(({ memberId }) => memberIds.includes(memberId));
  const isMailed = ({ email }: MemberView) => addresses.has(email.toLowerCase());
  const others = emailAddress !== null && addresses.has(emailAddress.toLowerCase()) ? [emailAddress] : [];
  const to = [...reached.filter(isMailed).map(({ displayName }) => displayName), ...others];
  const none = reached.filter((member) => !isMailed(member)).map(({ displayName }) => displayName);
  return (
    <>
      {to.length > 0 ? `It is mailed to ${listed(to)}.` : 'It is mailed to nobody.'}
      {none.length > 0 &&
        ` ${listed(none)} ${none.length === 1 ? 'gets' : 'get'} no mail: reports are switched off for them, they are in no team, or their address is unreachable.`}
    </>
  );
}

/** What a member is mailed, in words: what they may read. */
export function useGets(me: BootstrapView): (member: Pick<MemberView, 'role' | 'teams'>) => string {
  // What a team did stays its own after it was archived.
  const archived = useQuery({
    queryKey: ['team', 'archived', 'any'],
    queryFn: () => client.teams.list({ status: 'archived', limit: 1 }),
    enabled: me.teams.length === 0,
  }).data?.items.length;
  const hasTeams = me.teams.length > 0 || archived !== 0;
  return ({ role, teams }) => {
    if (!hasTeams || role === 'owner' || role === 'admin') return 'everything';
    const names = me.teams
      .filter(({ teamId }) => teams.some((team) => team.teamId === teamId))
      .map(({ name }) => name);
    if (names.length === 0) return 'nothing while in no team';
    return names.length === 1 ? `what team ${names[0]} does` : `what teams ${listed(names)} do`;
  };
}
