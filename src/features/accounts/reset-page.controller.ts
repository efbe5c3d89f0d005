import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Request, Response } from 'express';
import { assertNotFromElsewhere } from '../../platform/auth/same-origin.js';
import { messagePage, SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { DomainError, type Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { READS } from '../../platform/rate-limit/limits.js';
import { RESET_LIMIT } from './password.controller.js';
import { PasswordService } from './password.service.js';
import { NewPasswordBody } from './passwords.dto.js';
import { resetDonePage, resetPage } from './reset-page.js';

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
        return resetPage(reset, faults.map(inWords));
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
function inWords(fault: string): string {
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
