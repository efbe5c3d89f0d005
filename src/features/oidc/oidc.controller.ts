import type { IncomingHttpHeaders } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { comesFromElsewhere } from '../../platform/auth/same-origin.js';
import { sessionCookie, sessionSecretOf } from '../../platform/auth/session-cookie.js';
import { escapeHtml, htmlPage, SecretPage } from '../../platform/http/page.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Route } from '../../platform/http/route.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { clientAddress } from '../../platform/rate-limit/client-address.js';
import { READS } from '../../platform/rate-limit/limits.js';
import { TRANSACTION_SECONDS } from './oidc-transaction.js';
import { OidcProvider } from './oidc-provider.js';
import { OidcOffer, OidcStartQuery } from './oidc.dto.js';
import { SignInByOidc } from './sign-in-by-oidc.js';

const isHttps = (publicUrl: string) => publicUrl.startsWith('https:');

/** On https no other host and no plain connection can put a cookie of this name in its place. */
const nameFor = (publicUrl: string) => (isHttps(publicUrl) ? '__Host-consigliere_oidc' : 'consigliere_oidc');

/** The sealed sign-in that this browser has begun. */
function oidcCookieOf(
  { cookie }: Pick<IncomingHttpHeaders, 'cookie'>,
  publicUrl: string,
): string | undefined {
  return cookie === undefined ? undefined : parseCookie(cookie)[nameFor(publicUrl)];
}

/**
 * `Set-Cookie` for a sign-in that has begun; without one it takes the cookie away. Lax, unlike the session's: it must come
 * along when the provider sends the browser back.
 */
function oidcCookie(sealed: string | undefined, publicUrl: string): string {
  return stringifySetCookie({
    name: nameFor(publicUrl),
    value: sealed ?? '',
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure: isHttps(publicUrl),
    maxAge: sealed === undefined ? 0 : TRANSACTION_SECONDS,
  });
}

/** A page of another site has led here, so the person must confirm the sign-in. */
export function beginPage(provider: string, start: string): string {
  return htmlPage(
    'Sign in to Consigliere',
    `<p class="text"><a href="${escapeHtml(start)}">Sign in with ${escapeHtml(provider)}</a></p>`,
  );
}

/** Somebody is signed in; `next` is where the browser goes on by itself, or null. */
export function signedInPage(displayName: string, next: string | null): string {
  const onward =
    next === null
      ? '<p class="text">You can close this page.</p>'
      : `<p class="text"><a href="${escapeHtml(next)}">Continue</a>, if this page does not do it by itself.</p>`;
  return htmlPage(
    'You are signed in',
    `<p class="text">You are signed in as ${escapeHtml(displayName)}.</p>\n${onward}`,
  );
}

/** Nobody is signed in; `again` is where the sign-in begins, or null where that is of no use. */
export function notSignedInPage(message: string, again: string | null): string {
  const link = again === null ? '' : `\n<p class="text"><a href="${escapeHtml(again)}">Sign in again</a></p>`;
  return htmlPage('You are not signed in', `<p class="text">${escapeHtml(message)}</p>${link}`);
}

const START = '/api/admin/oidc/start';
const HTML = { 'text/html': '<!doctype html>' };

/** Sign-in by OpenID Connect. */
@Controller('api/admin/oidc')
export class OidcController {
  constructor(
    private readonly signIn: SignInByOidc,
    private readonly provider: OidcProvider,
    private readonly address: PublicAddress,
  ) {}

  /** Whether people can sign in by OpenID Connect, and what the button says. */
  @Get()
  @Route({ auth: 'public', limit: READS, returns: { 200: OidcOffer } })
  get(): OidcOffer {
    if (!this.provider.isEnabled) return { enabled: false, name: null, startPath: null };
    return { enabled: true, name: this.provider.name, startPath: START };
  }

  /**
   * Sends the browser to the provider. Whom the provider knows already would be signed in without doing anything, so from a
   * page of another site it takes one more click: nobody else begins a session of theirs.
   */
  @Get('start')
  @SecretPage("'none'")
  @Route({ auth: 'public', limit: READS, returns: { 200: HTML, 302: HTML } })
  start(
    @Query() { returnTo }: OidcStartQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.orNotSignedIn(response, returnTo ?? null, async () => {
      if (this.provider.isEnabled && comesFromElsewhere(request)) {
        response.status(200);
        return beginPage(this.provider.name, this.startOf(returnTo ?? null));
      }
      const presented = sessionSecretOf(request.headers, this.address.url);
      const { location, sealed } = await this.signIn.begin(returnTo ?? null, presented);
      response
        .status(302)
        .set('Location', location)
        .append('Set-Cookie', oidcCookie(sealed, this.address.url));
      return '';
    });
  }

  /**
   * Where the provider sends the browser back to. The session's cookie is SameSite=Strict, so a redirect from here, which
   * still counts as coming from the provider, would be asked for without it. The answer is a page instead that goes on
   * by itself: what it asks for comes from us.
   */
  @Get('callback')
  @SecretPage("'none'")
  @Route({ auth: 'public', limit: READS, returns: { 200: HTML } })
  callback(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<string> {
    const { url } = this.address;
    const query = new URL(request.originalUrl, url).searchParams;
    return this.orNotSignedIn(response, null, async () => {
      const transaction = this.signIn.transactionOf(query, oidcCookieOf(request.headers, url));
      // Success or failure, this sign-in is over.
      response.append('Set-Cookie', oidcCookie(undefined, url));
      const { returnTo } = transaction;
      return this.orNotSignedIn(response, returnTo, async () => {
        const { secret, view } = await this.signIn.complete(query, transaction, {
          address: clientAddress(request),
          userAgent: request.headers['user-agent'],
        });
        response.append('Set-Cookie', sessionCookie(secret, url));
        const next = returnTo === null ? null : new URL(url + returnTo).href;
        if (next !== null) response.set('Refresh', `0; url=${next}`);
        return signedInPage(view.displayName, next);
      });
    });
  }

  /** A person is told what is wrong as a page, with a link to begin again where that is of use. */
  private async orNotSignedIn(
    response: Response,
    returnTo: string | null,
    make: () => Promise<string>,
  ): Promise<string> {
    try {
      return await make();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      response.status(error.status).set(error.headers);
      const isOff = error instanceof NotFound;
      return notSignedInPage(error.message, isOff ? null : this.startOf(returnTo));
    }
  }

  private startOf(returnTo: string | null): string {
    const query = returnTo === null ? '' : `?${new URLSearchParams({ returnTo }).toString()}`;
    return `${this.address.url}${START}${query}`;
  }
}
