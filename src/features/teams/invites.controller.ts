import { Body, Controller, Delete, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import type { Request, Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { assertNotFromElsewhere } from '../../platform/auth/same-origin.js';
import { sessionCookie, sessionSecretOf } from '../../platform/auth/session-cookie.js';
import { escapeHtml, faultList, htmlPage, messagePage, SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError, type Fault } from '../../platform/kernel/define-error.js';
import {
  AlreadyExists,
  InvalidTransition,
  NotFound,
  ValidationFailed,
  WorkspaceReadOnly,
} from '../../platform/kernel/errors.js';
import { inWords } from '../../platform/kernel/local-day.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { READS } from '../../platform/rate-limit/limits.js';
import { SignIn, type SignInBody } from '../accounts/index.js';
import { AcceptInvite } from './accept-invite.js';
import type { InviteEntity } from './invite.entity.js';
import { rolesOffered } from './invite.js';
import {
  AcceptanceBody,
  AcceptedInvite,
  AcceptInviteBody,
  INVITE_PARAM,
  InvitePage,
  InvitesQuery,
  InviteView,
} from './invites.dto.js';
import { type InviteContext, Invites } from './invites.repository.js';
import { InviteService } from './invites.service.js';
import { AccountExists, InviteAccepted, InviteExpired } from './teams.errors.js';

/** The caller has no token yet, and each try costs a hash. */
const ACCEPT_LIMIT = { limit: 10, windowSeconds: 60, bucket: 'accept-invite' };

/** Accepting an invite, which needs no session: it is no part of the admin area, where the other acts on invites stand too. */
@ApiTags('invites')
@Controller('api/pro/invites')
export class AcceptanceController {
  constructor(private readonly acceptInvite: AcceptInvite) {}

  /** Accepts an invite, whose token stands in the mailed link; the answer shows a token of the member's own, once. */
  @Post('accept')
  @Route({
    auth: 'public',
    limit: ACCEPT_LIMIT,
    returns: { 201: AcceptedInvite },
    errors: [NotFound, InviteAccepted, InviteExpired, AccountExists, AlreadyExists, WorkspaceReadOnly],
  })
  accept(@Body() body: AcceptInviteBody): Promise<AcceptedInvite> {
    return this.acceptInvite.execute(body, 'api', true);
  }
}

@Controller(['api/pro/invites', 'api/admin/invites'])
export class InvitesController {
  constructor(
    private readonly invites: Invites,
    private readonly inviteService: InviteService,
    private readonly clock: Clock,
  ) {}

  /** Invites to the teams whose admin the caller is; owner and admin of the workspace see all. */
  @Get()
  @Route({ auth: 'member', role: 'admin', teamRole: true, stops: true, returns: { 200: InvitePage } })
  list(@CurrentCaller() caller: Caller, @Query() query: InvitesQuery): Promise<InvitePage> {
    return this.invites.list(caller, query, this.clock.now());
  }

  /** Sends an invite again, with a new link; the one before opens nothing any more. */
  @ApiParam(INVITE_PARAM)
  @Post(':id/resend')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    returns: { 200: InviteView },
    errors: [InvalidTransition],
  })
  resend(@CurrentCaller() caller: Caller, @Param('id') inviteId: string): Promise<InviteView> {
    return this.inviteService.resend(caller, inviteId);
  }

  /** Withdraws an invite; its link opens nothing any more. */
  @ApiParam(INVITE_PARAM)
  @Delete(':id')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    stops: true,
    returns: { 200: InviteView },
    errors: [InvalidTransition],
  })
  withdraw(@CurrentCaller() caller: Caller, @Param('id') inviteId: string): Promise<InviteView> {
    return this.inviteService.withdraw(caller, inviteId);
  }
}

/** Says that the invite is accepted, and shows the token that the member asked for; no other page or answer shows it again. */
export function welcomePage(
  { workspaceName, token }: AcceptedInvite,
  signedInAs: string | undefined,
): string {
  return htmlPage(
    `Welcome to ${workspaceName}`,
    `<p class="text">You have joined.${signedInAs === undefined ? '' : ` This browser is signed in as ${escapeHtml(signedInAs)} now.`}</p>
<p class="text"><a class="link" href="/">${signedInAs !== undefined ? 'Open your inbox' : 'Sign in'}</a></p>
${token === null ? '' : tokenDetails(token.token)}`,
  );
}

const HTML = { 200: { 'text/html': '<!doctype html>' } };

/** The link of an invite, for a person: GET shows it, since programs open links of mails too, and POST accepts. */
@Controller('invites/:token')
export class InvitePageController {
  constructor(
    private readonly acceptInvite: AcceptInvite,
    private readonly signIn: SignIn,
    private readonly address: PublicAddress,
    private readonly callers: Callers,
  ) {}

  /** Shows an invite; it changes nothing. */
  @Get()
  @SecretPage()
  @Route({ auth: 'public', limit: READS, returns: HTML })
  async show(
    @Param('token') token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return orMessage(response, async () =>
      invitePage(await this.acceptInvite.look(token), { signedInAs: await this.signedInAs(request) }),
    );
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
        return welcomePage(accepted, isSignedIn ? invite.email : undefined);
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

  /** Who is signed in in this browser, as far as it tells: it keeps the cookie back where a page elsewhere led here. */
  private async signedInAs({ headers }: Request): Promise<string | undefined> {
    try {
      const secret = sessionSecretOf(headers, this.address.url);
      return (await this.callers.identifySession(secret, { beforeSecondFactor: true })).name;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return undefined;
    }
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

/** What the link shows: who invites whom to what, and the form that accepts. */
function invitePage(
  invite: InviteEntity & InviteContext,
  {
    faults = [],
    displayName = invite.inviteeName ?? '',
    signedInAs,
  }: { faults?: readonly string[]; displayName?: string; signedInAs?: string | undefined } = {},
): string {
  const { invitedBy, workspaceName, teamName, email, expiresAt, timezone } = invite;
  const where = teamName === null ? workspaceName : `the team ${teamName} in ${workspaceName}`;
  return htmlPage(
    `Join ${workspaceName}`,
    `<p class="text">${escapeHtml(invitedBy.name)} invites ${escapeHtml(email)} to ${escapeHtml(where)}. ${rolesOffered(invite)}</p>
<p class="text">The link works once, until ${inWords(expiresAt, timezone)}.</p>
${signedInAs === undefined ? '' : `<p class="text">This browser is signed in as ${escapeHtml(signedInAs)}. Accepting signs it in as ${escapeHtml(email)} instead.</p>`}
${faultList(faults)}<form method="post">
<label>Your name<br><input name="displayName" autocomplete="name" required maxlength="80" value="${escapeHtml(displayName)}"></label>
<label>Password, 10 characters or more; if you have an account with this address already, its password<br>
<input name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="200"></label>
<label class="confirm"><input name="wantsToken" type="checkbox"> I also want a token, with which programs of mine use the API</label>
<button>Accept</button>
</form>`,
  );
}

function tokenDetails(token: string): string {
  return `<p class="text">Your token for programs. Nobody else has seen it, and it is shown only now, so keep it:</p>
<p class="text"><code>${escapeHtml(token)}</code></p>
<p class="text"><a class="reference" href="/docs">How to use the API</a></p>`;
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
