import type { MemberView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { admin, client } from '../session.js';

export function useConfig(isAdmin: boolean) {
  return useQuery({
    queryKey: ['report', 'config'],
    queryFn: () => client.reports.getConfig(),
    enabled: isAdmin,
  });
}

/** As many members, and as many invites, are offered as recipients. */
export const MOST_OFFERED = 100;

/** The members, for those who name recipients or read what became of their mails. */
export function useMembers(isAdmin: boolean) {
  return useQuery({
    queryKey: ['member', 'active'],
    queryFn: () => client.members.list({ status: 'active', limit: MOST_OFFERED }),
    enabled: isAdmin,
    staleTime: 60_000,
  }).data?.items;
}

/** Those who are invited and have not accepted yet. */
export function useInvites() {
  return useQuery({
    queryKey: ['invite', 'pending'],
    queryFn: () => admin.invites.list({ status: 'pending', limit: MOST_OFFERED }),
    staleTime: 60_000,
  }).data?.items;
}

export function nameOf(members: readonly MemberView[] | undefined, memberId: string): string {
  return members?.find((member) => member.memberId === memberId)?.displayName ?? memberId;
}
