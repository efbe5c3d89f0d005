import type { MailMessage } from '../mail/mail-message.js';
import { plainMarkdown } from '../mail/markdown.js';

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
  return {
    id,
    to: [to],
    subject: SUBJECTS[news](workspaceName),
    body: paragraphs(news, facts).join('\n\n'),
    workspaceName,
  };
}

function paragraphs(
  news: DeletionNews,
  { workspaceName, requestedBy, dueAt, url }: DeletionMailFacts,
): string[] {
  const name = plainMarkdown(workspaceName);
  if (news === 'withdrawn') {
    return [
      `An owner took the deletion of **${name}** back. The workspace can be used again, as it was before.`,
    ];
  }
  const until = `${new Date(dueAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
  return [
    `${plainMarkdown(requestedBy)} asked for the deletion of the workspace **${name}** on Consigliere. Everything in it, its receipts too, is deleted from ${until} on.`,
    'Until then it can be read and exported, nothing leaves it and nobody can change it.',
    `Any owner can take this back until then: sign in at <${url}> and withdraw the deletion.`,
  ];
}
