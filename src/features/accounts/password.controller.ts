import { Body, Controller, Post, Put, Req, Res, Get, Param } from '@nestjs/common';
import type { Request, Response } from 'express';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { assertNotFromElsewhere } from '../../platform/auth/same-origin.js';
import { sessionCookie } from '../../platform/auth/session-cookie.js';
import { escapeHtml, faultList, htmlPage, messagePage, SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { DomainError, type Fault } from '../../platform/kernel/define-error.js';
import { NotFound, RateLimited, ValidationFailed } from '../../platform/kernel/errors.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { READS } from '../../platform/rate-limit/limits.js';
import { ResetLinkExpired, WrongPassword } from './accounts.errors.js';
import { PasswordService } from './password.service.js';
import {
  ChangedPassword,
  ChangePasswordBody,
  ForgottenPassword,
  ForgottenPasswordBody,
  ResetPasswordAnswer,
  ResetPasswordBody,
  NewPasswordBody,
} from './accounts.dto.js';

/** The caller is anonymous, and each request may cause a mail. */
const FORGOTTEN_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'forgotten-password' };
/** Each costs two hashes. */
const RESET_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'reset-password' };

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

/** What the link shows: the form that sets a new password. */
function resetPage(
  { email, expiresAt }: { email: string; expiresAt: number },
  faults: readonly string[] = [],
): string {
  return htmlPage(
    'Set a new password',
    `<p class="text">For the account ${escapeHtml(email)}. The link works once, until ${inWords(expiresAt, 'UTC')}.</p>
${faultList(faults)}<form method="post">
<input hidden readonly name="username" autocomplete="username" value="${escapeHtml(email)}">
<label>New password, 10 characters or more<br>
<input name="newPassword" type="password" autocomplete="new-password" required minlength="10" maxlength="400"></label>
<button>Set this password</button>
</form>`,
  );
}

export function resetDonePage(): string {
  return htmlPage(
    'Your password is set',
    `<p class="text">All sessions of your account have ended.
<a class="reference" href="/">Sign in with the new password</a></p>`,
  );
}

const HTML = { 200: { 'text/html': '<!doctype html>' } };

/** The link for a new password, for a person: GET shows it, since programs open links of mails too, and POST sets it. */
@Controller('password/:token')
export class ResetPageController {
  constructor(
    private readonly password: PasswordService,
    private readonly address: PublicAddress,
  ) {}

  /** Shows the form; it changes nothing. */
  @Get()
  @SecretPage()
  @Route({ auth: 'public', limit: READS, returns: HTML })
  show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return orMessage(response, async () => resetPage(await this.password.findReset(token)));
  }

  /** Sets the password by the form. */
  @Post()
  @SecretPage()
  @Route({ auth: 'public', form: true, limit: RESET_LIMIT, returns: HTML })
  set(
    @Param('token') token: string,
    @Body() form: object,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return orMessage(response, async () => {
      const reset = await this.password.findReset(token);
      // It ends sessions, and nobody else sets a password for the reader.
      assertNotFromElsewhere(request, this.address.url);
      const again = (faults: string[]) => {
        response.status(422);
        return resetPage(reset, faults.map(faultInWords));
      };
      const body = plainToInstance(NewPasswordBody, form);
      const faults = validateSync(body).flatMap(({ constraints }) => Object.values(constraints ?? {}));
      if (faults.length > 0) return again(faults);
      try {
        await this.password.reset(token, body.newPassword, clientAddress(request));
        return resetDonePage();
      } catch (error) {
        if (!(error instanceof ValidationFailed)) throw error;
        return again((error.details as Fault[]).map(({ message }) => message));
      }
    });
  }
}

/** A person has not seen the name of the field. */
function faultInWords(fault: string): string {
  return fault.replace(/^newPassword/, 'The new password');
}

/** A person is told what is wrong as a page. */
async function orMessage(response: Response, make: () => Promise<string>): Promise<string> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    response.status(error.status).set(error.headers);
    return messagePage('No password can be set here', error.message);
  }
}
