import { Injectable } from '@nestjs/common';
import { seesWholeWorkspace } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { DecidingMembers, Teams, Workspaces } from '../workspaces/index.js';
import { choiceOf, NO_CHOICE } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { Unsubscribe } from './unsubscribe.js';

/** A member whom reports are mailed to. */
export interface ReportReader {
  memberId: string;
  name: string;
  address: string;
  wantsNone: boolean;
  /** Where there are teams, only owner and admins see what all of them do (docs/decisions/0023). */
  seesWhole: boolean;
  unsubscribeUrl: string;
}

/** Whether those whom reports would be mailed to want them, and may read them. */
@Injectable()
export class ReportReaders {
  constructor(
    private readonly members: DecidingMembers,
    private readonly teams: Teams,
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly unsubscribe: Unsubscribe,
  ) {}

  /** The active members with this address or one of these ids, in the open transaction. */
  async of(
    scope: Scope,
    who: { address: string | null; memberIds: readonly string[] },
  ): Promise<ReportReader[]> {
    const { workspaceId } = scope;
    const members = await this.members.reached(workspaceId, who);
    if (members.length === 0) return [];
    const settings = await this.workspaces.settings(scope);
    const own = await this.choices.ofAll(
      workspaceId,
      members.map(({ memberId }) => memberId),
    );
    const hasTeams = await this.teams.areThere(workspaceId);
    return members.map((member) => {
      const { memberId, name, email: address } = member;
      const { reports } = choiceOf(settings, own.get(memberId) ?? NO_CHOICE);
      return {
        memberId,
        name,
        address,
        wantsNone: reports === 'none',
        seesWhole: !hasTeams || seesWholeWorkspace(member),
        unsubscribeUrl: this.unsubscribe.urlFor({ workspaceId, memberId, list: 'reports' }),
      };
    });
  }
}
