import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, hasRole, scopeOf } from '../../platform/auth/caller.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Workspaces } from '../workspaces/index.js';
import { choiceOf, type OwnChoice } from './notification-choice.js';
import { MailedMembers } from './mailed-members.reader.js';
import type { ChangeNotificationChoices, NotificationChoicesView } from './notification-choices.dto.js';
import { NotificationChoices } from './notification-choices.repository.js';

/** The member who chooses. */
type Chooser = Pick<Caller, 'workspaceId' | 'memberId' | 'name' | 'email' | 'role' | 'teamIds' | 'via'>;

/** A member chooses what they are mailed, over the settings of the workspace. */
@Injectable()
export class ChooseNotifications {
  constructor(
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly mailedMembers: MailedMembers,
    private readonly receipts: Receipts,
  ) {}

  async read(caller: Chooser): Promise<NotificationChoicesView> {
    return this.view(caller, await this.choices.of(caller));
  }

  async execute(caller: Chooser, body: ChangeNotificationChoices): Promise<NotificationChoicesView> {
    const before = await this.choices.of(caller);
    const { quietHours } = body;
    const after: OwnChoice = {
      approvals: body.approvals === undefined ? before.approvals : body.approvals,
      escalations: body.escalations === undefined ? before.escalations : body.escalations,
      reports: body.reports === undefined ? before.reports : body.reports,
      quietHours:
        quietHours === undefined
          ? before.quietHours
          : quietHours && { from: quietHours.from, to: quietHours.to },
      atAnyHour: body.atAnyHour ?? before.atAnyHour,
    };
    if (!isDeepStrictEqual({ ...before }, after)) {
      this.choices.save(caller, after);
      this.receipts.append({
        actor: actorOf(caller),
        action: 'notifications.chosen',
        entity: { type: 'member', id: caller.memberId },
        summary: `${caller.name} chose what they are mailed.`,
        details: { old: before, new: after },
      });
    }
    return this.view(caller, after);
  }

  private async view(caller: Chooser, own: OwnChoice): Promise<NotificationChoicesView> {
    const settings = await this.workspaces.settings(scopeOf(caller));
    return {
      address: isReachable(caller.email) ? caller.email : null,
      timezone: settings.timezone,
      own,
      effective: choiceOf(settings, own),
      mailed: hasRole(caller.role, 'admin') ? await this.mailedMembers.read(scopeOf(caller), settings) : null,
    };
  }
}
