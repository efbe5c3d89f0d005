import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/kernel/clock.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { Members, Workspaces } from '../workspaces/index.js';
import { ComposeMail, type PreparedMail, urgentFirst } from './compose-mail.js';
import { DueNotifications, type MailContext } from './due-notifications.js';
import { choiceOf, NO_CHOICE } from './notification-choice.js';
import { NotificationChoices } from './notification-choices.repository.js';
import type { NotificationEntity } from './notification.entity.js';
import { nextMail } from './next-mail.js';
import { Notifications } from './notifications.repository.js';

/** Enough to tell whether it is a digest, so that ten thousand items are not all read for each new one. */
const FIRST_LOOK = 50;
/** So many are told of in one digest at most. */
const MOST_IN_MAIL = 10_000;

/** Either a mail, or in how long there may be one; null: not before something new comes. */
export type Prepared = { mail: PreparedMail } | { mail?: undefined; waitMs: number | null };

/**
 * Chooses what the next mail to a member is about, in the open transaction: of what is due to be told what can still be decided, by
 * this member, and is still wanted now.
 */
@Injectable()
export class PrepareMail {
  constructor(
    private readonly notifications: Notifications,
    private readonly due: DueNotifications,
    private readonly members: Members,
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly composeMail: ComposeMail,
    private readonly clock: Clock,
  ) {}

  async execute(workspaceId: string, memberId: string): Promise<Prepared> {
    const at = this.clock.now();
    const settings = await this.workspaces.settings({ workspaceId, teamIds: 'all' });
    const member = await this.members.standing(workspaceId, memberId);
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

  private async next(context: MailContext): Promise<Prepared | undefined> {
    const first = await this.due.look(context, FIRST_LOOK);
    if (first[0]?.status === 'sending') return this.resume(context, first[0].mailId!);
    // Nobody waits for a digest to hear that all has stopped.
    if (first[0]?.kind === 'kill') return this.begin(context, first.slice(0, 1), false);
    const { workspaceId, memberId } = context.member;
    const lately = await this.notifications.sentLately(workspaceId, memberId, context.at);
    const dueInDigest = first.filter(({ inDigest }) => inDigest).length;
    const urgent = first.filter((one) => one.urgent).length;
    const next = nextMail({ due: first.length, dueInDigest, urgent, ...lately }, context.at);
    switch (next.mail) {
      case 'none':
        return undefined;
      case 'later':
        return { waitMs: next.waitMs };
      case 'single':
        return this.begin(context, first.toSorted(urgentFirst).slice(0, 1), false);
      case 'digest':
        return this.begin(context, await this.due.look(context, MOST_IN_MAIL), true);
    }
  }

  /** A mail that was put together before, and perhaps sent: what it was about is told once more. */
  private async resume(context: MailContext, mailId: string): Promise<Prepared | undefined> {
    const due = await this.due.look(context, MOST_IN_MAIL);
    return this.compose(
      context,
      due.filter((one) => one.mailId === mailId),
    );
  }

  private begin(
    context: MailContext,
    mailed: readonly NotificationEntity[],
    inDigest: boolean,
  ): Promise<Prepared | undefined> {
    const mailId = mailed[0]!.notificationId;
    const ids = mailed.map(({ notificationId }) => notificationId);
    this.notifications.beginMail(context.member.workspaceId, { ids, mailId, inDigest });
    return this.compose(
      context,
      mailed.map((one) => ({ ...one, mailId, inDigest })),
    );
  }

  private async compose(
    context: MailContext,
    mailed: readonly NotificationEntity[],
  ): Promise<Prepared | undefined> {
    const mail = await this.composeMail.execute(context, mailed);
    if (mail) return { mail };
    const ids = mailed.map(({ notificationId }) => notificationId);
    this.notifications.skip(context.member.workspaceId, ids, 'It is gone.', context.at);
    return undefined;
  }
}
