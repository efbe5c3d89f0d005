import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import {
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
import { Config } from '../../platform/config/config.js';
import { PublicAddress } from '../../platform/http/public-address.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, Unavailable } from '../../platform/kernel/errors.js';
import { OidcFetch, ProviderUnreachable } from './oidc-fetch.js';
import { failureOf } from './oidc-failure.js';
import { identityOf, type OidcIdentity, saysTooLittle } from './oidc-identity.js';
import type { OidcTransaction } from './oidc-transaction.js';

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
