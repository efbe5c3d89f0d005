import type { BootstrapView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { client } from './session.js';

export type Role = BootstrapView['role'];

const RANKS: readonly Role[] = ['viewer', 'operator', 'admin', 'owner'];

const ME = { queryKey: ['me'], queryFn: () => client.bootstrap.get(), staleTime: 300_000 };

/** Who uses the page, their teams and rights. */
export function useMeQuery() {
  return useQuery(ME);
}

/** {@link useMeQuery}; undefined until it is known. */
export function useMe(): BootstrapView | undefined {
  return useMeQuery().data;
}

/** Whether a person has at least this role, in the workspace or in the team of a record. */
export function mayAct(me: BootstrapView | undefined, role: Role, teamId?: string | null): boolean {
  if (!me) return false;
  const inTeam = me.teams.find((team) => team.teamId === teamId)?.role as Role | null | undefined;
  const least = RANKS.indexOf(role);
  return RANKS.indexOf(me.role) >= least || (!!inTeam && RANKS.indexOf(inTeam) >= least);
}

/** Whether a person has at least this role somewhere: in the workspace or in one of their teams. */
export function mayActSomewhere(me: BootstrapView | undefined, role: Role): boolean {
  return mayAct(me, role) || !!me?.teams.some(({ teamId }) => mayAct(me, role, teamId));
}

/** How a person calls each capo, such as Ops for capo_ops. A row that appears has nothing read again for it. */
export function useCapoNames(): (capo: string) => string {
  const me = useQuery({ ...ME, enabled: false });
  return (capo) => me.data?.capos.find(({ role }) => role === capo)?.name ?? capo;
}
