import { Injectable } from '@nestjs/common';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { isReachable } from '../../platform/kernel/mail-address.js';
import { counted } from '../../platform/kernel/text.js';
import { deepMarkUnseen, markUnseen } from '../../platform/kernel/unseen.js';
import { type Block, type MailMessage, mailOf, oneLine } from '../mail/index.js';
import {
  mayDecide,
  Members,
  type NotifyChoice,
  type StandingMember,
  Workspaces,
  type WorkspaceSettings,
} from '../workspaces/index.js';
import { type Addressee, type DigestEntry, type Notice, NoticeSources } from './notice-source.js';
import { type Choice, choiceOf, endOfQuietHours, nextMail, NO_CHOICE } from './notification-choice.js';
import { NotificationChoiceService, unsubscribeBlocks } from './notification-choice.service.js';
import { NotificationChoices } from './notification-choices.repository.js';
import type { NotificationEntity } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';
import { type MailReceipt, receiptOfMany, receiptOfMessage } from './receipt-of-mail.js';

/** So many stand in a digest, the urgent ones first; of the others it says how many there are. */
const MOST_LISTED = 20;

/** The mail about many things at once. */
export function digestOf({
  entries,
  total,
  failed,
  before,
  inboxUrl,
}: {
  entries: readonly DigestEntry[];
  /** How many the member is told of for the first time, those that are not listed too. */
  total: number;
  /** How many of these are directives that failed, and no decisions. */
  failed: number;
  /** What the member was told of before and nobody has decided since; without `isAll` there may be more. */
  before: { total: number; listed: number; isAll: boolean };
  /** Where all of them are listed. */
  inboxUrl: string;
}): { subject: string; blocks: Block[] } {
  const waiting = total - failed + before.total;
  const decisions = [
    before.isAll ? `${waiting}` : `${waiting} or more`,
    waiting === 1 ? 'decision waits for you' : 'decisions wait for you',
    ...(before.total > 0 ? [`(${total - failed} new)`] : []),
  ].join(' ');
  const news = [
    ...(waiting > 0 ? [decisions] : []),
    ...(failed > 0 ? [`${counted(failed, 'directive')} failed`] : []),
  ].join(', ');
  const isAll = before.isAll && entries.length >= waiting + failed;
  const blocks: Block[] = [{ kind: 'heading', text: news }];
  if (!isAll) {
    blocks.push(
      { kind: 'text', text: `This mail lists ${entries.length} of them.` },
      { kind: 'reference', text: 'All of them stand in the inbox:', url: inboxUrl },
    );
  }
  if (before.listed > 0) {
    blocks.push({
      kind: 'text',
      text: `Of those listed, ${before.listed} you were told of before, and nobody has decided ${before.listed === 1 ? 'it' : 'them'} since.`,
    });
  }
  for (const { title, blocks: own } of entries) blocks.push({ kind: 'heading', text: title }, ...own);
  if (blocks.some(({ kind }) => kind === 'link')) {
    blocks.push({
      kind: 'text',
      text: 'Each link to a draft is for you alone and works once. Opening it shows the complete draft and decides nothing.',
    });
  }
  return { subject: news, blocks };
}

/** What becomes of a notification as a mail is put together. */
export type Verdict =
  | 'tell'
  /** It was decided or changed meanwhile, or this member may not decide it. */
  | 'stale'
  /** The member has chosen not to be told. */
  | 'unwanted'
  /** It waits until the quiet hours end. */
  | 'later';

/** Whom it is for, as they are now. */
export interface ToldMember {
  member: Pick<StandingMember, 'memberId' | 'workspaceId' | 'role' | 'teamIds' | 'teamRoles'>;
  /** What the member has chosen for the kind of thing that it is about. */
  chosen: NotifyChoice;
  inQuietHours: boolean;
}

/** Whether somebody is told of something now, for the first time or again, going by what is so at this moment. */
export function verdictOn(
  notification: Pick<NotificationEntity, 'revision' | 'urgent' | 'status'>,
  notice: Notice | undefined,
  { member, chosen, inQuietHours }: ToldMember,
): Verdict {
  if (notice?.revision !== notification.revision || !mayBeTold(member, notice)) return 'stale';
  if (notice.isImposed) return 'tell';
  const urgent = isUrgentNow(notification, notice);
  if (chosen === 'none' || (chosen === 'urgent' && !urgent)) return 'unwanted';
  // What stands in a mail already may have been sent, and what was told before makes no mail.
  if (inQuietHours && !urgent && notification.status === 'waiting') return 'later';
  return 'tell';
}

/** Enough to tell whether it is a digest, so that ten thousand items are not all read for each new one. */
const FIRST_LOOK = 50;

