import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { isId } from '../../platform/kernel/ids.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { TELL_MEMBERS } from '../terms/index.js';
import { ReadyApprovals, type TellOfApproval } from '../approvals/index.js';
import { type DecidingMember, Members, type WorkspaceSettings, Workspaces } from '../workspaces/index.js';
import { noticeOf } from './approval-notices.js';
import { type Notice, NoticeSources } from './notice-source.js';
import { choiceOf, NO_CHOICE, type OwnChoice, whenToTell } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import { SEND_WORK, SendNotifications } from './send-notifications.js';
import type { NotificationKind } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';

/** More members than this are not mailed about one thing: those of its team first. */
const MOST_MEMBERS = 200;

/** What members are told of. */
interface Told {
  workspaceId: string;
  kind: NotificationKind;
  id: string;
  notice: Notice;
  at: number;
}

/**
 * Who is told of something, and when. It is enqueued in the transaction that makes something wait for a person, so that none
 * is forgotten, and done after it, so that no approval waits for a long list of members; a draft that is decided as it is made
 * looks up a short one with its locks, and plans its mails in its own transaction.
 */
@Injectable()
export class PlanNotifications implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly workspaces: Workspaces,
    private readonly readyApprovals: ReadyApprovals,
    private readonly members: Members,
    private readonly choices: NotificationChoices,
    private readonly sources: NoticeSources,
    private readonly notifications: Notifications,
    private readonly sendNotifications: SendNotifications,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.readyApprovals.register((workspaceId, teamId) => this.lookUp(workspaceId, teamId));
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
      const [current, settings] = await Promise.all([
        source.current(scope, [id], at),
        this.workspaces.settings(scope),
      ]);
      const notice = current.get(id);
      if (!notice) return;
      const { teamId, role, onlyTo = null, notTo } = notice;
      const whom = { role, only: onlyTo, except: notTo, limit: MOST_MEMBERS };
      const members = await this.members.deciding(workspaceId, teamId, whom);
      if (members.length === 0) return;
      const ids = members.map(({ memberId }) => memberId);
      const own = await this.choices.ofAll(workspaceId, ids);
      this.tell({ workspaceId, kind, id, notice, at }, { settings, members, own });
    });
  }

  /** For approvals that become ready in the open transaction; for more members than are mailed it is work of its own. */
  private async lookUp(workspaceId: string, teamId: string | null): Promise<TellOfApproval | undefined> {
    const role = 'operator';
    const [settings, members, own] = await Promise.all([
      this.workspaces.settings({ workspaceId, teamIds: 'all' }),
      this.members.deciding(workspaceId, teamId, { role, only: null, except: [], limit: MOST_MEMBERS + 1 }),
      this.choices.ofDeciding(workspaceId, teamId, role),
    ]);
    if (members.length > MOST_MEMBERS) return undefined;
    return (approval, at) => {
      const notice = noticeOf(approval, at);
      const told = members.filter(({ memberId }) => !notice.notTo.includes(memberId));
      const what = { workspaceId, kind: 'approval', id: approval.approvalId, notice, at } as const;
      this.tell(what, { settings, members: told, own });
    };
  }

  /** Plans the mails to these members, in the open transaction. */
  private tell(
    { workspaceId, kind, id, notice, at }: Told,
    {
      settings,
      members,
      own,
    }: {
      settings: WorkspaceSettings;
      members: readonly DecidingMember[];
      own: ReadonlyMap<string, OwnChoice>;
    },
  ): void {
    const { setting } = this.sources.of(kind);
    const { revision, teamId, isUrgent, isImposed = false } = notice;
    const to = members.flatMap(({ memberId, email }) => {
      if (!isReachable(email)) return [];
      const telling = isImposed
        ? { dueAt: at, inDigest: false }
        : whenToTell(
            setting,
            { isUrgent, at, zone: settings.timezone },
            choiceOf(settings, own.get(memberId) ?? NO_CHOICE),
          );
      return telling ? [{ memberId, ...telling }] : [];
    });
    if (to.length === 0) return;
    const about = { kind, entityId: id, revision, teamId, urgent: isUrgent, createdAt: at };
    this.notifications.add(workspaceId, { ...about, to });
    this.work.enqueueBy(
      SEND_WORK,
      to.map(({ memberId, dueAt }) => ({ id: memberId, waitMs: dueAt - at })),
    );
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
