import { Body, Controller, Delete, Get, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { sessionCookie } from '../../platform/auth/session-cookie.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { RateLimited } from '../../platform/kernel/errors.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { NoSecondFactor, SecondFactorExists, WrongCode, WrongPassword } from './accounts.errors.js';
import {
  BeginSecondFactorBody,
  NewSecondFactor,
  ProveSecondFactorBody,
  RecoveryCodes,
  SecondFactorCodeBody,
  SecondFactorView,
} from './accounts.dto.js';
import { SecondFactorService } from './second-factor.service.js';

/** The second factor of one's own account: the codes of an authenticator (RFC 6238). */
@Controller('api/admin/second-factor')
export class SecondFactorController {
  constructor(
    private readonly secondFactor: SecondFactorService,
    private readonly publicAddress: PublicAddress,
  ) {}

  /** Whether it is set up. */
  @Get()
  @Route({ auth: 'member', beforeSecondFactor: true, returns: { 200: SecondFactorView } })
  get(@CurrentCaller() caller: Caller): Promise<SecondFactorView> {
    return this.secondFactor.read(caller);
  }

  /** Begins to set one up; the secret is shown once, and has to be confirmed within ten minutes. */
  @Post()
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    transaction: false,
    returns: { 201: NewSecondFactor },
    errors: [WrongPassword, RateLimited, SecondFactorExists],
  })
  begin(
    @CurrentCaller() caller: Caller,
    @Body() { password }: BeginSecondFactorBody,
    @Req() request: Request,
  ): Promise<NewSecondFactor> {
    return this.secondFactor.begin(caller, clientAddress(request), password);
  }

  /** Sets up what was begun, by a code of it; all other sessions end, and this one has another cookie and CSRF token. */
  @Post('confirm')
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    transaction: false,
    returns: { 201: RecoveryCodes },
    errors: [WrongCode, RateLimited, NoSecondFactor, SecondFactorExists],
  })
  async confirm(
    @CurrentCaller() caller: Caller,
    @Body() { code }: SecondFactorCodeBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<RecoveryCodes> {
    const { answer, secret } = await this.secondFactor.confirm(caller, clientAddress(request), code);
    response.setHeader('Set-Cookie', sessionCookie(secret, this.publicAddress.url));
    return answer;
  }

  /** Shows it in a session that was begun without it, which then has another cookie and CSRF token. */
  @Post('verify')
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    transaction: false,
    returns: { 200: SecondFactorView },
    errors: [WrongCode, RateLimited, NoSecondFactor],
  })
  async verify(
    @CurrentCaller() caller: Caller,
    @Body() { code }: SecondFactorCodeBody,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<SecondFactorView> {
    const secret = await this.secondFactor.verify(caller, clientAddress(request), code);
    response.setHeader('Set-Cookie', sessionCookie(secret, this.publicAddress.url));
    return this.secondFactor.read(caller);
  }

  /** Makes new recovery codes, shown once; those of before open nothing any more. */
  @Post('recovery-codes')
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    transaction: false,
    returns: { 201: RecoveryCodes },
    errors: [WrongPassword, WrongCode, RateLimited, NoSecondFactor],
  })
  replaceRecoveryCodes(
    @CurrentCaller() caller: Caller,
    @Body() body: ProveSecondFactorBody,
    @Req() request: Request,
  ): Promise<RecoveryCodes> {
    return this.secondFactor.renewRecoveryCodes(caller, clientAddress(request), body);
  }

  /** Removes it. All other sessions end. */
  @Delete()
  @Route({
    auth: 'member',
    beforeSecondFactor: true,
    transaction: false,
    returns: { 200: SecondFactorView },
    errors: [WrongPassword, WrongCode, RateLimited, NoSecondFactor],
  })
  async remove(
    @CurrentCaller() caller: Caller,
    @Body() body: ProveSecondFactorBody,
    @Req() request: Request,
  ): Promise<SecondFactorView> {
    await this.secondFactor.remove(caller, clientAddress(request), body);
    return this.secondFactor.read(caller);
  }
}
