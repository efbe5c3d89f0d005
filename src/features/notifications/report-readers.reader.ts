import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { notificationsOf, type NotificationsView } from '../workspaces/notifications.dto.js';
import { choiceOf, NO_CHOICE, type OwnChoice } from './notification-choice.js';

interface Found {
  name: string;
  own: OwnChoice['reports'];
  notifications: Partial<NotificationsView>;
}

/** Whether those whom reports would be mailed to want them. */
@Injectable()
export class ReportReaders {
  constructor(private readonly db: Db) {}

  /** Who of the workspace is reached at this address and has chosen to be mailed no reports; in the open transaction. */
  async whoDeclined(workspaceId: string, address: string): Promise<{ name: string } | undefined> {
    const [found] = await this.db.query<Found>(
      `select u.display_name as name, c.reports as own, w.notifications
       from members m
       join users u on u.user_id = m.user_id
       join workspaces w on w.workspace_id = m.workspace_id
       left join notification_choices c on c.workspace_id = m.workspace_id and c.member_id = m.member_id
       where m.workspace_id = $1 and m.status = 'active' and lower(u.email) = lower($2)`,
      [workspaceId, address],
    );
    if (!found) return undefined;
    const { name, own, notifications } = found;
    const settings = { notifications: notificationsOf(notifications), quietHours: null };
    const { reports } = choiceOf(settings, { ...NO_CHOICE, reports: own });
    return reports === 'none' ? { name } : undefined;
  }
}
