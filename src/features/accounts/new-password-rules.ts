import { newPasswordFault, type PasswordOwner } from '../../platform/auth/new-password.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';

const PATH = 'newPassword';

/** @throws ValidationFailed for a password that is easily guessed */
export async function assertNewPassword(password: string, owner: PasswordOwner): Promise<void> {
  const fault = await newPasswordFault(password, owner);
  if (fault !== undefined) throw refusal('isHardToGuess', fault);
}

/** A new password that is the old one. */
export function sameAsOld(): Error {
  return refusal('isAnother', 'must not be the password that you have');
}

function refusal(rule: string, fault: string): Error {
  return new ValidationFailed({ details: [{ path: PATH, rule, message: `${PATH} ${fault}` }] });
}
