import { inWords } from '../../platform/kernel/local-day.js';
import { type Block, type MailMessage, mailOf, unlinked } from '../mail/index.js';

/** What the owners of a workspace are told of its deletion, and when. */
export type DeletionNews = 'requested' | 'ending' | 'withdrawn';

/** What a mail says besides. */
export interface DeletionMailFacts {
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
