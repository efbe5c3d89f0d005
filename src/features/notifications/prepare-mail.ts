import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import type { NewReceipt } from '../../platform/receipts/receipts.js';
import type { MailMessage } from '../mail/mail-message.js';
import { DecidingMembers } from '../workspaces/deciding-members.repository.js';
import { Workspaces } from '../workspaces/workspaces.repository.js';
import { mailOf } from './blocks.js';
import { digestOf, MOST_LISTED } from './digest.js';
import { DueNotifications, type Situation } from './due-notifications.js';
import { type Addressee, type DigestEntry, NoticeSources } from './notice-source.js';
import { choiceOf, isReachable, NO_CHOICE } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import type { NotificationEntity, NotificationKind } from './notification.entity.js';
import { nextMail } from './next-mail.js';
import { Notifications } from './notifications.repository.js';

/** Enough to tell whether it is a digest: whoever has ten thousand is not looked through for each that comes. */
const FIRST_LOOK = 50;
/** So many are told of in one digest at most. */
const MOST_IN_MAIL = 10_000;
/** So far back is looked for what still waits. */
const TOLD_BEFORE = 200;
/** So many ids stand in the receipt of a digest. */
const IDS_IN_RECEIPT = 50;

/** A mail that is put together, and what its receipt says. */
export interface PreparedMail {
  mailId: string;
  message: MailMessage;
  /** How often it could not be handed to the mail server. */
  tries: number;
  receipt: Pick<NewReceipt, 'entity'> &
    Partial<Pick<NewReceipt, 'teamId' | 'directiveId' | 'details'>> & { name: string; what: string };
}

/** Either a mail, or in how long there may be one; null: not before something new comes. */
export type Prepared = { mail: PreparedMail } | { mail?: undefined; waitMs: number | null };

/**
 * Puts the next mail to a member together, in the open transaction: of what is due to be told what can still be decided, by
 * this member, and is still wanted now.
 */
@Injectable()
export class PrepareMail {
  constructor(
    private readonly notifications: Notifications,
    private readonly due: DueNotifications,
    private readonly members: DecidingMembers,
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly sources: NoticeSources,
    private readonly clock: Clock,
  ) {}

  async execute(workspaceId: string, memberId: string): Promise<Prepared> {
    const at = this.clock.now();
    const settings = await this.workspaces.settings({ workspaceId, teamIds: 'all' });
    const member = await this.members.find(workspaceId, memberId);
    if (!member || !isReachable(member.email)) {
      this.notifications.skipAll(workspaceId, memberId, 'The member has left, or has no address.', at);
      return { waitMs: null };
    }
    const own = (await this.choices.ofAll(workspaceId, [memberId])).get(memberId) ?? NO_CHOICE;
    const mail = await this.next({ member, choice: choiceOf(settings, own), settings, at });
    if (mail) return mail;
    const next = await this.notifications.nextDue(workspaceId, memberId);
    return { waitMs: next === null ? null : Math.max(0, next - at) };
  }

  private async next(situation: Situation): Promise<Prepared | undefined> {
    const first = await this.due.look(situation, FIRST_LOOK);
    if (first[0]?.status === 'sending') return this.resume(situation, first[0].mailId!);
    const { workspaceId, memberId } = situation.member;
    const lately = await this.notifications.sentLately(workspaceId, memberId, situation.at);
    const dueInDigest = first.filter(({ inDigest }) => inDigest).length;
    const next = nextMail({ due: first.length, dueInDigest, ...lately }, situation.at);
    switch (next.mail) {
      case 'none':
        return undefined;
      case 'later':
        return { waitMs: next.waitMs };
      case 'single':
        return this.begin(situation, first.slice(0, 1), false);
      case 'digest':
        return this.begin(situation, await this.due.look(situation, MOST_IN_MAIL), true);
    }
  }

  /** A mail that was put together before, and perhaps sent: what it was about is told once more. */
  private async resume(situation: Situation, mailId: string): Promise<Prepared | undefined> {
    const due = await this.due.look(situation, MOST_IN_MAIL);
    return this.compose(
      situation,
      due.filter((one) => one.mailId === mailId),
    );
  }

