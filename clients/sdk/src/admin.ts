import { resourcesOf } from './client.js';
import { ADMIN_OPERATIONS, type AdminResources } from './generated/admin-operations.js';
import { type ClientOptions, Http, type Request } from './http.js';

/** The admin area (`/api/admin`, CONTRACT section 5), for a page: the browser keeps the cookie of the session. */
class AdminClient {
  /** Of the session, as `session.start` and `session.get` answer it; every change needs it. */
  csrfToken: string | undefined;
  readonly #http: Http;

  /** @throws TypeError with an address that is none */
  constructor(options: Omit<ClientOptions, 'token'> = {}) {
    const http = new Http(options, (): Record<string, string> =>
      this.csrfToken === undefined ? {} : { 'X-CSRF-Token': this.csrfToken },
    );
    this.#http = http;
    Object.assign(this, resourcesOf(http, ADMIN_OPERATIONS));
  }

  /** An answer whose body is still to be read, such as a large export: `admin.open('GET', '/api/admin/workspace/export')`. */
  open(method: string, path: string, request?: Request): Promise<Response> {
    return this.#http.open(method, path, request);
  }
}

export type ConsigliereAdmin = AdminClient & AdminResources;
export const ConsigliereAdmin = AdminClient as unknown as new (
  options?: Omit<ClientOptions, 'token'>,
) => ConsigliereAdmin;
