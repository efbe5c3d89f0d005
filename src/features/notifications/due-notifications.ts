import { Injectable } from '@nestjs/common';
import type { StandingMember, WorkspaceSettings } from '../workspaces/index.js';
import { type Notice, NoticeSources } from './notice-source.js';
import type { Choice } from './notification-choice.js';
import type { NotificationEntity } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';
import { endOfQuietHours } from './quiet-hours.js';
import { isUrgentNow, type Verdict, verdictOn } from './verdict.js';

/** So many of what was told last are looked at for what still waits. */
const TOLD_BEFORE = 200;

/** For whom a mail is put together, and when. */
export interface MailContext {
  member: StandingMember;
  /** What holds for the member. */
  choice: Choice;
  settings: WorkspaceSettings;
  at: number;
}

/** What one member is to be told now: what can still be decided, by this member, and is still wanted. */
@Injectable()
export class DueNotifications {
  constructor(
    private readonly notifications: Notifications,
    private readonly sources: NoticeSources,
  ) {}

  /** So much of what is due; what cannot be told any more is skipped, and makes room for what comes behind it. */
  async look(context: MailContext, limit: number): Promise<NotificationEntity[]> {
    const { workspaceId, memberId } = context.member;
    for (;;) {
      const due = await this.notifications.due(workspaceId, memberId, context.at, limit);
      const timely = await this.timely(context, due);
      if (timely.length > 0 || due.length < limit) return timely;
    }
  }

  /**
   * Approvals that the member was told of in earlier mails and that nobody has decided since, the last told first; `isAll` where
   * there are certainly no more.
   */
  async toldBefore(context: MailContext): Promise<{ waiting: NotificationEntity[]; isAll: boolean }> {
    const { workspaceId, memberId } = context.member;
    const told = await this.notifications.toldBefore(workspaceId, memberId, TOLD_BEFORE);
    const { tell: waiting } = await this.byVerdict(context, told);
    return { waiting, isAll: told.length < TOLD_BEFORE };
  }

  /** What is due and is to be told now; the rest is skipped, or waits until the quiet hours end. */
  private async timely(
    context: MailContext,
    due: readonly NotificationEntity[],
  ): Promise<NotificationEntity[]> {
    const { member, at } = context;
    const { workspaceId } = member;
    const { tell, stale, unwanted, later } = await this.byVerdict(context, due);
    const gone = 'It was decided or changed meanwhile, or the member may not decide it any more.';
    this.notifications.skip(workspaceId, idsOf(stale), gone, at);
    this.notifications.skip(workspaceId, idsOf(unwanted), 'The member has chosen not to be told.', at);
    const quietUntil = quietUntilOf(context);
    if (quietUntil !== undefined) this.notifications.postpone(workspaceId, idsOf(later), quietUntil);
    return tell;
  }

  /** Each as urgent as it is by now. */
  private async byVerdict(
    context: MailContext,
    all: readonly NotificationEntity[],
  ): Promise<Record<Verdict, NotificationEntity[]>> {
    const { member, choice, at } = context;
    const current = await this.current(member.workspaceId, all, at);
    const inQuietHours = quietUntilOf(context) !== undefined;
    const sorted: Record<Verdict, NotificationEntity[]> = { tell: [], stale: [], unwanted: [], later: [] };
    for (const one of all) {
      const notice = current.get(one.entityId);
      const chosen = choice[this.sources.of(one.kind).setting];
      const verdict = verdictOn(one, notice, { member, chosen, inQuietHours });
      sorted[verdict].push({ ...one, urgent: isUrgentNow(one, notice) });
    }
    return sorted;
  }

  private async current(
    workspaceId: string,
    all: readonly NotificationEntity[],
    at: number,
  ): Promise<Map<string, Notice>> {
    const scope = { workspaceId, teamIds: 'all' } as const;
    const found = new Map<string, Notice>();
    for (const [kind, some] of Map.groupBy(all, (one) => one.kind)) {
      const current = await this.sources.of(kind).current(
        scope,
        some.map(({ entityId }) => entityId),
        at,
      );
      for (const [id, notice] of current) found.set(id, notice);
    }
    return found;
  }
}

function quietUntilOf({ choice, settings, at }: MailContext): number | undefined {
  return endOfQuietHours(at, choice.quietHours, settings.timezone);
}

function idsOf(notifications: readonly NotificationEntity[]): string[] {
  return notifications.map(({ notificationId }) => notificationId);
}
