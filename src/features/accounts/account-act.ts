import type { Actor } from '../../platform/auth/caller.js';
import type { NewReceipt } from '../../platform/receipts/receipts.js';
import { type SentMail, summaryOfMail } from '../mail/index.js';

/** What happens to an account, by the action of its receipt. */
export type AccountAction = keyof typeof SENTENCES;

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
