import type { MailMessage } from '../mail/mail-message.js';
import { plainMarkdown } from '../mail/markdown.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteContext } from './invites.repository.js';

/** The mail of an invite. Names come from people: what they write is text, and never a link of the mail. */
export function inviteMail(invite: InviteEntity & InviteContext, id: string, url: string): MailMessage {
  const { email, role, invitedBy, workspaceName, teamName, expiresAt } = invite;
  const to = teamName === null ? '' : `the team **${plainMarkdown(teamName)}** in `;
  const until = new Date(expiresAt).toISOString().slice(0, 10);
  return {
    id,
    to: [email],
    subject: `${invitedBy.name} invites you to ${workspaceName}`,
    body: [
      `${plainMarkdown(invitedBy.name)} invites you to ${to}**${plainMarkdown(workspaceName)}** on Consigliere, as ${role}.`,
      `Accept here: <${url}>`,
      `The link works once, until ${until} (UTC). If you do not know who invites you, ignore this mail: nothing happens.`,
    ].join('\n\n'),
    workspaceName,
  };
}
