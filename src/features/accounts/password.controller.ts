import { Body, Controller, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { sessionCookie } from '../../platform/auth/session-cookie.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { NotFound, RateLimited, ValidationFailed } from '../../platform/kernel/errors.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { ResetLinkExpired, WrongPassword } from './accounts.errors.js';
import { PasswordService } from './password.service.js';
import {
  ChangedPassword,
  ChangePasswordBody,
  ForgottenPassword,
  ForgottenPasswordBody,
  ResetPasswordAnswer,
  ResetPasswordBody,
} from './passwords.dto.js';

/** The caller is anonymous, and each request may cause a mail. */
const FORGOTTEN_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'forgotten-password' };
/** Each costs two hashes. */
export const RESET_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'reset-password' };

const SENT = {
  message: 'If there is an account with this address, a link to set a new password is on its way to it.',
};

@Controller('api/admin/password')
export class PasswordController {
  constructor(
    private readonly password: PasswordService,
    private readonly publicAddress: PublicAddress,
  ) {}

  /** Changes one's own password; all other sessions of the account end, and this one has another cookie and CSRF token. */
  @Put()
  @Route({
    auth: 'member',
    transaction: false,
    returns: { 200: ChangedPassword },
    errors: [WrongPassword, RateLimited, ValidationFailed],
  })
  async change(
    @CurrentCaller() caller: Caller,
    @Body() body: ChangePasswordBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ChangedPassword> {
    const { answer, secret } = await this.password.change(caller, clientAddress(request), body);
    response.setHeader('Set-Cookie', sessionCookie(secret, this.publicAddress.url));
    return answer;
  }

  /** Mails a link to set a new password, which works once, for 30 minutes, if the address has an account with a password. */
  @Post('forgotten')
  @Route({ auth: 'public', limit: FORGOTTEN_LIMIT, returns: { 202: ForgottenPassword } })
  async requestReset(@Body() { email }: ForgottenPasswordBody): Promise<ForgottenPassword> {
    await this.password.requestReset(email);
    return SENT;
  }

  /** Sets a new password by the token of a mailed link; all sessions of the account end. A second factor stays. */
  @Post('reset')
  @Route({
    auth: 'public',
    limit: RESET_LIMIT,
    returns: { 200: ResetPasswordAnswer },
    errors: [NotFound, ResetLinkExpired, ValidationFailed],
  })
  reset(
    @Body() { token, newPassword }: ResetPasswordBody,
    @Req() request: Request,
  ): Promise<ResetPasswordAnswer> {
    return this.password.reset(token, newPassword, clientAddress(request));
  }
}
