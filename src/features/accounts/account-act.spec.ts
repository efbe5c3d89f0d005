import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../platform/auth/caller.js';
import { receiptOf } from './account-act.js';

const ADA = { memberId: 'mem_1', name: 'Ada' };

describe('the receipt of a mail about an account', () => {
  it.each([
    ['account.mailed', 'smtp', 'Ada was told by mail what has changed in their account.'],
    [
      'account.mailed',
      'file',
      'The mail that tells Ada what has changed in their account was written to a file, since no mail server is configured.',
    ],
    ['password.reset_mailed', 'smtp', 'A link to set a new password was mailed to Ada.'],
    [
      'password.reset_mailed',
      'file',
      'The mail with a link to set a new password for Ada was written to a file, since no mail server is configured.',
    ],
  ] as const)('says of %s by %s whether anybody can have received it', (action, transport, summary) => {
    expect(receiptOf({ ...ADA, action, details: { transport } }, SYSTEM).summary).toBe(summary);
  });

  it('says what it always said of one from before the way was recorded', () => {
    expect(receiptOf({ ...ADA, action: 'account.mailed', details: {} }, SYSTEM).summary).toBe(
      'Ada was told by mail what has changed in their account.',
    );
  });
});
