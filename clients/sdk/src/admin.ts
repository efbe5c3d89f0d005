import { resourcesOf } from './client.js';
import { ADMIN_OPERATIONS, type AdminResources } from './generated/admin-operations.js';
import { type ClientOptions, Http } from './http.js';

/** The admin area (`/api/admin`, CONTRACT section 5), for a page: the browser keeps the cookie of the session. */
class AdminClient {
  /** Of the session, as `session.start` and `session.get` answer it; every change needs it. */
  csrfToken: string | undefined;

  /** @throws TypeError with an address that is none */
  constructor(options: Omit<ClientOptions, 'token'> = {}) {
    const http = new Http(options, (): Record<string, string> =>
      this.csrfToken === undefined ? {} : { 'X-CSRF-Token': this.csrfToken },
    );
    Object.assign(this, resourcesOf(http, ADMIN_OPERATIONS));
  }
}

export type ConsigliereAdmin = AdminClient & AdminResources;
export const ConsigliereAdmin = AdminClient as unknown as new (
  options?: Omit<ClientOptions, 'token'>,
) => ConsigliereAdmin;
