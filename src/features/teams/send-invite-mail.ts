import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { SecretBox } from '../../platform/secrets/secret-box.js';
import type { WorkError, WorkItem } from '../../platform/work/work-item.js';
import {
  type Block,
  type MailMessage,
  mailOf,
  unlinked,
  type MailOutcome,
  MailWork,
  summaryOfMail,
} from '../mail/index.js';
import { rolesOffered, isOpen, mailIdOf, tokenPurpose } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import { type InviteContext, Invites } from './invites.repository.js';

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

export const INVITE_MAIL = 'invite.mail';

const CLOSED: WorkError = {
  code: 'INVITE_EXPIRED',
  message: 'It could no longer be accepted when its mail was to be sent.',
};

type MailedInvite = InviteEntity & InviteContext;

/** Mails an invite, and then forgets its token; sent twice it is still one invite, and can be used once. */
@Injectable()
export class SendInviteMail implements OnModuleInit {
  constructor(
    private readonly mailWork: MailWork,
    private readonly invites: Invites,
    private readonly secrets: SecretBox,
    private readonly address: PublicAddress,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  onModuleInit(): void {
    this.mailWork.declare<MailedInvite>({
      name: INVITE_MAIL,
      pool: 4,
      perQueue: 2,
      find: (item) => this.find(item),
      messageOf: (invite) => (isOpen(invite, this.clock.now()) ? this.messageOf(invite) : undefined),
      ended: (invite, outcome) => this.ended(invite, outcome),
    });
  }

  private async find({ workspaceId, id }: WorkItem): Promise<MailedInvite | undefined> {
    const invite = await this.invites.read({ workspaceId, inviteId: id });
    return invite.sealedToken === null ? undefined : invite;
  }

  /** @throws SecretUnreadable */
  private messageOf(invite: MailedInvite) {
    const token = this.secrets.open(invite.sealedToken!, tokenPurpose(invite));
    return inviteMail(invite, mailIdOf(invite), `${this.address.url}/invites/${token}`);
  }

  private ended(invite: MailedInvite, outcome: MailOutcome): void {
    if (outcome.status === 'obsolete') this.fail(invite, CLOSED);
    else if (outcome.status === 'failed') this.fail(invite, outcome.error);
    else {
      const { transport } = outcome;
      this.invites.saveMail(invite, { mailStatus: 'sent', mailError: null });
      this.receipts.append({
        actor: SYSTEM,
        action: 'invite.mailed',
        entity: { type: 'invite', id: invite.inviteId },
        teamId: invite.teamId,
        summary: summaryOfMail(transport, 'The mail with an invite', 'An invite was mailed.'),
        details: { transport },
      });
    }
  }

  private fail(invite: InviteEntity, { code, message }: WorkError): void {
    this.invites.saveMail(invite, { mailStatus: 'failed', mailError: message });
    this.receipts.append({
      actor: SYSTEM,
      action: 'invite.mail_failed',
      entity: { type: 'invite', id: invite.inviteId },
      teamId: invite.teamId,
      outcome: 'failure',
      // A mail server may quote the address.
      summary: 'An invite could not be mailed.',
      details: { error: { code } },
    });
  }
}
