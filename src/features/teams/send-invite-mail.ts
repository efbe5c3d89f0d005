import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import type { SentMail } from '../mail/mail-transport.js';
import { Mailer, MailFailed } from '../mail/mailer.js';
import { isOpen, mailIdOf, tokenPurpose } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import { inviteMail } from './invite-mail.js';
import { type InviteContext, Invites } from './invites.repository.js';

export const INVITE_MAIL = 'invite.mail';

/** With the growing waits between them, a mail server may be away for some minutes. */
const TRIES = 8;

const CLOSED: WorkError = {
  code: 'INVITE_EXPIRED',
  message: 'It could no longer be accepted when its mail was to be sent.',
};

/**
 * Mails an invite, outside of any transaction, and then forgets its token. A process that ends between the two sends the
 * same mail once more, under the same Message-ID: the invite is still one, and can be used once.
 */
@Injectable()
export class SendInviteMail implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly invites: Invites,
    private readonly mailer: Mailer,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: INVITE_MAIL,
      pool: 4,
      perQueue: 2,
      tries: TRIES,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.giveUp(item, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const invite = await this.invites.read({ workspaceId: item.workspaceId, inviteId: item.id });
    if (invite.sealedToken === null) return;
    if (!isOpen(invite, this.clock.now())) {
      await this.db.transaction(scopeOfWork(item), async () => {
        this.fail(invite, CLOSED);
        this.work.complete(item);
      });
      return;
    }
    let sent: SentMail;
    try {
      sent = await this.mailer.send(this.messageOf(invite, invite.sealedToken), signal);
    } catch (error) {
      const failure = failureOf(error);
      await this.db.transaction(scopeOfWork(item), async () => {
        if (failure.isFinal) {
          this.fail(invite, failure);
          this.work.complete(item);
        } else {
          this.work.reschedule(item, backoffMs(item.failures + 1), failure);
        }
      });
      return;
    }
    await this.db.transaction(scopeOfWork(item), async () => {
      this.invites.saveMail(invite, { mailStatus: 'sent', mailError: null });
      this.work.complete(item);
      this.receipts.append({
        actor: SYSTEM,
        action: 'invite.mailed',
        entity: { type: 'invite', id: invite.inviteId },
        teamId: invite.teamId,
        summary:
          sent.transport === 'file'
            ? `The mail with the invite of ${invite.email} was written to a file, since no mail server is configured.`
            : `The invite was mailed to ${invite.email}.`,
        details: { email: invite.email, transport: sent.transport },
      });
    });
  }

  /** @throws SecretUnreadable */
  private messageOf(invite: InviteEntity & InviteContext, sealedToken: string) {
    const token = this.secrets.open(sealedToken, tokenPurpose(invite));
    return inviteMail(invite, mailIdOf(invite), `${this.address.url}/invites/${token}`);
  }

  private async giveUp({ workspaceId, id }: WorkItem, error: WorkError): Promise<void> {
    this.fail(await this.invites.read({ workspaceId, inviteId: id }), error);
  }

  private fail(invite: InviteEntity, { code, message }: WorkError): void {
    this.invites.saveMail(invite, { mailStatus: 'failed', mailError: message });
    this.receipts.append({
      actor: SYSTEM,
      action: 'invite.mail_failed',
      entity: { type: 'invite', id: invite.inviteId },
      teamId: invite.teamId,
      outcome: 'failure',
      summary: `The invite could not be mailed to ${invite.email}. ${message}`,
      details: { email: invite.email, error: { code, message } },
    });
  }
}

/** Why it was not sent, and whether a later try could end otherwise; what nobody foresaw is thrown on. */
function failureOf(error: unknown): WorkError & { isFinal: boolean } {
  if (error instanceof MailFailed) {
    return { code: `MAIL_${error.code.toUpperCase()}`, message: error.message, isFinal: !error.retryable };
  }
  if (error instanceof SecretUnreadable) {
    const message =
      'Its link cannot be decrypted with the SECRETS_KEY of this service; send the invite again.';
    return { code: 'SECRET_UNREADABLE', message, isFinal: true };
  }
  throw error;
}
