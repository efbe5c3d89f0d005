import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  type CustomFetch,
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client';
import { Agent } from 'undici';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { Unavailable, NotFound } from '../../platform/kernel/errors.js';
import { cutText } from '../../platform/kernel/text.js';
import { hostPort } from '../../platform/outbound/destination-rules.js';
import { OidcNotVerified, OidcRefused, OidcSignInExpired } from './oidc.errors.js';
import { identityOf, type OidcIdentity, saysTooLittle } from './oidc-identity.js';
import type { OidcTransaction } from './oidc-transaction.js';

/** Milliseconds until a connection stands; openid-client bounds the whole exchange. */
const CONNECT_MS = 3_000;
const HEADER_BYTES = 16 * 1024;
/** Metadata and key sets of large providers have some ten kilobytes. */
const ANSWER_BYTES = 256 * 1024;

/** The provider did not answer, or with nothing that could be used. */
class ProviderUnreachable extends Error {
  constructor(why: string, cause?: unknown) {
    super(why, { cause });
    this.name = 'ProviderUnreachable';
  }
}

/**
 * Requests to the provider that the operator named. It may stand in a private network, so its address is not looked at; but
 * each request goes by https (or to what OUTBOUND_ALLOW lists), takes bounded time and memory, unpacks nothing and
 * follows no redirect: that would carry the client's secret on.
 */
@Injectable()
export class OidcFetch implements OnApplicationShutdown {
  readonly #agent = new Agent({
    // Not to be switched off from the environment.
    connect: { timeout: CONNECT_MS, rejectUnauthorized: true },
    maxHeaderSize: HEADER_BYTES,
    keepAliveTimeout: 2_000,
    keepAliveMaxTimeout: 2_000,
  });

  constructor(private readonly config: Config) {}

  /** @throws ProviderUnreachable */
  readonly fetch: CustomFetch = async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    if (url.protocol !== 'https:' && !this.config.outboundAllow.includes(hostPort(url))) {
      throw new ProviderUnreachable(`${url.origin} is neither https nor listed in OUTBOUND_ALLOW`);
    }
    try {
      const answer = await this.#agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: method as 'GET' | 'POST',
        headers: { ...headers, 'accept-encoding': 'identity' },
        body: body === undefined || body === null ? null : String(body as URLSearchParams),
        signal: signal ?? null,
      });
      const bytes = await wholeOf(answer.body);
      if (answer.statusCode >= 500 || answer.statusCode === 429) {
        throw new ProviderUnreachable(`${url.origin} answered with status ${answer.statusCode}`);
      }
      return new Response(bytes.length === 0 ? null : bytes, {
        status: answer.statusCode,
        headers: pairsOf(answer.headers),
      });
    } catch (error) {
      if (error instanceof ProviderUnreachable) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new ProviderUnreachable(`${url.origin}: ${code ?? message}`, error);
    }
  };

  async onApplicationShutdown(): Promise<void> {
    await this.#agent.destroy();
  }
}

