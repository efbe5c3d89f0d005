import { applyDecorators, Body, Controller, Get, Header, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Request, Response } from 'express';
import { assertNotFromElsewhere } from '../../platform/auth/same-origin.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { faultsOf } from '../../platform/http/validation.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { MUTATIONS, READS } from '../../platform/rate-limit/limits.js';
import { RejectBody } from '../approvals/approval-decisions.dto.js';
import { InputRequired } from '../approvals/approvals.errors.js';
import { DecideByLink } from './decide-by-link.js';
import { decidedPage, decisionPage, messagePage, PAGE_POLICY } from './decision-page.js';

const HTML = { 200: { 'text/html': '<!doctype html>' } };

/** A page for people; its address is a secret, which goes nowhere. */
const SecretPage = () =>
  applyDecorators(
    ApiExcludeEndpoint(),
    Header('Content-Security-Policy', PAGE_POLICY),
    Header('Referrer-Policy', 'no-referrer'),
    Header('Cache-Control', 'no-store'),
    Header('X-Robots-Tag', 'noindex, nofollow'),
    Header('Content-Type', 'text/html; charset=utf-8'),
  );

/** The link of a mail, for a person: GET shows the draft, since programs open links of mails too, and POST decides. */
@Controller('a/:token')
export class DecisionPageController {
  constructor(
    private readonly decideByLink: DecideByLink,
    private readonly address: PublicAddress,
  ) {}

  /** Shows the complete draft; it changes nothing. */
  @Get()
  @SecretPage()
  @Route({ auth: 'public', limit: READS, returns: HTML })
  show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return orMessage(response, async () => {
      return decisionPage(await this.decideByLink.look(token), this.address.url);
    });
  }

  /** Approves or rejects by one of the forms of the page. */
  @Post()
  @SecretPage()
  @Route({ auth: 'public', form: true, limit: MUTATIONS, returns: HTML })
  decide(
    @Param('token') token: string,
    @Body() form: Record<string, string>,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return orMessage(response, async () => {
      assertNotFromElsewhere(request, this.address.url);
      const { decision, feedback = '' } = form;
      if (decision === 'approve') return this.approve(token, response);
      const faults =
        decision === 'reject' ? faultsIn(feedback) : ['Choose one of the two: approve or reject.'];
      if (decision === 'reject' && faults.length === 0) {
        return decidedPage(await this.decideByLink.execute(token, { decision, feedback }));
      }
      const linked = await this.decideByLink.look(token);
      response.status(422);
      return decisionPage(linked, this.address.url, { faults, feedback });
    });
  }

  /** What is missing is said on the page, in its words: the error names parameters and is for programs. */
  private async approve(token: string, response: Response): Promise<string> {
    try {
      return decidedPage(await this.decideByLink.execute(token, { decision: 'approve' }));
    } catch (error) {
      if (!(error instanceof InputRequired)) throw error;
      const linked = await this.decideByLink.look(token);
      response.status(error.status);
      return decisionPage(linked, this.address.url, {
        faults: ['It was not approved. Why stands below.'],
      });
    }
  }
}

/** A person has not seen the name of the field. */
function faultsIn(feedback: string): string[] {
  const errors = validateSync(plainToInstance(RejectBody, { feedback }));
  return faultsOf(errors).map(({ message }) => message.replace(/^feedback/, 'The reason'));
}

/** A person is told what is wrong as a page. */
async function orMessage(response: Response, make: () => Promise<string>): Promise<string> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    response.status(error.status).set(error.headers);
    return messagePage('This cannot be decided here', error.message);
  }
}
