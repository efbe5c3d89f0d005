import { PickType } from '@nestjs/swagger';
import { IsString } from 'class-validator';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { SignInBody } from './sessions.dto.js';

/** The second factor of an account. */
export class SecondFactorView {
  /** Whether it is set up, and asked for at each sign-in. @example true */
  isSetUp!: boolean;
  /** Since when, Unix milliseconds; null: it is not. @example 1768209000000 */
  since!: number | null;
  /** How many recovery codes were not used. @example 10 */
  recoveryCodesLeft!: number;
  /** Whether the workspace requires one of this member. @example false */
  isRequired!: boolean;
}

/** Body of `POST /api/admin/second-factor`. */
export class BeginSecondFactorBody extends PickType(SignInBody, ['password']) {}

/** What an authenticator needs to know; it is shown here alone. */
export class NewSecondFactor {
  /** The secret in base32, to be typed. @example 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' */
  secret!: string;
  /**
   * The same as the content of a QR code.
   * @example 'otpauth://totp/Consigliere:mira%40northwind.example?issuer=Consigliere&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&algorithm=SHA1&digits=6&period=30'
   */
  uri!: string;
  /** Until when it can be confirmed, Unix milliseconds. @example 1768209600000 */
  expiresAt!: number;
}

/** Body of what takes a code alone. */
export class SecondFactorCodeBody {
  /** The six digits that the authenticator shows now. @example '492039' */
  @IsString()
  @MaxLength(100)
  code!: string;
}

/** Body of what changes a second factor that is set up. */
export class ProveSecondFactorBody extends BeginSecondFactorBody {
  /** The six digits of the authenticator, or a recovery code. @example '492039' */
  @IsString()
  @MaxLength(100)
  code!: string;
}

/** Ten codes, each of which stands in for the authenticator once. They are shown here alone. */
export class RecoveryCodes {
  /**
   * To be kept where neither the password nor the authenticator is.
   * @example ["7k2m9q-4x0vbn-1zt8rw-6hcj5d"]
   */
  recoveryCodes!: string[];
}
