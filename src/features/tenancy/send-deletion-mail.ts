import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { backoffMs } from '../../platform/work/backoff.js';
import { Work } from '../../platform/work/work.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Mailer, MailFailed } from '../mail/mailer.js';
import { Members } from '../workspaces/members.repository.js';
import { Workspaces } from '../workspaces/workspaces.repository.js';
import { deletionMail, type DeletionNews } from './deletion-mail.js';
import { Deletions } from './deletions.repository.js';

const DELETION_MAIL = 'workspace.deletion_mail';

/** With the growing waits between them, a mail server may be away for some minutes. */
const TRIES = 8;

/** The news stands in the id of the mail, which names the Message-ID as well. */
const NEWS: Record<string, DeletionNews> = { r: 'requested', e: 'ending', w: 'withdrawn' };

/** Tells each owner of a workspace of its deletion: when it was asked for, a day before the end, when it was taken back. */
@Injectable()
export class SendDeletionMail implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly members: Members,
    private readonly workspaces: Workspaces,
    private readonly deletions: Deletions,
    private readonly mailer: Mailer,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: DELETION_MAIL,
      pool: 2,
      perQueue: 1,
      tries: TRIES,
      run: (item, signal) => this.execute(item, signal),
      giveUp: async (item, error) => this.failed(item, error),
    });
  }

  /** One mail to each owner of the transaction's workspace, after its COMMIT. */
  async enqueue(news: DeletionNews): Promise<void> {
    const owners = await this.members.owners(this.db.unit.scope.workspaceId);
    const at = this.clock.now().toString(36);
    this.work.enqueue(DELETION_MAIL, ...owners.map(({ memberId }) => ({ id: `${memberId}${news[0]}${at}` })));
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const message = await this.messageOf(item);
    try {
      if (message) await this.mailer.send(message, signal);
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error;
      const failure = { code: `MAIL_${error.code.toUpperCase()}`, message: error.message };
      await this.db.transaction(scopeOfWork(item), async () => {
        if (error.retryable) {
          this.work.reschedule(item, backoffMs(item.failures + 1), failure);
        } else {
          this.failed(item, failure);
          this.work.complete(item);
        }
      });
      return;
    }
    await this.db.transaction(scopeOfWork(item), async () => {
      this.work.complete(item);
      if (!message) return;
      this.receipts.append({
        actor: SYSTEM,
        action: 'workspace.deletion_mailed',
        entity: { type: 'workspace', id: item.workspaceId },
        summary: `${message.to[0]} was mailed: ${message.subject}.`,
        details: { memberId: memberOf(item), news: newsOf(item) },
      });
    });
  }

  /** Undefined when it is news no more: the deletion was taken back meanwhile, or the owner has left. */
  private messageOf(item: WorkItem) {
    const { workspaceId, id } = item;
    const news = newsOf(item);
    return this.db.transaction(scopeOfWork(item), async () => {
      const deletion = await this.deletions.find(workspaceId);
      if ((deletion === undefined) !== (news === 'withdrawn')) return undefined;
      const owner = await this.members.get(workspaceId, memberOf(item)).catch((error: unknown) => {
        if (error instanceof NotFound) return undefined;
        throw error;
      });
      if (!owner) return undefined;
      const { name } = await this.workspaces.settings(scopeOfWork(item));
      return deletionMail(news, {
        id,
        to: owner.email,
        workspaceName: name,
        requestedBy: deletion?.requestedBy.name ?? '',
        dueAt: deletion?.dueAt ?? 0,
        url: this.address.url,
      });
    });
  }

  private failed(item: WorkItem, { code, message }: WorkError): void {
    this.receipts.append({
      actor: SYSTEM,
      action: 'workspace.deletion_mail_failed',
      entity: { type: 'workspace', id: item.workspaceId },
      outcome: 'failure',
      summary: `An owner could not be told of the deletion of the workspace. ${message}`,
      details: { memberId: memberOf(item), news: newsOf(item), error: { code, message } },
    });
  }
}

const MEMBER_ID_LENGTH = 'mem_'.length + 26;

function memberOf({ id }: WorkItem): string {
  return id.slice(0, MEMBER_ID_LENGTH);
}

function newsOf({ id }: WorkItem): DeletionNews {
  return NEWS[id[MEMBER_ID_LENGTH]!]!;
}
