import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { DecidingMembers, Workspaces } from '../workspaces/index.js';
import { choiceOf, NO_CHOICE } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { Unsubscribe } from './unsubscribe.js';

/** A member whom reports are mailed to. */
export interface ReportReader {
  name: string;
  wantsNone: boolean;
  unsubscribeUrl: string;
}

/** Whether those whom reports would be mailed to want them. */
@Injectable()
export class ReportReaders {
  constructor(
    private readonly members: DecidingMembers,
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly unsubscribe: Unsubscribe,
  ) {}

  /** Who of the workspace is reached at this address, in the open transaction; undefined: no member. */
  async at(scope: Scope, address: string): Promise<ReportReader | undefined> {
    const { workspaceId } = scope;
    const member = await this.members.reachedAt(workspaceId, address);
    if (!member) return undefined;
    const { memberId, name } = member;
    const settings = await this.workspaces.settings(scope);
    const own = await this.choices.ofAll(workspaceId, [memberId]);
    const { reports } = choiceOf(settings, own.get(memberId) ?? NO_CHOICE);
    const unsubscribeUrl = this.unsubscribe.urlFor({ workspaceId, memberId, list: 'reports' });
    return { name, wantsNone: reports === 'none', unsubscribeUrl };
  }
}
