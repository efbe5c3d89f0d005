import { inWords } from '../../platform/kernel/local-day.js';
import { type Block, type MailMessage, mailOf } from '../mail/index.js';
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
  const blocks: Block[] = [
    { kind: 'heading', text: subject },
    { kind: 'text', text: `${what}. That was on ${inWords(at, 'UTC')}.` },
    { kind: 'text', text: 'If it was you, there is nothing to do.' },
    {
      kind: 'text',
      text: 'If it was not, set a new password at once ("I forgot my password" on the page where you sign in), and tell the owner of your workspace and the operator of this service, who can also remove a second factor that is not yours.',
    },
  ];
  return { id: mailId, to: [email], ...mailOf(`${subject} (Consigliere)`, blocks) };
}

/** The mail with the link that sets a new password. */
export function resetMail(id: string, email: string, url: string, expiresAt: number): MailMessage {
  const blocks: Block[] = [
    { kind: 'heading', text: 'Set a new password' },
    { kind: 'text', text: 'Somebody asked for a link to set a new password for your account.' },
    { kind: 'link', words: 'Set a new password', url },
    {
      kind: 'text',
      text: `The link works once, until ${inWords(expiresAt, 'UTC')}. If it was not you who asked, ignore this mail: your password stays as it is.`,
    },
  ];
  return { id, to: [email], ...mailOf('Set a new password (Consigliere)', blocks) };
}
