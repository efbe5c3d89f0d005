/** Where the database is; known once it has been started. */
export class DatabaseAddress {
  constructor(
    /** With the owner's credentials: for migrations and for the queue's own connections. */
    readonly ownerUrl: string,
    /** With those of a role that can become APP_ROLE only: for everything that a request can reach. */
    readonly loginUrl: string,
    /** The replica's, with the same credentials as `loginUrl`; undefined without one. */
    readonly readUrl?: string,
  ) {}
}
