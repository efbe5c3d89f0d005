import { createHmac, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';

export const CLIENT_ID = 'consigliere';
export const CLIENT_SECRET = 'the secret of the client, at least 32 bytes of it';
const KEY_ID = 'key-1';

/** Somebody who has an account at the provider. */
export interface Person {
  email?: unknown;
  email_verified?: unknown;
  name?: unknown;
}

/** What the token endpoint answers. */
export type TokenAnswer = Record<string, unknown> & { id_token?: string };

export interface Received {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
}

interface IssuerOptions {
  /** Whether name and address stand in the user info alone, as the standard has it. */
  inUserInfoOnly?: boolean;
  authMethod?: 'client_secret_basic' | 'client_secret_post';
}

/**
 * A provider of OpenID Connect for one test file: oidc-provider behind real HTTP at `localhost`, which to a browser is
 * another site than 127.0.0.1. Its sign-in is a form that asks for a name and no password.
 */
export class OidcIssuer {
  /** Whoever can sign in, by their subject. */
  readonly people = new Map<string, Person>();
  /** Each request so far, those of browsers included. */
  readonly received: Received[] = [];
  /** Answers in place of the provider when it says true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Changes what the token endpoint answers. */
  tamper: ((answer: TokenAnswer) => TokenAnswer) | undefined;
  #provider: Provider | undefined;
  #handle: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    private readonly key: KeyObject,
  ) {}

  static async start(): Promise<OidcIssuer> {
    const server = createServer();
    server.listen(0, 'localhost');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const issuer = new OidcIssuer(server, `http://localhost:${port}`, privateKey);
    server.on('request', (request, response) => {
      issuer.answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
    return issuer;
  }

  /** The settings with which the service knows this provider. */
  get environment(): Record<string, string> {
    return {
      OIDC_ISSUER: this.url,
      OIDC_CLIENT_ID: CLIENT_ID,
      OIDC_CLIENT_SECRET: CLIENT_SECRET,
      OIDC_DOMAINS: 'northwind.example,münchen.example',
      OUTBOUND_ALLOW: new URL(this.url).host,
    };
  }

  /** Makes the service a client of the provider; before, each request is answered with 503. */
  serve(
    redirectUri: string,
    { inUserInfoOnly = true, authMethod = 'client_secret_post' }: IssuerOptions = {},
  ): void {
    const provider: Provider = new Provider(this.url, {
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          redirect_uris: [redirectUri],
          token_endpoint_auth_method: authMethod,
        },
      ],
      clientAuthMethods: [authMethod],
      jwks: { keys: [{ ...this.key.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' }] },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      claims: {
        openid: ['sub', 'amr', 'acr'],
        email: ['email', 'email_verified'],
        profile: ['name'],
      },
      conformIdTokenClaims: inUserInfoOnly,
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: unknown, subject: string) => {
        const person = this.people.get(subject);
        return person && { accountId: subject, claims: () => ({ sub: subject, ...person }) };
      },
      // Nobody is asked what the service may know.
      loadExistingGrant: async ({
        oidc,
      }: {
        oidc: { client: { clientId: string }; session: { accountId: string } };
      }) => {
        const grant = new provider.Grant({
          clientId: oidc.client.clientId,
          accountId: oidc.session.accountId,
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (context, next) => {
      await next();
      if (context.path === '/token' && context.status === 200 && this.tamper)
        context.body = this.tamper(context.body as TokenAnswer);
    });
    this.#provider = provider;
    this.#handle = provider.callback();
  }

  /** The requests of the service itself, without those of browsers. */
  asked(path: string): Received[] {
    return this.received.filter((request) => request.path === path);
  }

  /** An ID token like this one but for some claims and its header, signed by the provider or by whoever has another key. */
  forge(
    idToken: string | undefined,
    {
      claims = {},
      header = {},
      key = this.key,
    }: { claims?: object; header?: object; key?: KeyObject | string | null },
  ): string {
    const [head, body] = idToken!
      .split('.')
      .slice(0, 2)
      .map((part) => JSON.parse(decoded(part)) as object);
    const signed = [
      { ...head, ...header },
      { ...body, ...claims },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    return `${signed}.${signatureOf(signed, key)}`;
  }

  /** Ends the provider; nobody listens at its address any more. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url!, this.url);
    this.received.push({ method: request.method!, path: pathname, headers: request.headers });
    if (this.intercept?.(request, response)) return;
    if (!this.#provider) response.writeHead(503).end();
    else if (!pathname.startsWith('/interaction/')) this.#handle!(request, response);
    else if (request.method === 'GET') response.end(`<form method="post" action="${pathname}"></form>`);
    else await this.finish(request, response, new URLSearchParams(await text(request)));
  }

  /** What the form says: who signs in and by which methods, or that they would rather not. */
  private async finish(
    request: IncomingMessage,
    response: ServerResponse,
    form: URLSearchParams,
  ): Promise<void> {
    const { login, amr, acr, error } = Object.fromEntries(form);
    const result = error
      ? { error, error_description: '<script>alert(1)</script>' }
      : { login: { accountId: login, ...(amr && { amr: amr.split(' ') }), ...(acr && { acr }) } };
    await this.#provider!.interactionFinished(request, response, result);
  }
}

const decoded = (part: string) => Buffer.from(part, 'base64url').toString();

function signatureOf(signed: string, key: KeyObject | string | null): string {
  if (key === null) return '';
  if (typeof key === 'string') return createHmac('sha256', key).update(signed).digest('base64url');
  return sign('sha256', Buffer.from(signed), key).toString('base64url');
}
