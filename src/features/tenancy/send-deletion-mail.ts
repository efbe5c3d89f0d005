import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import {
  type Block,
  type MailMessage,
  mailOf,
  unlinked,
  type MailOutcome,
  MailWork,
  summaryOfMail,
} from '../mail/index.js';
import { Members, Workspaces } from '../workspaces/index.js';
import { Deletions } from './tenancy.repository.js';

/** What the owners of a workspace are told of its deletion, and when. */
type DeletionNews = 'requested' | 'ending' | 'withdrawn';

/** What a mail says besides. */
interface DeletionMailFacts {
  id: string;
  to: string;
  workspaceName: string;
  /** Who asked for the deletion, while it is asked for. */
  requestedBy: string;
  /** Unix milliseconds. */
  dueAt: number;
  /** The workspace's. */
  timezone: string;
  /** The address of the service. */
  url: string;
}

const SUBJECTS: Record<DeletionNews, (name: string) => string> = {
  requested: (name) => `${name} is going to be deleted in 7 days`,
  ending: (name) => `${name} is going to be deleted within a day`,
  withdrawn: (name) => `${name} is not going to be deleted`,
};

/** A mail to one owner. */
export function deletionMail(news: DeletionNews, facts: DeletionMailFacts): MailMessage {
  const { id, to, workspaceName } = facts;
  const subject = SUBJECTS[news];
  const heading: Block = { kind: 'heading', text: subject(unlinked(workspaceName)) };
  return { id, to: [to], ...mailOf(subject(workspaceName), [heading, ...blocksOf(news, facts)]) };
}

function blocksOf(
  news: DeletionNews,
  { workspaceName, requestedBy, dueAt, timezone, url }: DeletionMailFacts,
): Block[] {
  const name = unlinked(workspaceName);
  if (news === 'withdrawn') {
    const text = `An owner took the deletion of ${name} back. The workspace can be used again, as it was before.`;
    return [{ kind: 'text', text }];
  }
  return [
    {
      kind: 'text',
      text: `${unlinked(requestedBy)} asked for the deletion of the workspace ${name} on Consigliere. Everything in it, its receipts too, is deleted from ${inWords(dueAt, timezone)} on.`,
    },
    {
      kind: 'text',
      text: 'Until then it can be read and exported, nothing leaves it and nobody can change it.',
    },
    {
      kind: 'reference',
      text: 'Any owner can take this back until then. Sign in here and withdraw the deletion:',
      url,
    },
  ];
}

const DELETION_MAIL = 'workspace.deletion_mail';

/** The news stands in the id of the mail, which names the Message-ID as well. */
const NEWS: Record<string, DeletionNews> = { r: 'requested', e: 'ending', w: 'withdrawn' };

/** The message is undefined when it is news no more. */
interface OwnerMail {
  item: WorkItem;
  message: MailMessage | undefined;
}

/** Tells each owner of a workspace of its deletion: when it was asked for, a day before the end, when it was taken back. */
@Injectable()
export class SendDeletionMail implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly members: Members,
    private readonly workspaces: Workspaces,
    private readonly deletions: Deletions,
    private readonly mailWork: MailWork,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<OwnerMail>({
      name: DELETION_MAIL,
      pool: 2,
      perQueue: 1,
      find: async (item) => ({ item, message: await this.messageOf(item) }),
      messageOf: ({ message }) => message,
      ended: (mail, outcome) => this.ended(mail, outcome),
    });
  }

  /** One mail to each owner of the transaction's workspace, after its COMMIT. */
  async enqueue(news: DeletionNews): Promise<void> {
    const owners = await this.members.owners(this.db.unit.scope.workspaceId);
    const at = this.clock.now().toString(36);
    this.work.enqueue(DELETION_MAIL, ...owners.map(({ memberId }) => ({ id: `${memberId}${news[0]}${at}` })));
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
      const { name, timezone } = await this.workspaces.settings(scopeOfWork(item));
      return deletionMail(news, {
        id,
        to: owner.email,
        workspaceName: name,
        requestedBy: deletion?.requestedBy.name ?? '',
        dueAt: deletion?.dueAt ?? 0,
        timezone,
        url: this.address.url,
      });
    });
  }

  private ended({ item, message }: OwnerMail, outcome: MailOutcome): void {
    if (outcome.status === 'obsolete') return;
    const about = { memberId: memberOf(item), news: newsOf(item) };
    const entity = { type: 'workspace', id: item.workspaceId };
    if (outcome.status === 'sent') {
      const { transport } = outcome;
      const { to, subject } = message!;
      this.receipts.append({
        actor: SYSTEM,
        action: 'workspace.deletion_mailed',
        entity,
        summary: summaryOfMail(
          transport,
          `The mail to ${to[0]}, "${subject}",`,
          `${to[0]} was mailed: ${subject}.`,
        ),
        details: { ...about, transport },
      });
      return;
    }
    this.receipts.append({
      actor: SYSTEM,
      action: 'workspace.deletion_mail_failed',
      entity,
      outcome: 'failure',
      summary: `An owner could not be told of the deletion of the workspace. ${outcome.error.message}`,
      details: { ...about, error: outcome.error },
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
