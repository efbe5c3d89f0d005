import type { MailMessage } from '../mail/mail-message.js';
import type { AccountAction } from './account-act.js';

/** A mail that tells the owner of an account what has changed in it. */
export interface AccountMail {
  mailId: string;
  email: string;
  notice: AccountAction;
  at: number;
}

const NOTICES: Partial<Record<AccountAction, { subject: string; what: string }>> = {
  'password.changed': {
    subject: 'Your password was changed',
    what: 'The password of your account was changed',
  },
  'password.reset': {
    subject: 'Your password was changed',
    what: 'The password of your account was changed by a link that was mailed to this address',
  },
  'second_factor.added': {
    subject: 'A second factor was set up',
    what: 'A second factor was set up for your account',
  },
  'second_factor.removed': {
    subject: 'Your second factor was removed',
    what: 'The second factor of your account was removed',
  },
  'second_factor.removed_on_server': {
    subject: 'Your second factor was removed',
    what: 'The second factor of your account was removed by the operator of the server',
  },
  'second_factor.recovery_codes_renewed': {
    subject: 'New recovery codes were made',
    what: 'New recovery codes were made for your account; the old ones open nothing any more',
  },
  'second_factor.recovery_code_used': {
    subject: 'A recovery code was used',
    what: 'One of the recovery codes of your account was used in place of its authenticator',
  },
};

/** Says what has changed, and what to do if it was somebody else. It has no link: such mails are what is imitated. */
export function accountMail({ mailId, email, notice, at }: AccountMail): MailMessage {
  const { subject, what } = NOTICES[notice]!;
  return {
    id: mailId,
    to: [email],
    subject: `${subject} (Consigliere)`,
    body: [
      `${what}. That was on ${timeOf(at)}.`,
      'If it was you, there is nothing to do.',
      'If it was not, ask for a link to set a new password at once (POST /api/admin/password/forgotten), and tell the owner of your workspace and the operator of this service, who can also remove a second factor that is not yours.',
    ].join('\n\n'),
  };
}

/** The mail with the link that sets a new password. */
export function resetMail(id: string, email: string, url: string, expiresAt: number): MailMessage {
  return {
    id,
    to: [email],
    subject: 'Set a new password (Consigliere)',
    body: [
      'Somebody asked for a link to set a new password for your account.',
      `Set it here: <${url}>`,
      `The link works once, until ${timeOf(expiresAt)}. If it was not you who asked, ignore this mail: your password stays as it is.`,
    ].join('\n\n'),
  };
}

function timeOf(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' at ')} (UTC)`;
}
