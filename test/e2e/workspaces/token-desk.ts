import type { NewToken } from '../../../src/features/workspaces/tokens.dto.js';
import { Client } from '../../support/client.js';
import { startTestApp, type TestApp, type TestMember } from '../../support/test-app.js';

export const HOUR_MS = 3_600_000;

/** A workspace with an owner and an admin who make tokens, and what stands in the database afterwards. */
export class TokenDesk {
  private constructor(
    readonly test: TestApp,
    readonly workspaceId: string,
    readonly owner: TestMember,
    readonly admin: TestMember,
  ) {}

  static async open(): Promise<TokenDesk> {
    const test = await startTestApp();
    const { workspaceId } = await test.createWorkspace();
    const owner = await test.createMember(workspaceId, 'owner');
    return new TokenDesk(test, workspaceId, owner, await test.createMember(workspaceId, 'admin'));
  }

  /** A member from an address of its own, since 30 mutations a minute are all that one address has. */
  as({ token }: { token: string }): Client {
    return new Client(this.test.url, token);
  }

  async create(body: object = {}, by: TestMember = this.owner): Promise<NewToken> {
    return (await this.as(by).post<NewToken>('/tokens', { name: 'ci', ...body })).body;
  }

  async row(tokenId: string): Promise<Record<string, unknown> | undefined> {
    return (await this.test.rows('select * from tokens where token_id = $1', [tokenId]))[0];
  }

  async receipts(entityId: string): Promise<Record<string, unknown>[]> {
    const sql = 'select body from receipts where entity_id = $1 order by seq';
    return (await this.test.rows<{ body: string }>(sql, [entityId])).map(({ body }) => JSON.parse(body));
  }

  /** Every row of every table as text: what someone who reads the whole database sees. */
  async everythingStored(): Promise<string> {
    const tables = await this.test.rows<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = 'public'`,
    );
    const all = await Promise.all(tables.map(({ name }) => this.test.rows(`select t::text from ${name} t`)));
    return JSON.stringify(all);
  }
}
