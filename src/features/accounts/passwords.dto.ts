import { PickType } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { IsNewPassword } from '../../platform/auth/new-password.js';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { MaxLength } from '../../platform/kernel/text-length.js';

/** What the link's page asks for. */
export class NewPasswordBody {
  /**
   * The new password: 10 to 200 characters, another than before, and none that is easily guessed.
   * @example 'nineteen pears on a slow train'
   */
  @IsNewPassword()
  newPassword!: string;
}

/** Body of `PUT /api/admin/password`. */
export class ChangePasswordBody extends NewPasswordBody {
  /** The password that the account has. @example 'correct horse battery staple' */
  @IsString()
  @MaxLength(1000)
  currentPassword!: string;
}

/** What has changed. */
export class ChangedPassword {
  /** Unix milliseconds. @example 1768209000000 */
  changedAt!: number;
  /** How many other sessions of the account have ended. @example 2 */
  endedSessions!: number;
}

/** Body of `POST /api/admin/password/forgotten`. */
export class ForgottenPasswordBody {
  /** The mail address of the account. @example 'mira@northwind.example' */
  @IsMailAddress()
  email!: string;
}

/** The same for every address. */
export class ForgottenPassword {
  /**
   * What happens now.
   * @example 'If there is an account with this address, a link to set a new password is on its way to it.'
   */
  message!: string;
}

/** Body of `POST /api/admin/password/reset`. */
export class ResetPasswordBody extends NewPasswordBody {
  /** What stands at the end of the link. @example 'uM3nYdW0s2cJ8qv5Xk1ZbTgR7hLpAeFo6iNrVtCxB4E' */
  @IsString()
  @MaxLength(100)
  token!: string;
}

/** The password is set, and all sessions of the account have ended. */
export class ResetPasswordAnswer extends PickType(ChangedPassword, ['changedAt']) {}
