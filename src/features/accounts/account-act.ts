import type { Actor } from '../../platform/auth/caller.js';
import { inWords } from '../../platform/kernel/local-day.js';
import type { NewReceipt } from '../../platform/receipts/receipts.js';
import { type SentMail, summaryOfMail, type Block, type MailMessage, mailOf } from '../mail/index.js';

/** What happens to an account, by the action of its receipt. */
type AccountAction = keyof typeof SENTENCES;

/** Whose account it is in a workspace, and what happened. */
export interface AccountAct {
  action: AccountAction;
  memberId: string;
  name: string;
  details: Record<string, unknown>;
}

const SENTENCES = {
  'password.changed': ({ name }) => `${name} changed their password; their other sessions have ended.`,
  'password.reset_mailed': ({ name, details }) =>
    summaryOfMail(
      transportOf(details),
      `The mail with a link to set a new password for ${name}`,
      `A link to set a new password was mailed to ${name}.`,
    ),
  'password.reset_mail_failed': ({ name, details }) =>
    `The link to set a new password could not be mailed to ${name}. ${reason(details)}`,
  'password.reset': ({ name }) =>
    `${name} set a new password by a mailed link; all their sessions have ended.`,
  'second_factor.added': ({ name }) => `${name} set up a second factor; their other sessions have ended.`,
  'second_factor.removed': ({ name }) =>
    `${name} removed their second factor; their other sessions have ended.`,
  'second_factor.removed_on_server': ({ name }) =>
    `The second factor of ${name} was removed on the server; all their sessions have ended.`,
  'second_factor.recovery_codes_renewed': ({ name }) =>
    `${name} made new recovery codes; the old ones open nothing any more.`,
  'second_factor.recovery_code_used': ({ name }) =>
    `${name} used a recovery code in place of a second factor.`,
  'account.locked': ({ name, details }) =>
    `Sign-in to the account of ${name} is locked for 15 minutes for the address ${String(details['address'])}, after too many failed attempts.`,
  'account.mailed': ({ name, details }) =>
    summaryOfMail(
      transportOf(details),
      `The mail that tells ${name} what has changed in their account`,
      `${name} was told by mail what has changed in their account.`,
    ),
  'account.mail_failed': ({ name, details }) =>
    `${name} could not be told by mail what has changed in their account. ${reason(details)}`,
} satisfies Record<string, (act: Omit<AccountAct, 'action'>) => string>;

const FAILURES: readonly AccountAction[] = [
  'password.reset_mail_failed',
  'account.locked',
  'account.mail_failed',
];

/** What an act on an account leaves in the chain of a workspace. */
export function receiptOf(act: AccountAct, actor: Actor): NewReceipt {
  const { action, memberId, details } = act;
  return {
    actor,
    action,
    entity: { type: 'member', id: memberId },
    outcome: FAILURES.includes(action) ? 'failure' : 'success',
    summary: SENTENCES[action](act),
    details,
  };
}

/** Acts of before it was recorded say nothing of it. */
function transportOf({ transport }: Record<string, unknown>): SentMail['transport'] {
  return transport === 'file' ? 'file' : 'smtp';
}

function reason(details: Record<string, unknown>): string {
  return (details['error'] as { message: string }).message;
}

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
