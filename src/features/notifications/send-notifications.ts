import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type NewReceipt, Receipts } from '../../platform/receipts/receipts.js';
import { OUTSIDE_TRIES } from '../../platform/work/backoff.js';
import { type Renewal, scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { Mailer, MailFailed, MailWork, type SentMail, summaryOfMail } from '../mail/index.js';
import { Signals } from '../records/index.js';
import { Members } from '../workspaces/index.js';
import { ComposeMail, type PreparedMail } from './compose-mail.js';
import type { Notice } from './notice-source.js';
import type { NotificationKind } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';
import { entityOf, type MailReceipt, receiptOfMany } from './receipt-of-mail.js';

/** The id of an item is that of the member: what one member is mailed is put together by one attempt at a time. */
export const SEND_WORK = 'notification.send';

/** So many mails in one attempt; then the other members of the workspace have their turn. */
const MAILS_AT_ONCE = 5;

const WHAT: Record<NotificationKind, string> = {
  approval: 'an approval that waits for a decision',
  escalation: 'an escalation that waits for a decision',
  failure: 'a directive that failed',
  kill: 'the kill switch',
};

/**
 * Mails members what waits for them, outside of any transaction. What a mail says is put together, and held against what is
 * still so, right before it is sent. A process that ends while a mail is being sent sends the same mail once more, under the same
 * Message-ID and with the same links.
 */
@Injectable()
export class SendNotifications implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly composeMail: ComposeMail,
    private readonly mailer: Mailer,
    private readonly mailWork: MailWork,
    private readonly notifications: Notifications,
    private readonly members: Members,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: SEND_WORK,
      pool: 4,
      perQueue: 2,
      tries: 8,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  /** Nobody is mailed about this. */
  notPlanned(kind: NotificationKind, id: string, { teamId }: Pick<Notice, 'teamId'>, error: WorkError): void {
    const entity = entityOf(kind, id);
    const summary = `Nobody could be mailed about ${WHAT[kind]}. ${error.message}`;
    this.receipts.append({ ...failure(error), entity, teamId, summary });
    this.raise({
      title: `Nobody was mailed about ${WHAT[kind]}`,
      body: summary,
      teamId,
      entity,
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    for (let mails = 0; mails < MAILS_AT_ONCE; mails++) {
      const mail = await this.prepare(item);
      if (!mail) return;
      if (!(await this.send(item, mail, signal))) return;
    }
    await this.db.transaction(scopeOfWork(item), async () => this.work.reschedule(item, 0));
  }

  /** The next mail to send; undefined when there is none, and the item is then due when there may be one. */
  private prepare(item: WorkItem): Promise<PreparedMail | undefined> {
    return this.db.transaction(scopeOfWork(item), async () => {
      // Locked until the transaction ends: a concurrent notification waits, or is seen.
      this.work.check(item);
      const next = await this.composeMail.next(item.workspaceId, item.id);
      if (next.mail) return next.mail;
      if (next.waitMs === null) this.work.complete(item);
      else this.work.reschedule(item, next.waitMs);
      return undefined;
    });
  }

  /** False when the mail server cannot be reached, so that the item waits. */
  private async send(item: WorkItem, mail: PreparedMail, signal: AbortSignal): Promise<boolean> {
    const { workspaceId } = item;
    let transport: SentMail['transport'];
    try {
      ({ transport } = await this.mailer.send(mail.message, signal));
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      await this.db.transaction(scopeOfWork(item), async () => {
        const tries = mail.tries + 1;
        if (error.retryable && tries < OUTSIDE_TRIES) {
          this.notifications.countTry(workspaceId, mail.mailId, error.message);
          this.mailWork.putOff(item, error, tries);
        } else {
          this.failed(workspaceId, mail, error.workError);
        }
      });
      return !this.work.hasEnded(item);
    }
    await this.db.transaction(scopeOfWork(item), async () => this.sent(workspaceId, mail, transport));
    return true;
  }

  private sent(
    workspaceId: string,
    { mailId, receipt }: PreparedMail,
    transport: SentMail['transport'],
  ): void {
    const at = this.clock.now();
    this.notifications.endMail(workspaceId, mailId, { status: 'sent', reason: null, at });
    const { name, what, details, ...about } = receipt;
    this.receipts.append({
      ...about,
      actor: SYSTEM,
      action: 'notification.mailed',
      summary: summaryOfMail(
        transport,
        `The mail to ${name} about ${what}`,
        `${name} was mailed about ${what}.`,
      ),
      details: { ...details, mailId, transport },
    });
  }

  private failed(workspaceId: string, { mailId, receipt }: PreparedMail, error: WorkError): void {
    const at = this.clock.now();
    this.notifications.endMail(workspaceId, mailId, { status: 'failed', reason: error.message, at });
    this.notMailed(receipt, error, { mailId });
  }

  /** What is due cannot be mailed. What falls due later is, in its time. */
  private async giveUp(item: WorkItem, error: WorkError): Promise<Renewal | undefined> {
    // Locked until the transaction ends: a concurrent notification waits, or is seen.
    this.work.check(item);
    const { workspaceId, id: memberId } = item;
    const at = this.clock.now();
    const due = await this.notifications.giveUp(workspaceId, memberId, error.message, at);
    if (due.length > 0) {
      const member = await this.members.standing(workspaceId, memberId);
      const receipt = receiptOfMany({ memberId, name: member?.name ?? 'A member' }, due);
      const summary = this.notMailed(receipt, error);
      this.raise({
        title: `Not mailed: ${receipt.name} about ${receipt.what}`,
        body: `${summary} Members who may decide find it in the lists of approvals and escalations.`,
        teamId: null,
        entity: receipt.entity,
      });
    }
    const next = await this.notifications.nextDue(workspaceId, memberId);
    return next === null ? undefined : { waitMs: Math.max(0, next - at) };
  }

  /** Answers what the receipt says. */
  private notMailed({ name, what, details, ...about }: MailReceipt, error: WorkError, more = {}): string {
    const summary = `${name} could not be mailed about ${what}. ${error.message}`;
    this.receipts.append({ ...failure(error, { ...details, ...more }), ...about, summary });
    return summary;
  }

  /** Nobody has decided on this end, so somebody has to hear of it. */
  private raise(signal: Pick<Parameters<Signals['raise']>[0], 'title' | 'body' | 'teamId' | 'entity'>): void {
    this.signals.raise({
      ...signal,
      type: 'agent',
      severity: 'warning',
    });
  }
}

function failure(
  { code, message }: WorkError,
  details: NewReceipt['details'] = {},
): Pick<NewReceipt, 'actor' | 'action' | 'outcome' | 'details'> {
  return {
    actor: SYSTEM,
    action: 'notification.mail_failed',
    outcome: 'failure',
    details: { ...details, error: { code, message } },
  };
}
