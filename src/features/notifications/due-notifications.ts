import { Injectable } from '@nestjs/common';
import { mayDecide, type StandingMember } from '../workspaces/deciding-members.repository.js';
import type { WorkspaceSettings } from '../workspaces/workspaces.repository.js';
import { type Notice, NoticeSources } from './notice-source.js';
import type { Choice } from './notification-choice.js';
import type { NotificationEntity } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';
import { endOfQuietHours } from './quiet-hours.js';

/** For whom a mail is put together, and when. */
export interface Situation {
  member: StandingMember;
  /** What holds for the member. */
  choice: Choice;
  settings: WorkspaceSettings;
  at: number;
}

/** What one member is to be told now: of what is due what can still be decided, by this member, and is still wanted. */
@Injectable()
export class DueNotifications {
  constructor(
    private readonly notifications: Notifications,
    private readonly sources: NoticeSources,
  ) {}

  /** So much of it; what cannot be told any more is skipped, and makes room for what comes behind it. */
  async look(situation: Situation, limit: number): Promise<NotificationEntity[]> {
    const { workspaceId, memberId } = situation.member;
    for (;;) {
      const due = await this.notifications.due(workspaceId, memberId, situation.at, limit);
      const timely = await this.timely(situation, due);
      if (timely.length > 0 || due.length < limit) return timely;
    }
  }

  /** What is due and is to be told now; the rest is skipped, or waits until the quiet hours end. */
  private async timely(
    { member, choice, settings, at }: Situation,
    due: readonly NotificationEntity[],
  ): Promise<NotificationEntity[]> {
    const { workspaceId } = member;
    const current = await this.current(workspaceId, due, at);
    const stale: string[] = [];
    const unwanted: string[] = [];
    const early: string[] = [];
    const quietUntil = endOfQuietHours(at, choice.quietHours, settings.timezone);
    const timely = due.filter((one) => {
      const notice = current.get(one.entityId);
      const chosen = choice[this.sources.of(one.kind).setting];
      const isUrgent = one.urgent || notice?.isUrgent === true;
      const list =
        notice?.revision !== one.revision ||
        notice.notTo.includes(member.memberId) ||
        !mayDecide(member, notice.teamId)
          ? stale
          : chosen === 'none' || (chosen === 'urgent' && !isUrgent)
            ? unwanted
            : quietUntil !== undefined && !isUrgent && one.status === 'waiting'
              ? early
              : undefined;
      list?.push(one.notificationId);
      return list === undefined;
    });
    const gone = 'It was decided or changed meanwhile, or the member may not decide it any more.';
    this.notifications.skip(workspaceId, stale, gone, at);
    this.notifications.skip(workspaceId, unwanted, 'The member has chosen not to be told.', at);
    if (quietUntil !== undefined) this.notifications.postpone(workspaceId, early, quietUntil);
    return timely;
  }

  private async current(
    workspaceId: string,
    due: readonly NotificationEntity[],
    at: number,
  ): Promise<Map<string, Notice>> {
    const scope = { workspaceId, teamIds: 'all' } as const;
    const all = new Map<string, Notice>();
    for (const [kind, some] of Map.groupBy(due, (one) => one.kind)) {
      const current = await this.sources.of(kind).current(
        scope,
        some.map(({ entityId }) => entityId),
        at,
      );
      for (const [id, notice] of current) all.set(id, notice);
    }
    return all;
  }
}