async function wholeOf(body: AsyncIterable<Buffer>): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    // Leaving the loop ends the connection.
    if (length > ANSWER_BYTES)
      throw new ProviderUnreachable(`the answer has more than ${ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function pairsOf(headers: Record<string, string | string[] | undefined>): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each): [string, string] => [name, each]),
  );
}

/** What the operator reads in the log: the reason, and neither tokens nor what they say about a person. */
interface Logged {
  why: string;
  code?: string;
  said?: string;
}

/** The provider's own answer says that it cannot answer now (RFC 6749, section 4.1.2.1). */
const LATER = ['server_error', 'temporarily_unavailable'];

/** Answers that are no answers: another status or type, or none in time. */
const UNUSABLE = ['OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_TIMEOUT'];

/** What a person is told of an error on the way to the provider and back, and what the log is told. */
function failureOf(error: unknown, provider: string): { told: Error; logged?: Logged } {
  if (error instanceof DomainError) return { told: error };
  const logged = loggedOf(error);
  if (error instanceof AuthorizationResponseError) return { told: refusal(error, provider), logged };
  if (error instanceof ResponseBodyError && error.error === 'invalid_grant') {
    return { told: new OidcSignInExpired({ cause: error }), logged };
  }
  if (error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError) {
    const message = `The sign-in service ${provider} does not accept this service; the operator of Consigliere finds the reason in its log.`;
    return { told: new Unavailable({ message, retryAfterSeconds: 30, cause: error }), logged };
  }
  const isUnusable = error instanceof ClientError && UNUSABLE.includes(error.code ?? '');
  if (isUnusable || unreachable(error)) {
    const message = `The sign-in service ${provider} cannot be reached at the moment; try again in a minute.`;
    return { told: new Unavailable({ message, retryAfterSeconds: 30, cause: error }), logged };
  }
  return { told: new OidcNotVerified({ cause: error }), logged };
}

/** What the provider says with `error=`; its own words may be anybody's, so the page does not repeat them. */
function refusal({ error, cause }: AuthorizationResponseError, provider: string): DomainError {
  if (error === 'access_denied') {
    const message = `The sign-in was cancelled, or ${provider} does not let you use Consigliere.`;
    return new OidcRefused({ message, cause });
  }
  if (!LATER.includes(error)) return new OidcRefused({ cause });
  const message = `The sign-in service ${provider} cannot sign anybody in at the moment; try again in a minute.`;
  return new Unavailable({ message, retryAfterSeconds: 30, cause });
}

function loggedOf(error: unknown): Logged {
  const lost = unreachable(error);
  if (lost) return { why: cutText(lost.message, 300) };
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError) {
    const { error: code, error_description: said } = error;
    return {
      why: error.message,
      code: cutText(code, 100),
      ...(said !== undefined && { said: cutText(said, 300) }),
    };
  }
  if (error instanceof ClientError) {
    const { code, message, cause } = error;
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message;
    return { why: cutText(why, 300), ...(code !== undefined && { code }) };
  }
  return { why: error instanceof Error ? cutText(error.message, 300) : 'unknown' };
}

/** What kept the request from an answer, wherever the library put it. */
function unreachable(error: unknown): ProviderUnreachable | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (at instanceof ProviderUnreachable) return at;
  }
  return undefined;
}

/** Seconds for one request to the provider. */
const TIMEOUT_SECONDS = 5;
/** How long what the provider says about itself is believed. */
const METADATA_MS = 3_600_000;
/** How far the provider's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 60_000;
/** When a provider that was away is asked again. */
const RETRY_MS = 60_000;

/** What its metadata must name. */
const NEEDED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const;

const SCOPE = 'openid email profile';
const CALLBACK = '/api/admin/oidc/callback';

/**
 * The provider of OpenID Connect that the operator named. What it says about itself is asked for at the first sign-in and
 * kept for an hour, so the service starts, and goes on, without it.
 */
@Injectable()
export class OidcProvider {
  #known: { configuration: Configuration; until: number } | undefined;
  #asked: Promise<Configuration> | undefined;

  constructor(
    private readonly config: Config,
    private readonly address: PublicAddress,
    private readonly http: OidcFetch,
    private readonly clock: Clock,
    private readonly logger: PinoLogger,
  ) {}

  get isEnabled(): boolean {
    return this.config.oidcIssuer !== undefined;
  }

  /** What people know it by. */
  get name(): string {
    const { oidcName, oidcIssuer } = this.config;
    return oidcName ?? new URL(oidcIssuer!).host;
  }

  /** Where the browser goes to sign in. @throws NotFound when there is no provider, Unavailable */
  async authorizationUrl({ state, nonce, verifier }: OidcTransaction): Promise<URL> {
    const configuration = await this.configuration();
    return buildAuthorizationUrl(configuration, {
      redirect_uri: this.address.url + CALLBACK,
      scope: SCOPE,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
  }

  /**
   * Who came back with this query. The ID token's signature is checked although it comes straight from the provider.
   *
   * @throws NotFound when there is no provider, OidcSignInExpired, OidcRefused, OidcNotVerified, Unavailable
   */
  async identify(query: URLSearchParams, { state, nonce, verifier }: OidcTransaction): Promise<OidcIdentity> {
    const configuration = await this.configuration();
    const url = new URL(this.address.url + CALLBACK);
    url.search = query.toString();
    try {
      const tokens = await authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims()!;
      // The library checks that there is a time, and not which.
      if (claims.iat * 1000 > this.clock.now() + CLOCK_TOLERANCE_MS)
        throw new Error('the ID token was issued in the future; compare the clocks of both servers');
      const userInfo =
        saysTooLittle(claims) && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await fetchUserInfo(configuration, tokens.access_token, claims.sub)
          : undefined;
      return identityOf(claims, userInfo, this.config.oidcDomains);
    } catch (error) {
      throw this.failed(error);
    }
  }

  private async configuration(): Promise<Configuration> {
    if (!this.isEnabled) throw new NotFound({ message: 'Nobody signs in by OpenID Connect here.' });
    if (this.#known && this.clock.now() < this.#known.until) return this.#known.configuration;
    try {
      // One request, however many sign in at that moment.
      this.#asked ??= this.discover().finally(() => (this.#asked = undefined));
      const configuration = await this.#asked;
      this.#known = { configuration, until: this.clock.now() + METADATA_MS };
      return configuration;
    } catch (error) {
      const failure = this.failed(error);
      if (this.#known) {
        // What was known goes on; asked at each sign-in, a provider that is away would hold up each.
        this.#known.until = this.clock.now() + RETRY_MS;
        return this.#known.configuration;
      }
      throw new Unavailable({
        message: `The sign-in service ${this.name} cannot be reached at the moment; try again in a minute.`,
        retryAfterSeconds: 30,
        cause: failure,
      });
    }
  }

  private async discover(): Promise<Configuration> {
    const { oidcIssuer, oidcClientId, oidcClientSecret } = this.config;
    const issuer = new URL(oidcIssuer!);
    const configuration = await discovery(issuer, oidcClientId!, undefined, clientSecret(oidcClientSecret!), {
      timeout: TIMEOUT_SECONDS,
      [customFetch]: this.http.fetch,
      execute: [
        enableNonRepudiationChecks,
        // Plain http is up to OidcFetch, which knows OUTBOUND_ALLOW.
        ...(issuer.protocol === 'http:' ? [allowInsecureRequests] : []),
      ],
    });
    const metadata = configuration.serverMetadata();
    // The library lets issuers of many tenants pass, where each tenant could name anybody's address.
    if (URL.parse(metadata.issuer)?.href !== issuer.href) {
      throw new ProviderUnreachable(`the issuer calls itself ${metadata.issuer}, which is not OIDC_ISSUER`);
    }
    const missing = NEEDED.filter((endpoint) => metadata[endpoint] === undefined);
    if (missing.length > 0) throw new ProviderUnreachable(`the issuer names no ${missing.join(' and no ')}`);
    return configuration;
  }

  /** Tells the log what went wrong, and answers what the person is told. */
  private failed(error: unknown): Error {
    const { told, logged } = failureOf(error, this.name);
    if (logged) this.logger.warn({ oidc: logged }, 'a sign-in by OpenID Connect failed');
    return told;
  }
}

/** In the body where the provider takes it there, since not every provider decodes the header as the standard says. */
function clientSecret(secret: string): ClientAuth {
  const [inBody, inHeader] = [ClientSecretPost(secret), ClientSecretBasic(secret)];
  return (server, client, body, headers) => {
    // The default of the standard (OpenID Connect Discovery, section 3).
    const taken = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = taken.includes('client_secret_post') ? inBody : inHeader;
    authenticate(server, client, body, headers);
  };
}
