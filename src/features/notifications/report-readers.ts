import { Injectable } from '@nestjs/common';
import { seesWholeWorkspace } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Members, Teams, Workspaces } from '../workspaces/index.js';
import { choiceOf, NO_CHOICE } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { Unsubscribe } from './unsubscribe.js';

/** A member whom reports are mailed to. */
export interface ReportReader {
  memberId: string;
  name: string;
  address: string;
  wantsNone: boolean;
  isActive: boolean;
  /** Whose report they may read: everybody's, or that of these teams; of none: no report at all (docs/decisions/0060). */
  reads: 'all' | readonly { teamId: string; name: string }[];
  unsubscribeUrl: string;
}

/** Whether those whom reports would be mailed to want them, and may read them. */
@Injectable()
export class ReportReaders {
  constructor(
    private readonly members: Members,
    private readonly teams: Teams,
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly unsubscribe: Unsubscribe,
  ) {}

  /** The members with this address or one of these ids, also those who were removed; in the open transaction. */
  async of(
    scope: Scope,
    who: { address: string | null; memberIds: readonly string[] },
  ): Promise<ReportReader[]> {
    const { workspaceId } = scope;
    const members = await this.members.addressed(workspaceId, who);
    if (members.length === 0) return [];
    const settings = await this.workspaces.settings(scope);
    const own = await this.choices.ofAll(
      workspaceId,
      members.map(({ memberId }) => memberId),
    );
    const hasTeams = await this.teams.areThere(workspaceId);
    return members.map((member) => {
      const { memberId, name, email: address, isActive, teams } = member;
      const { reports } = choiceOf(settings, own.get(memberId) ?? NO_CHOICE);
      return {
        memberId,
        name,
        address,
        wantsNone: reports === 'none',
        isActive,
        reads: !hasTeams || seesWholeWorkspace(member) ? 'all' : teams,
        unsubscribeUrl: this.unsubscribe.urlFor({ workspaceId, memberId, list: 'reports' }),
      };
    });
  }
}
