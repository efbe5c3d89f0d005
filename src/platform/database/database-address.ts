/** Where the database is, with the owner's credentials; known once it has been started. */
export class DatabaseAddress {
  constructor(readonly url: string) {}
}
