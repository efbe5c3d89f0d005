import { Body, Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Request, Response } from 'express';
import { assertNotFromElsewhere } from '../../platform/auth/same-origin.js';
import { sessionCookie, sessionSecretOf } from '../../platform/auth/session-cookie.js';
import { escapeHtml, faultList, htmlPage, messagePage, SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { DomainError, type Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { READS } from '../../platform/rate-limit/limits.js';
import { SignIn, type SignInBody } from '../accounts/index.js';
import { type AcceptedInvite, AcceptanceBody } from './invites.dto.js';
import { rolesOffered } from './invite.js';
import type { InviteEntity } from './invite.entity.js';
import type { InviteContext } from './invites.repository.js';
import { AcceptInvite } from './accept-invite.js';
import { ACCEPT_LIMIT } from './invites.controller.js';
import { AccountExists } from './teams.errors.js';

/** What the link shows: who invites whom to what, and the form that accepts. */
function invitePage(
  invite: InviteEntity & InviteContext,
  {
    faults = [],
    displayName = invite.inviteeName ?? '',
  }: { faults?: readonly string[]; displayName?: string } = {},
): string {
  const { invitedBy, workspaceName, teamName, email, expiresAt, timezone } = invite;
  const where = teamName === null ? workspaceName : `the team ${teamName} in ${workspaceName}`;
  return htmlPage(
    `Join ${workspaceName}`,
    `<p class="text">${escapeHtml(invitedBy.name)} invites ${escapeHtml(email)} to ${escapeHtml(where)}. ${rolesOffered(invite)}</p>
<p class="text">The link works once, until ${inWords(expiresAt, timezone)}.</p>
${faultList(faults)}<form method="post">
<label>Your name<br><input name="displayName" autocomplete="name" required maxlength="80" value="${escapeHtml(displayName)}"></label>
<label>Password, 10 characters or more; if you have an account with this address already, its password<br>
<input name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200"></label>
<label class="confirm"><input name="wantsToken" type="checkbox"> I also want a token, with which programs of mine use the API</label>
<button>Accept</button>
</form>`,
  );
}

/** Says that the invite is accepted, and shows the token that the member asked for; no other page or answer shows it again. */
export function welcomePage({ workspaceName, token }: AcceptedInvite, isSignedIn: boolean): string {
  return htmlPage(
    `Welcome to ${workspaceName}`,
    `<p class="text">You have joined.</p>
<p class="text"><a class="link" href="/">${isSignedIn ? 'Open your inbox' : 'Sign in'}</a></p>
${token === null ? '' : tokenDetails(token.token)}`,
  );
}

function tokenDetails(token: string): string {
  return `<p class="text">Your token for programs. Nobody else has seen it, and it is shown only now, so keep it:</p>
<p class="text"><code>${escapeHtml(token)}</code></p>
<p class="text"><a class="reference" href="/docs">How to use the API</a></p>`;
}

const HTML = { 200: { 'text/html': '<!doctype html>' } };

/** The link of an invite, for a person: GET shows it, since programs open links of mails too, and POST accepts. */
@Controller('invites/:token')
export class InvitePageController {
  constructor(
    private readonly acceptInvite: AcceptInvite,
    private readonly signIn: SignIn,
    private readonly address: PublicAddress,
  ) {}

  /** Shows an invite; it changes nothing. */
  @Get()
  @SecretPage()
  @Route({ auth: 'public', limit: READS, returns: HTML })
  async show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return orMessage(response, async () => invitePage(await this.acceptInvite.look(token)));
  }

  /** Accepts an invite by its form, and signs the new member in. */
  @Post()
  @SecretPage()
  @Route({ auth: 'public', form: true, limit: ACCEPT_LIMIT, returns: HTML })
  async accept(
    @Param('token') token: string,
    @Body() form: object,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return orMessage(response, async () => {
      const invite = await this.acceptInvite.look(token);
      // A session begins here, and nobody else begins one for the reader.
      assertNotFromElsewhere(request, this.address.url);
      const body = plainToInstance(AcceptanceBody, form);
      const { displayName } = body;
      const again = (status: number, faults: string[]) => {
        response.status(status);
        return invitePage(invite, { faults, ...(typeof displayName === 'string' && { displayName }) });
      };
      const faults = validateSync(body).flatMap(({ constraints }) => Object.values(constraints ?? {}));
      if (faults.length > 0) return again(422, faults);
      try {
        const accepted = await this.acceptInvite.execute({ ...body, token }, 'link', 'wantsToken' in form);
        const { workspaceId } = accepted;
        const { password } = body;
        const isSignedIn = await this.start(
          { email: invite.email, password, workspaceId },
          request,
          response,
        );
        return welcomePage(accepted, isSignedIn);
      } catch (error) {
        if (error instanceof AccountExists) return again(error.status, [error.message]);
        if (error instanceof ValidationFailed) {
          return again(
            error.status,
            (error.details as Fault[]).map(({ message }) => message),
          );
        }
        throw error;
      }
    });
  }

  /** Whether the person is signed in now; who has a second factor, or tried too often, signs in by themselves. */
  private async start(body: SignInBody, request: Request, response: Response): Promise<boolean> {
    const { url } = this.address;
    try {
      const { secret } = await this.signIn.execute(body, {
        address: clientAddress(request),
        userAgent: request.headers['user-agent'],
        presented: sessionSecretOf(request.headers, url),
        byInvite: true,
      });
      response.set('Set-Cookie', sessionCookie(secret, url));
      return true;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return false;
    }
  }
}

/** A person is told what is wrong as a page. */
async function orMessage(response: Response, make: () => Promise<string>): Promise<string> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    response.status(error.status).set(error.headers);
    return messagePage('This invite cannot be accepted', error.message);
  }
}