  private begin(
    situation: Situation,
    mailed: readonly NotificationEntity[],
    inDigest: boolean,
  ): Promise<Prepared | undefined> {
    const mailId = mailed[0]!.notificationId;
    const ids = mailed.map(({ notificationId }) => notificationId);
    this.notifications.beginMail(situation.member.workspaceId, { ids, mailId, inDigest });
    return this.compose(
      situation,
      mailed.map((one) => ({ ...one, mailId, inDigest })),
    );
  }

  private async compose(
    { member, settings, at }: Situation,
    mailed: readonly NotificationEntity[],
  ): Promise<Prepared | undefined> {
    const { workspaceId, memberId, name, email } = member;
    const [first] = mailed as [NotificationEntity];
    const mailId = first.mailId!;
    const to: Addressee = {
      workspaceId,
      workspaceName: settings.name,
      zone: settings.timezone,
      memberId,
      mailId,
    };
    const inMail = (subject: string, blocks: Parameters<typeof mailOf>[0]['blocks']): MailMessage => ({
      id: mailId,
      to: [email],
      ...mailOf({ subject, blocks, workspaceName: settings.name }),
    });
    if (!first.inDigest) {
      const message = await this.sources.of(first.kind).message(to, first.entityId);
      if (!message) {
        this.notifications.skip(workspaceId, [first.notificationId], 'It is gone.', at);
        return undefined;
      }
      const { title, directiveId } = message.about;
      return {
        mail: {
          mailId,
          tries: first.tries,
          message: inMail(message.subject, message.blocks),
          receipt: {
            entity: { type: first.kind, id: first.entityId },
            teamId: first.teamId,
            directiveId,
            name,
            what: `"${title}"`,
            details: { memberId, revision: first.revision },
          },
        },
      };
    }
    const news = mailed.slice(0, MOST_LISTED);
    const before = (await this.toldBefore(to, mailed, at)).slice(0, MOST_LISTED - news.length);
    const digest = digestOf({
      entries: await this.entries(to, [...news, ...before]),
      total: mailed.length,
      before: before.length,
    });
    const ids = (kind: NotificationKind) =>
      mailed.filter((one) => one.kind === kind).map(({ entityId }) => entityId);
    return {
      mail: {
        mailId,
        tries: first.tries,
        message: inMail(digest.subject, digest.blocks),
        receipt: {
          entity: { type: 'member', id: memberId },
          name,
          what: `${mailed.length} decisions that wait`,
          details: {
            memberId,
            approvalIds: ids('approval').slice(0, IDS_IN_RECEIPT),
            escalationIds: ids('escalation').slice(0, IDS_IN_RECEIPT),
            total: mailed.length,
          },
        },
      },
    };
  }

  private async entries(
    to: Addressee,
    listed: readonly Pick<NotificationEntity, 'kind' | 'entityId'>[],
  ): Promise<DigestEntry[]> {
    const entries: DigestEntry[] = [];
    for (const [kind, some] of Map.groupBy(listed, (one) => one.kind)) {
      const ids = some.map(({ entityId }) => entityId);
      entries.push(...(await this.sources.of(kind).entries(to, ids)));
    }
    return entries;
  }

  /** What the member was told of in an earlier mail, and what nobody has decided since. */
  private async toldBefore(
    { workspaceId, memberId }: Addressee,
    mailed: readonly NotificationEntity[],
    at: number,
  ): Promise<Pick<NotificationEntity, 'kind' | 'entityId'>[]> {
    const told = await this.notifications.toldBefore(workspaceId, memberId, TOLD_BEFORE);
    const source = this.sources.of('approval');
    const scope = { workspaceId, teamIds: 'all' } as const;
    const current = await source.current(
      scope,
      told.map(({ entityId }) => entityId),
      at,
    );
    const inMail = new Set(mailed.map(({ entityId }) => entityId));
    return told.filter(
      ({ entityId, revision }) => current.get(entityId)?.revision === revision && !inMail.has(entityId),
    );
  }
}
