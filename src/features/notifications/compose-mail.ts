import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../platform/http/public-address.js';
import { deepMarkUnseen, markUnseen } from '../../platform/kernel/unseen.js';
import { type Block, type MailMessage, mailOf, oneLine } from '../mail/index.js';
import { digestOf, MOST_LISTED } from './digest.js';
import { DueNotifications, type MailContext } from './due-notifications.js';
import { type Addressee, type DigestEntry, NoticeSources } from './notice-source.js';
import type { NotificationEntity } from './notification.entity.js';
import { type MailReceipt, receiptOfMany, receiptOfMessage } from './receipt-of-mail.js';
import { Unsubscribe, unsubscribeBlocks } from './unsubscribe.js';

/** A mail that is put together, and what its receipt says. */
export interface PreparedMail {
  mailId: string;
  message: MailMessage;
  /** How often it could not be handed to the mail server. */
  tries: number;
  receipt: MailReceipt;
}

/** The words of a mail about what was chosen for it. */
@Injectable()
export class ComposeMail {
  constructor(
    private readonly due: DueNotifications,
    private readonly sources: NoticeSources,
    private readonly unsubscribe: Unsubscribe,
    private readonly address: PublicAddress,
  ) {}

  /** All stand in one mail by now; undefined when what it is about is gone. */
  async execute(
    context: MailContext,
    mailed: readonly NotificationEntity[],
  ): Promise<PreparedMail | undefined> {
    const [first] = mailed as [NotificationEntity];
    return first.inDigest ? this.digest(context, mailed) : this.single(context, first);
  }

  private async single(context: MailContext, about: NotificationEntity): Promise<PreparedMail | undefined> {
    const to = this.addressee(context, about);
    const message = await this.sources.of(about.kind).message(to, about.entityId);
    if (!message) return undefined;
    return {
      mailId: to.mailId,
      tries: about.tries,
      message: this.mail(context, to, message),
      receipt: receiptOfMessage(context.member, about, message.about),
    };
  }

  private async digest(context: MailContext, mailed: readonly NotificationEntity[]): Promise<PreparedMail> {
    const [first] = mailed as [NotificationEntity];
    const to = this.addressee(context, first);
    const news = mailed.toSorted(urgentFirst).slice(0, MOST_LISTED);
    const inMail = new Set(mailed.map(({ entityId }) => entityId));
    const { waiting, isAll } = await this.due.toldBefore(context);
    const told = waiting.filter(({ entityId }) => !inMail.has(entityId));
    const before = told.toSorted(urgentFirst).slice(0, MOST_LISTED - news.length);
    const message = digestOf({
      entries: await this.entries(to, [...news, ...before].toSorted(urgentFirst)),
      total: mailed.length,
      failed: mailed.filter(({ kind }) => kind === 'failure').length,
      before: { total: told.length, listed: before.length, isAll },
      inboxUrl: `${to.publicUrl}/`,
    });
    return {
      mailId: to.mailId,
      tries: first.tries,
      message: this.mail(context, to, message, this.unsubscribe.urlFor({ ...to, list: 'digests' })),
      receipt: receiptOfMany(context.member, mailed),
    };
  }

  /** In the order in which they are listed. */
  private async entries(
    to: Addressee,
    listed: readonly Pick<NotificationEntity, 'kind' | 'entityId'>[],
  ): Promise<DigestEntry[]> {
    const entries = new Map<string, DigestEntry>();
    for (const [kind, some] of Map.groupBy(listed, (one) => one.kind)) {
      const ids = some.map(({ entityId }) => entityId);
      for (const [id, entry] of await this.sources.of(kind).entries(to, ids)) entries.set(id, entry);
    }
    return listed.flatMap(({ entityId }) => entries.get(entityId) ?? []);
  }

  private addressee({ member, settings }: MailContext, { mailId }: NotificationEntity): Addressee {
    const { workspaceId, memberId } = member;
    return {
      workspaceId,
      workspaceName: settings.name,
      zone: settings.timezone,
      memberId,
      mailId: mailId!,
      publicUrl: this.address.url,
    };
  }

  private mail(
    { member }: MailContext,
    { mailId, workspaceName, publicUrl }: Addressee,
    { subject, blocks }: { subject: string; blocks: readonly Block[] },
    unsubscribeUrl?: string,
  ): MailMessage {
    const footer: Block[] = [
      {
        kind: 'reference',
        text: `Consigliere mails you this as a member of ${oneLine(workspaceName)}. Choose what you are mailed, and when, in your account:`,
        url: `${publicUrl}/account`,
      },
      ...unsubscribeBlocks(unsubscribeUrl),
    ];
    return {
      id: mailId,
      to: [member.email],
      ...mailOf(markUnseen(subject), deepMarkUnseen([...blocks, ...footer])),
      ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
    };
  }
}

/** Otherwise they stay in their order. */
export function urgentFirst(a: NotificationEntity, b: NotificationEntity): number {
  return Number(b.urgent) - Number(a.urgent);
}
