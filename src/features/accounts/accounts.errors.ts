import { Unauthorized } from '../../platform/kernel/errors.js';

/** The same for an address without an account, a wrong password, and an account that is a member of nothing. */
export const wrongCredentials = (): Error =>
  new Unauthorized({
    reason: 'invalid_credentials',
    message: 'The mail address and the password do not belong together.',
  });
