import { Browser, type Page } from '../../support/browser.js';
import { OidcIssuer } from '../../support/oidc-issuer.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';

export const START = '/api/admin/oidc/start';
export const CALLBACK = '/api/admin/oidc/callback';
export const COOKIE = 'consigliere_oidc';
export const SESSION_COOKIE = 'consigliere_session';

type IssuerOptions = Parameters<OidcIssuer['serve']>[1];

/** The service with a provider of OpenID Connect, and people who sign in. */
export class OidcDesk {
  #people = 0;

  private constructor(
    readonly test: TestApp,
    readonly issuer: OidcIssuer,
  ) {}

  static async open({
    environment = {},
    issuer: options,
  }: { environment?: Record<string, string>; issuer?: IssuerOptions } = {}): Promise<OidcDesk> {
    const issuer = await OidcIssuer.start();
    const test = await startTestApp({ ...issuer.environment, ...environment });
    issuer.serve(test.url + CALLBACK, options);
    return new OidcDesk(test, issuer);
  }

  async close(): Promise<void> {
    await this.test.close();
    await this.issuer.stop();
  }

  /** Somebody new at the provider, with a verified address of the organisation unless told otherwise. */
  person(more: { email?: unknown; email_verified?: unknown; name?: unknown } = {}): {
    subject: string;
    email: string;
  } {
    const subject = `subject-${++this.#people}`;
    const email = `person${this.#people}@northwind.example`;
    this.issuer.people.set(subject, { email, email_verified: true, name: `Person ${this.#people}`, ...more });
    return { subject, email };
  }

  /** Opens the start of a sign-in, which ends at the provider's form, or at our page when the provider knows the browser. */
  begin(browser: Browser, returnTo?: string): Promise<Page> {
    const query = returnTo === undefined ? '' : `?${new URLSearchParams({ returnTo }).toString()}`;
    return browser.open(this.test.url + START + query);
  }

  /** Signs in from the beginning to the page that the callback answers. */
  async signIn(
    subject: string,
    {
      browser = new Browser(),
      returnTo,
      ...form
    }: { browser?: Browser; returnTo?: string; amr?: string; acr?: string; error?: string } = {},
  ): Promise<Page> {
    const page = await this.begin(browser, returnTo);
    return browser.submit(page, { login: subject, ...form });
  }

  /** Everything that a sign-in could have made or changed. */
  async stored(): Promise<string> {
    const all = [];
    for (const table of ['users', 'members', 'sessions', 'user_identities', 'tokens', 'receipts']) {
      all.push(
        await this.test.rows(
          `select (to_jsonb(t) - 'last_used_at' - 'last_seen_at')::text as row from ${table} t order by 1`,
        ),
      );
    }
    return JSON.stringify(all);
  }

  /** The receipts about a record, in their order. */
  async receipts(entityId: string): Promise<{ action: string; body: Record<string, any> }[]> {
    const rows = await this.test.rows<{ action: string; body: string }>(
      'select action, body from receipts where entity_id = $1 order by seq',
      [entityId],
    );
    return rows.map(({ action, body }) => ({ action, body: JSON.parse(body) as Record<string, any> }));
  }

  async account(email: string): Promise<Record<string, any> | undefined> {
    const [row] = await this.test.rows<Record<string, any>>(
      `select u.user_id, u.email, u.display_name, u.password_hash, m.member_id, m.role, m.status, m.team_only,
         (select json_agg(json_build_array(i.issuer, i.subject)) from user_identities i where i.user_id = u.user_id)
           as identities
       from users u left join members m on m.user_id = u.user_id and m.workspace_id = $2 where u.email = $1`,
      [email, this.test.workspaceId],
    );
    return row;
  }
}
