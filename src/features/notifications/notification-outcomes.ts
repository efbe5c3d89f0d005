import { Injectable } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type NewReceipt, Receipts } from '../../platform/receipts/receipts.js';
import type { WorkError } from '../../platform/work/work-item.js';
import { type SentMail, summaryOfMail } from '../mail/index.js';
import { Signals } from '../records/index.js';
import { Members } from '../workspaces/index.js';
import type { PreparedMail } from './compose-mail.js';
import type { Notice } from './notice-source.js';
import type { NotificationKind } from './notification.entity.js';
import { Notifications } from './notifications.repository.js';
import { entityOf, type MailReceipt, receiptOfMany } from './receipt-of-mail.js';

const WHAT: Record<NotificationKind, string> = {
  approval: 'an approval that waits for a decision',
  escalation: 'an escalation that waits for a decision',
  failure: 'a directive that failed',
  kill: 'the kill switch',
};

/** Records how it ended that members were to be told, in the open transaction. */
@Injectable()
export class NotificationOutcomes {
  constructor(
    private readonly notifications: Notifications,
    private readonly members: Members,
    private readonly receipts: Receipts,
    private readonly signals: Signals,
    private readonly clock: Clock,
  ) {}

  sent(workspaceId: string, { mailId, receipt }: PreparedMail, transport: SentMail['transport']): void {
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

  /** The mail is tried again as it is. */
  notNow(workspaceId: string, { mailId }: PreparedMail, reason: string): void {
    this.notifications.countTry(workspaceId, mailId, reason);
  }

  failed(workspaceId: string, { mailId, receipt }: PreparedMail, error: WorkError): void {
    const at = this.clock.now();
    this.notifications.endMail(workspaceId, mailId, { status: 'failed', reason: error.message, at });
    this.notMailed(receipt, error, { mailId });
  }

  /** No mail about what is due could be made. Answers in how long something else falls due for the member; null: nothing does. */
  async givenUp(workspaceId: string, memberId: string, error: WorkError): Promise<number | null> {
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
    return next === null ? null : Math.max(0, next - at);
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
      score: null,
      source: SYSTEM,
      capo: null,
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
