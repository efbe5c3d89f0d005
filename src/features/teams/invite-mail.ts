import { inWords } from '../../platform/kernel/local-day.js';
import { type Block, type MailMessage, mailOf, unlinked } from '../mail/index.js';
import { rolesOffered } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteContext } from './invites.repository.js';

/** The mail of an invite. Names come from people: what they write is text, and never a link of the mail. */
export function inviteMail(invite: InviteEntity & InviteContext, id: string, url: string): MailMessage {
  const { email, invitedBy, workspaceName, teamName, expiresAt, timezone } = invite;
  const name = unlinked(workspaceName);
  const where = teamName === null ? name : `the team ${unlinked(teamName)} in ${name}`;
  const blocks: Block[] = [
    { kind: 'heading', text: `Join ${name}` },
    {
      kind: 'text',
      text: `${unlinked(invitedBy.name)} invites you to ${where} on Consigliere. ${rolesOffered(invite)}`,
    },
    { kind: 'link', words: 'Accept the invite', url },
    {
      kind: 'text',
      text: `The link works once, until ${inWords(expiresAt, timezone)}. If you do not know who invites you, ignore this mail: nothing happens.`,
    },
  ];
  return { id, to: [email], ...mailOf(`${invitedBy.name} invites you to ${workspaceName}`, blocks) };
}
