import { randomInt } from 'node:crypto';
import { csrfTokenOf } from '../../src/platform/auth/session-cookie.js';

/** What came back: the status, the headers, and the body parsed if it is JSON. */
export interface Answer<T = any> {
  status: number;
  headers: Headers;
  body: T;
  text: string;
}

const ABSOLUTE = new RegExp('^/(api/|\\.well-known/|health/|openapi|docs|prometheus|mcp)');

/** Calls the application over HTTP as one member, from an address of its own so that route limits stay apart. */
export class Client {
  readonly address = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(256)}`;

  constructor(
    readonly url: string,
    readonly token: string | undefined,
  ) {}

  get<T = any>(path: string, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.send<T>('GET', path, undefined, headers);
  }

  post<T = any>(path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.send<T>('POST', path, body, headers);
  }

  put<T = any>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.send<T>('PUT', path, body, headers);
  }

  delete<T = any>(path: string, headers: Record<string, string> = {}): Promise<Answer<T>> {
    return this.send<T>('DELETE', path, undefined, headers);
  }

  /** `body` as JSON, or as it is when it is bytes or text. Paths without a leading `/api` are below `/api/pro`. */
  async send<T = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(this.url + (ABSOLUTE.test(path) ? path : `/api/pro${path}`), {
      method,
      headers: {
        'X-Forwarded-For': this.address,
        ...(this.token === undefined ? {} : { 'x-service-token': this.token }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as string) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      headers: response.headers,
      body: (isJson ? JSON.parse(text) : text) as T,
      text,
    };
  }
}

/** The cookie of a session, as a browser sends it. */
export const cookieOf = (secret: string) => ({ Cookie: `consigliere_session=${secret}` });

/** What comes with each change in the admin area: the cookie and the session's CSRF token. */
export const sessionHeaders = (secret: string) => ({
  ...cookieOf(secret),
  'X-CSRF-Token': csrfTokenOf(secret),
});

/** Calls the admin area as a browser that is signed in; paths without a leading `/api` are below `/api/admin`. */
export class AdminClient extends Client {
  constructor(
    url: string,
    readonly secret: string,
  ) {
    super(url, undefined);
  }

  override send<T = any>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    return super.send<T>(method, ABSOLUTE.test(path) ? path : `/api/admin${path}`, body, {
      ...(method === 'GET' ? cookieOf(this.secret) : sessionHeaders(this.secret)),
      ...headers,
    });
  }
}