/** So many are told of in one digest at most. */
const MOST_IN_MAIL = 10_000;

/** Either a mail, or in how long there may be one; null: not before something new comes. */
type Prepared = { mail: PreparedMail } | { mail?: undefined; waitMs: number | null };

/** So many of what was told last are looked at for what still waits. */
const TOLD_BEFORE = 200;

/** For whom a mail is put together, and when. */
interface MailContext {
  member: StandingMember;
  /** What holds for the member. */
  choice: Choice;
  settings: WorkspaceSettings;
  at: number;
}

/** A mail that is put together, and what its receipt says. */
export interface PreparedMail {
  mailId: string;
  message: MailMessage;
  /** How often it could not be handed to the mail server. */
  tries: number;
  receipt: MailReceipt;
}

/** The next mail to a member: what it is about, and its words. */
@Injectable()
export class ComposeMail {
  constructor(
    private readonly notifications: Notifications,
    private readonly members: Members,
    private readonly choices: NotificationChoices,
    private readonly workspaces: Workspaces,
    private readonly clock: Clock,
    private readonly sources: NoticeSources,
    private readonly choiceService: NotificationChoiceService,
    private readonly address: PublicAddress,
  ) {}

  /**
   * Chooses what the next mail to a member is about, in the open transaction: of what is due to be told what can still be
   * decided, by this member, and is still wanted now.
   */
  async next(workspaceId: string, memberId: string): Promise<Prepared> {
    const at = this.clock.now();
    const settings = await this.workspaces.settings({ workspaceId, teamIds: 'all' });
    const member = await this.members.standing(workspaceId, memberId);
    if (!member || !isReachable(member.email)) {
      this.notifications.skipAll(workspaceId, memberId, 'The member has left, or has no address.', at);
      return { waitMs: null };
    }
    const own = (await this.choices.ofAll(workspaceId, [memberId])).get(memberId) ?? NO_CHOICE;
    const mail = await this.choose({ member, choice: choiceOf(settings, own), settings, at });
    if (mail) return mail;
    const next = await this.notifications.nextDue(workspaceId, memberId);
    return { waitMs: next === null ? null : Math.max(0, next - at) };
  }

  private async choose(context: MailContext): Promise<Prepared | undefined> {
    const first = await this.look(context, FIRST_LOOK);
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
        return this.begin(context, await this.look(context, MOST_IN_MAIL), true);
    }
  }

  /** A mail that was put together before, and perhaps sent: what it was about is told once more. */
  private async resume(context: MailContext, mailId: string): Promise<Prepared | undefined> {
    const due = await this.look(context, MOST_IN_MAIL);
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

  /** All stand in one mail by now; undefined when what it is about is gone. */
  private async compose(
    context: MailContext,
    mailed: readonly NotificationEntity[],
  ): Promise<Prepared | undefined> {
    const [first] = mailed as [NotificationEntity];
    const mail = first.inDigest ? await this.digest(context, mailed) : await this.single(context, first);
    if (mail) return { mail };
    const ids = mailed.map(({ notificationId }) => notificationId);
    this.notifications.skip(context.member.workspaceId, ids, 'It is gone.', context.at);
    return undefined;
  }

  /** So much of what is due; what cannot be told any more is skipped, and makes room for what comes behind it. */
  private async look(context: MailContext, limit: number): Promise<NotificationEntity[]> {
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
  private async toldBefore(context: MailContext): Promise<{ waiting: NotificationEntity[]; isAll: boolean }> {
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
    const { waiting, isAll } = await this.toldBefore(context);
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
      message: this.mail(context, to, message, this.choiceService.unsubscribeUrl({ ...to, list: 'digests' })),
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

/** What was urgent stays so; the rest becomes urgent as its time runs out. */
function isUrgentNow({ urgent }: Pick<NotificationEntity, 'urgent'>, notice?: Notice): boolean {
  return urgent || notice?.isUrgent === true;
}

function mayBeTold(member: ToldMember['member'], { onlyTo, notTo, teamId, role }: Notice): boolean {
  if (onlyTo && !onlyTo.includes(member.memberId)) return false;
  return !notTo.includes(member.memberId) && mayDecide(member, teamId, role);
}

function quietUntilOf({ choice, settings, at }: MailContext): number | undefined {
  return endOfQuietHours(at, choice.quietHours, settings.timezone);
}

function idsOf(notifications: readonly NotificationEntity[]): string[] {
  return notifications.map(({ notificationId }) => notificationId);
}

/** Otherwise they stay in their order. */
function urgentFirst(a: NotificationEntity, b: NotificationEntity): number {
  return Number(b.urgent) - Number(a.urgent);
}
