import { defineError } from '../../platform/kernel/define-error.js';
import { Unauthorized, ValidationFailed } from '../../platform/kernel/errors.js';

/** The same for an address without an account, a wrong password, and an account that is a member of nothing. */
export const wrongCredentials = (): Error =>
  new Unauthorized({
    reason: 'invalid_credentials',
    message: 'The mail address and the password do not belong together.',
  });

/** The password is right, and the account has a second factor as well. */
export const secondFactorRequired = (): Error =>
  new Unauthorized({
    reason: 'second_factor_required',
    message:
      'This account has a second factor: sign in with the code of your authenticator, or a recovery code.',
  });

/** The password is right, the code is not. */
export const wrongSignInCode = (): Error =>
  new Unauthorized({ reason: 'wrong_code', message: 'This code is wrong, or was used already.' });

export const WrongPassword = defineError('WRONG_PASSWORD', 403, 'This is not the password of your account.');

export const WrongCode = defineError('WRONG_CODE', 403, 'This code is wrong, or was used already.');

export const SecondFactorExists = defineError(
  'SECOND_FACTOR_EXISTS',
  409,
  'Your account has a second factor already; remove it before you set up another.',
);

export const NoSecondFactor = defineError(
  'NO_SECOND_FACTOR',
  409,
  'Your account has no second factor, or the one that was begun was not confirmed within ten minutes.',
);

export const ResetLinkExpired = defineError(
  'RESET_LINK_EXPIRED',
  410,
  'This link has expired, was used, or a newer one was mailed; ask for another.',
);

/** A new password that is the old one. */
export function sameAsOld(): Error {
  const message = 'newPassword must not be the password that the account has';
  return new ValidationFailed({ details: [{ path: 'newPassword', rule: 'isAnother', message }] });
}
