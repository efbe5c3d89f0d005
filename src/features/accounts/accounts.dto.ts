import { PickType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional, IsString, Matches } from 'class-validator';
import type { Role } from '../../platform/auth/caller.js';
import { IsNewPassword } from '../../platform/auth/new-password.js';
import { IsMailAddress } from '../../platform/kernel/mail-address.js';
import { IsOmittable } from '../../platform/kernel/decorators.js';
import { PageFacts, PageQuery } from '../../platform/kernel/pages.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import type { SignInMethod } from './session.entity.js';

/** The parameter of the paths, as it is documented. */
export const SESSION_PARAM = {
  name: 'id',
  description: 'The id of the session.',
  example: 'ses_01kerqh2a4c6e8g0j2l4n6p8r0',
};

/** Body of `POST /api/admin/session`. */
export class SignInBody {
  /** The mail address of the account. @example 'mira@northwind.example' */
  @IsMailAddress()
  @MaxLength(254)
  email!: string;

  /** The password of the account. @example 'correct horse battery staple' */
  @IsString()
  @MaxLength(1000)
  password!: string;

  /** Where the account has a second factor: the six digits of the authenticator, or a recovery code. @example '492039' */
  @IsOmittable()
  @IsString()
  @MaxLength(100)
  code?: string;

  /** Which workspace to open; left out: the one that the account opened last. @example 'wks_01kerpxzkz8m1c3v5b7n9q2w4e' */
  @IsOmittable()
  @Matches(/^wks_[0-9a-z]{26}$/, { message: '$property must be the id of a workspace' })
  workspaceId?: string;
}

/** Body of `POST /api/admin/session/workspace`. */
export class OpenWorkspaceBody {
  /** Which workspace of the account to open. @example 'wks_01kerpxzkz8m1c3v5b7n9q2w4e' */
  @Matches(/^wks_[0-9a-z]{26}$/, { message: '$property must be the id of a workspace' })
  workspaceId!: string;
}

/** A workspace that the account is a member of. */
export class OwnWorkspace {
  /** The id of the workspace. @example 'wks_01kerpxzkz8m1c3v5b7n9q2w4e' */
  workspaceId!: string;
  /** The workspace's name. @example 'Northwind' */
  workspaceName!: string;
  /** The membership. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  memberId!: string;
  /** The role in it: viewer, operator, admin or owner. @example 'owner' */
  role!: Role;
  /** Whether it requires a second factor of this member. @example false */
  requiresSecondFactor!: boolean;
}

/** What every view of a session shows. */
class SessionFacts {
  /** The id of the session. @example 'ses_01kerqh2a4c6e8g0j2l4n6p8r0' */
  sessionId!: string;
  /** How the account signed in: password or oidc. @example 'password' */
  method!: SignInMethod;
  /** Whether a second factor was shown. @example false */
  secondFactor!: boolean;
  /** When it began, Unix milliseconds. @example 1768209000000 */
  createdAt!: number;
  /** When it ends unless a request comes before, Unix milliseconds. @example 1768211100000 */
  endsAt!: number;
}

/** Who is signed in, where, and until when. */
export class SessionView extends SessionFacts {
  /**
   * What each change in the admin area sends back in the header X-CSRF-Token.
   * @example 'q2b7N0y6wXk3mV1tZ8rLpA5fHs9DcUeGiJoKyQxWz4M'
   */
  csrfToken!: string;
  /**
   * Whether one has to be shown or set up first: until then only the routes of the session and of the second factor open.
   * @example false
   */
  lacksSecondFactor!: boolean;
  /** The workspace that is open. */
  workspace!: OwnWorkspace;
  /** Every workspace that the account is an active member of, the one that it opened last first; POST /api/admin/session/workspace opens another. */
  workspaces!: OwnWorkspace[];
  /** The name of the account. @example 'Mira Novak' */
  displayName!: string;
  /** The mail address of the account. @example 'mira@northwind.example' */
  email!: string;
  /** When it ends in any case, Unix milliseconds. @example 1768252200000 */
  expiresAt!: number;
}

export class SessionsQuery extends PageQuery {
  /**
   * Only the sessions of this member. Owner and admin see those of everyone, others their own.
   * @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd'
   */
  @IsOptional()
  @Matches(/^mem_[0-9a-z]{26}$/, { message: '$property must be the id of a member' })
  memberId?: string;

  /** Without one's own sessions. @example true */
  @IsOptional()
  @Transform(({ value }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  others?: boolean;
}

/** An open session as lists show it. */
export class ListedSession extends SessionFacts {
  /** Whose it is. @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd' */
  memberId!: string;
  /** The account of the member. @example 'usr_01kerpxzm0g7k7xtwmhd8ah2pe' */
  userId!: string;
  /** The name of the member. @example 'Mira Novak' */
  memberName!: string;
  /** Whether it is the one that asks. @example true */
  current!: boolean;
  /** What the browser says that it is. @example 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0' */
  userAgent!: string | null;
  /** The address that signed in. @example '192.0.2.17' */
  address!: string;
  /** The last request, known to five seconds, Unix milliseconds. @example 1768209300000 */
  lastSeenAt!: number;
}

export class SessionPage extends PageFacts {
  /** The open sessions of this page, newest first. */
  items!: ListedSession[];
}

/** A session that has ended. */
export class EndedSession extends PickType(SessionFacts, ['sessionId']) {
  /** When it ended, Unix milliseconds. @example 1768209300000 */
  endedAt!: number;
}

/** An operator token for a page of the dashboard, which keeps it in memory. */
export class OperatorToken {
  /** The id of the token. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  tokenId!: string;
  /** The token; it is shown here alone. @example 'cons_4fJq8Wn2Rk6Tz0Xb5Vc9Lm3Pd7Hs1Gy8Ua4Ei6Or2Qw0ZtX1Bn' */
  token!: string;
  /** When it stops to open anything, Unix milliseconds; it ends with the session too. @example 1768209900000 */
  expiresAt!: number;
}

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
  /** To be kept where neither the password nor the authenticator is. @example ["7k2m9q-4x0vbn-1zt8rw-6hcj5d"] */
  recoveryCodes!: string[];
}

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
  /** What happens now. @example 'If there is an account with this address, a link to set a new password is on its way to it.' */
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
