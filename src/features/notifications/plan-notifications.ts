import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { isId } from '../../platform/kernel/ids.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { TELL_MEMBERS } from '../terms/index.js';
import { Members, Workspaces } from '../workspaces/index.js';
import { NoticeSources } from './notice-source.js';
import { choiceOf, NO_CHOICE, whenToTell } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { SEND_WORK, SendNotifications } from './send-notifications.js';
import type { NotificationKind } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';

/** More members than this are not mailed about one thing: those of its team first. */
const MOST_MEMBERS = 200;

/**
 * Who is told of something, and when. It is enqueued in the transaction that makes something wait for a person, so that none
 * is forgotten, and done after it, so that no approval waits for a list of members or for a mail server.
 */
@Injectable()
export class PlanNotifications implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly workspaces: Workspaces,
    private readonly members: Members,
    private readonly choices: NotificationChoices,
    private readonly sources: NoticeSources,
    private readonly notifications: Notifications,
    private readonly sendNotifications: SendNotifications,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: TELL_MEMBERS,
      pool: 2,
      perQueue: 2,
      tries: 5,
      run: (item) => this.execute(item),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem): Promise<void> {
    const { workspaceId, id } = item;
    const scope = scopeOfWork(item);
    const kind = kindOf(item);
    const source = this.sources.of(kind);
    await this.db.transaction(scope, async () => {
      this.work.complete(item);
      const at = this.clock.now();
      const notice = (await source.current(scope, [id], at)).get(id);
      if (!notice) return;
      const { revision, teamId, role, isUrgent, isImposed = false, onlyTo = null, notTo } = notice;
      const settings = await this.workspaces.settings(scope);
      const whom = { role, only: onlyTo, except: notTo, limit: MOST_MEMBERS };
      const members = await this.members.deciding(workspaceId, teamId, whom);
      const reachable = members.filter(({ email }) => isReachable(email)).map(({ memberId }) => memberId);
      if (reachable.length === 0) return;
      const own = await this.choices.ofAll(workspaceId, reachable);
      const to = reachable.flatMap((memberId) => {
        const choice = choiceOf(settings, own.get(memberId) ?? NO_CHOICE);
        const telling = isImposed
          ? { dueAt: at, inDigest: false }
          : whenToTell(source.setting, { isUrgent, at, zone: settings.timezone }, choice);
        return telling ? [{ memberId, ...telling }] : [];
      });
      if (to.length === 0) return;
      this.notifications.add(workspaceId, {
        kind,
        entityId: id,
        revision,
        teamId,
        urgent: isUrgent,
        createdAt: at,
        to,
      });
      this.work.enqueueBy(
        SEND_WORK,
        to.map(({ memberId, dueAt }) => ({ id: memberId, waitMs: dueAt - at })),
      );
    });
  }

  private async giveUp(item: WorkItem, error: WorkError): Promise<void> {
    const kind = kindOf(item);
    const notice = (await this.sources.of(kind).current(scopeOfWork(item), [item.id], this.clock.now())).get(
      item.id,
    );
    // Else nobody has to be told any more.
    if (notice) this.sendNotifications.notPlanned(kind, item.id, notice, error);
  }
}

function kindOf({ id }: WorkItem): NotificationKind {
  if (isId('apr', id)) return 'approval';
  if (isId('esc', id)) return 'escalation';
  return isId('dir', id) ? 'failure' : 'kill';
}
